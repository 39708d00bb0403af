import pytest
from hypothesis import given
from hypothesis import strategies as st

from nacre.syntax.read import read
from nacre.syntax.script import Place, ViaKind
from nacre.syntax.word import Expansion, shown
from readings import commands, named

SIGNS = st.sampled_from(
    [*"""|&;()<>'"`$\\{}[]~*?#!=+-@^%:,./ \t\n\r""", "rm", "x", "${", "$(", "<<E"]
)


@pytest.mark.parametrize(
    ("script", "expected"),
    [
        ("rm -rf /", ["rm -rf /"]),
        ("ls; rm a&rm b|rm c\nrm d", ["ls", "rm a", "rm b", "rm c", "rm d"]),
        ("ls | grep x | head -3\nrm x && cd s", ["ls", "grep x", "head -3", "rm x", "cd s"]),
        ("ls &\\\n& rm x", ["ls", "rm x"]),
        ("true&&rm x||rm y", ["true", "rm x", "rm y"]),
        ("# rm x\nls # rm y", ["ls"]),
        ("echo a#b", ["echo a#b"]),
    ],
)
def test_separators_part_commands(script: str, expected: list[str]) -> None:
    assert commands(script) == expected


@pytest.mark.parametrize(
    "script",
    [
        "r''m x",
        '"rm" x',
        "r\\m x",
        "\\rm x",
        "$'\\x72m' x",
        "$'\\162\\155' x",
        '$"rm" x',
        "r\\\nm x",
        "rm \\\n x",
        "{rm,x}",
        "rm${IFS}x",
        "r$@m x",
        "c=rm; $c x",
        'c="rm x"; $c',
        "a=(rm x); ${a[@]}",
        "a=(rm x); ${a[0]} x",
        "IFS=,; c=rm,x; $c",
        "c=arm; ${c:1} x",
        "c=RM; ${c,,} x",
        "c=rim; ${c/i/} x",
        "c=rm.sh; ${c%.sh} x",
        "c=./rm; ${c##*/} x",
        "c=r; c+=m; $c x",
        "set -- rm x; $1 $2",
        'set -- rm x; "$@"',
        "declare c=rm; $c x",
        "v=c; c=rm; ${!v} x",
        "f() { $1 x; }; f rm",
        "for c in rm; do $c x; done",
        "/bin/rm x",
        "time rm x",
        "time -p rm x",
        "! rm x",
        "coproc rm x",
        "coproc N { rm x; }",
        "i\\\nf true; then rm x; fi",
        "3<>/dev/null rm x",
        "{fd}>/dev/null rm x",
        ">out 2>&1 rm x",
        "A=$B/a:$C/b rm x",
        "a[0]=1 rm x",
        "((1)) && rm x",
        "( ( rm x ) )",
        "((rm x) )",
        "!(rm x)",
        "if false; then :; elif rm x; then :; fi",
        "while rm x; do break; done",
        "for ((i=0;i<1;i++)); do rm x; done",
        "for i in a; { rm x; }",
        "select i in a; do rm x; done",
        "case x in (x) rm x;; esac",
        "case x in a|b) ;; *) rm x ;& esac",
        "function f { rm x; }; f",
        "function f() ( rm x )\nf",
    ],
)
def test_a_command_is_found_however_it_is_written(script: str) -> None:
    assert any(each in {"rm x", "/bin/rm x"} for each in commands(script)), commands(script)


@pytest.mark.parametrize(
    "script",
    [
        "echo $(rm x)",
        'echo "$(rm x)"',
        "echo `rm x`",
        "echo `date` `rm x`",
        'echo "`date` `rm x`"',
        "echo `echo \\`rm x\\``",
        "a=$(rm x)",
        "a=( $(rm x) )",
        "a[$(rm x)]=1",
        "echo ${v:-$(rm x)}",
        "echo ${v%%$(rm x)}",
        "echo ${v:$(rm x)}",
        "echo ${v[$(rm x)]}",
        "echo $(( $(rm x) ))",
        "echo $[ $(rm x) ]",
        "(( a = $(rm x) ))",
        '[ -n "$(rm x)" ]',
        "[[ -n $(rm x) ]]",
        "[[ a =~ ^($(rm x)|b)$ ]]",
        "cat <(rm x)",
        "ls > >(rm x)",
        "ls > $(rm x)",
        "case $(rm x) in a) ;; esac",
        "for i in $(rm x); do :; done",
        "cat <<E\n$(rm x)\nE",
        "cat <<E\n  `rm x`\nE",
        "cat <<-E\n\t$(rm x)\n\tE",
        "cat <<< $(rm x)",
        "cat <<A <<B; rm x\na\nA\nb\nB",
        "<<E cat; rm x\nhi\nE",
        "cat <<E && rm x\nhi\nE",
        "x=$(cat <<E\nhi\nE\n); rm x",
        "x=$(cat <<E\nhi\nE)\nrm x",
        "cat <<E\na\\\nE\nE\nrm x",
        "echo ${ rm x; }",
        "x='a[$(rm x)]'; echo $((x))",
        "x='$(rm x)'; echo ${x@P}",
        "@(a|$(rm x))",
        "hash -p rm foo; rm x",
        "x=; x='rm x' eval '$x'",
        "c=; c=rm d=$c; $d x",
        "echo 'rm x' > >(sh)",
        "ssh h bash <<E\nrm x\nE",
        "bash <<A 3<<B\nrm x\nA\nb\nB",
        "<<E\\\nx cat\na\nEx\nrm x",
        "echo \"${u-'$(rm x)'}\"",
        "echo $(('$(rm x)'))",
        "a=(['$(rm x)']=1)",
        "(true; echo 'rm x') | sh",
        "f() { f() { rm x; }; f; }; f",
        "declare -i n; n='a[$(rm x)]'",
        "let 'a[$(rm x)]=1'",
        "[[ 'a[$(rm x)]' -eq 1 ]]",
        "bash -c 'echo ${0@P}' '$(rm x)'",
        "PS4='$(rm x)'; set -x; ls",
        "shopt -s expand_aliases\nalias r='rm x'\nr",
        "a |\\\n| rm x",
        "echo 1 >&2>out; rm x",
        "ls | time rm x",
        "echo 'rm${IFS}x' | xargs -I{} sh -c {}",
        "sudo`true` rm x",
        "sh -c '((rm x))'",
        "env = rm x",
        "function f ( rm x ); f",
    ],
)
def test_a_command_is_found_wherever_it_stands(script: str) -> None:
    assert "rm x" in commands(script), commands(script)


@pytest.mark.parametrize(
    "script",
    [
        "echo 'rm x'",
        'echo "rm x"',
        'echo "\\$(rm x)"',
        "echo '$(rm x)'",
        "cat <<'E'\n$(rm x)\nE",
        "cat <<\\E\n`rm x`\nE",
        "cat <<E\nrm x\nE",
        "X='rm x'",
        "case rm in rm) ;; esac",
        "for rm in a; do :; done",
        "[[ rm == rm ]]",
        "a=([rm]=x)",
        "ls # $(rm x)",
        "echo \"don't\" # it's; rm x",
    ],
)
def test_text_is_not_a_command(script: str) -> None:
    assert "rm" not in named(script)
    assert not read(script).unreadable


@pytest.mark.parametrize(
    ("script", "word"),
    [
        ("rm ~", "~"),
        ("rm ~/x", "~/x"),
        ("rm $HOME/x", "~/x"),
        ('rm "${HOME}"/*', "~/*"),
        ("rm '~'", "'~'"),
        ("rm $PWD", "."),
        ("rm ~+/x", "./x"),
        ('rm "$D"/*', "…/*"),
        ("rm a?b[0-9]c", "a?b?c"),
        ("rm 'a*'", "'a*'"),
        ("rm ${T:-/tmp}/b", "…/b|/tmp/b"),
        ("D=/; rm $D", "/"),
        ("if a; then D=/; else D=~; fi; rm $D", "/|~"),
        ("D=/tmp; if a; then D=/; fi; rm $D", "/tmp|/"),
        ("D=/tmp; a && D=/; rm $D", "/tmp|/"),
        ("D=/; (D=/tmp); rm $D", "/"),
        ("D=/; D=/tmp | cat; rm $D", "/"),
        ("D=/; read D; rm $D", "…"),
        ("D=/; f() { local D=/tmp; }; f; rm $D", "/|/tmp"),
        ("D=~/.ssh; rm $D/k", "~/.ssh/k"),
        ("rm x{1..3}", "x1"),
    ],
)
def test_a_word_is_known_as_far_as_it_can_be(script: str, word: str) -> None:
    (removal,) = (each for each in read(script).commands if "rm" in each.names)
    told = removal.words[1]

    if word.startswith("'"):
        assert told.value == word.strip("'")
    else:
        assert {shown(each) for each in told.templates} == set(word.split("|"))


@pytest.mark.parametrize(
    ("script", "name"),
    [
        ("${c:-rm} x", "rm"),
        (": ${c:=rm}; $c x", "rm"),
        ("[ a || rm x ]", "rm"),
        ("if a; then c=rm; fi; $c x", "rm"),
    ],
)
def test_what_a_command_could_be_called_is_known(script: str, name: str) -> None:
    assert name in named(script)


def test_a_text_that_shells_read_differently_is_not_said_to_be_read() -> None:
    assert read("sh -c 'echo \"${u-'\\''}\"; rm x #'\\''}\"'").unreadable


@pytest.mark.parametrize(
    "script",
    [
        "bash /dev/fd/3 3<<<rm",
        "exec <<< rm; sh",
        "coproc bash",
        "awk 'BEGIN{print 1}' | sh",
        "exec 3<<<rm; bash <&3",
        "sh < file",
        "c=; declare -n r=c; r=rm; $c x",
        "c=true; trap 'c=rm' DEBUG; $c x",
        'set rm; eval "\\$$#"',
    ],
)
def test_what_is_known_only_when_it_runs_is_said_to_be(script: str) -> None:
    assert any(command.opaque for command in read(script).commands)


def test_what_a_loop_builds_up_is_not_taken_for_known() -> None:
    (last,) = (each for each in read("for p in r m; do c=$c$p; done; $c x").commands[-1:])

    assert last.opaque


def test_a_variable_that_is_shown_is_named() -> None:
    (command,) = read('echo "a $KEY" ${OTHER:0:4} ${#LENGTH} "${SET:+yes}" ${!REF}').commands

    assert command.words[1].expansions == (Expansion("KEY", ""),)
    assert command.words[2].expansions == (Expansion("OTHER", ":"),)
    assert command.words[3].expansions == ()
    assert command.words[4].expansions == ()
    assert command.words[5].expansions == (Expansion("REF", "!"),)


def test_a_command_says_where_it_stands() -> None:
    script = read("a | b & if c; then d; fi; for i in x; do e; done; f() { g; }; echo $(h)")
    places = {name: each.places for each in script.commands for name in each.names}

    assert places["a"] == {Place.PIPED_OUT, Place.BACKGROUND}
    assert places["b"] == {Place.PIPED_IN, Place.BACKGROUND}
    assert places["d"] == {Place.BRANCH}
    assert places["e"] == {Place.LOOP}
    assert places["g"] == {Place.FUNCTION}
    assert places["h"] == {Place.SUBSTITUTION}


def test_a_function_is_read_with_the_words_it_is_called_with() -> None:
    script = read('f() { rm "$1"; }; f /')
    (removal,) = (each for each in script.commands if "rm" in each.names)

    assert removal.words[1].value == "/"
    assert [via.kind for via in removal.via] == [ViaKind.FUNCTION]


def test_a_directory_is_followed() -> None:
    script = read("cd /tmp && ls; cd sub; ls; (cd /x; ls); ls; cd $D; ls")
    folders = [each.cwd for each in script.commands if each.words and each.names == ("ls",)]

    assert folders[:4] == ["/tmp", "/tmp/sub", "/x", "/tmp/sub"]
    assert folders[4] not in {"/tmp", "/tmp/sub"}


def test_what_comes_before_a_syntax_error_is_read_and_the_rest_is_guessed() -> None:
    script = read("rm a\nrm b; echo 'x")
    found = {
        (each.words[1].value, Place.GUESSED in each.places)
        for each in script.commands
        if "rm" in each.names
    }

    assert script.unreadable
    assert not script.over_budget
    assert found == {("a", False), ("b", True)}


@pytest.mark.parametrize(
    "script",
    [
        "echo hi\0; rm -rf /",
        "true;" * 50_000 + "rm -rf /",
        "true && " * 50_000 + "rm -rf /",
        "if a; then x=1; fi\n" * 5_000 + "rm -rf /",
    ],
)
def test_what_is_too_much_or_impossible_is_still_searched(script: str) -> None:
    found = read(script)

    assert found.unreadable
    assert "rm" in {name for each in found.commands for name in each.names}


@pytest.mark.parametrize(
    "script",
    [
        "echo " + "$(" * 5_000 + "ls" + ")" * 5_000,
        "{ " * 5_000 + "ls" + "; }" * 5_000,
        "if a; then " * 5_000 + "ls; " + "fi; " * 5_000,
        "echo " + "${a:-" * 5_000 + "}" * 5_000,
        "echo " + "$[" * 5_000,
        "$(" * 20_000,
        "`" * 20_001,
        'echo "' + "$x " * 300_000 + '"',
        "echo " + "a " * 100_000,
        "sudo " * 5_000 + "ls",
    ],
)
def test_no_nesting_and_no_length_is_too_much_to_answer(script: str) -> None:
    assert read(script).text == script


@pytest.mark.parametrize(
    "script",
    [
        "echo " + "a" * 1_000_000,
        "echo '" + "a b " * 250_000 + "'",
        "cat <<'E'\n" + "line\n" * 200_000 + "E",
        "x=aaaa\n" + "x=$x$x\n" * 60 + "echo $x",
        "echo " + "{a,b}" * 40,
    ],
)
def test_long_words_are_read(script: str) -> None:
    assert not read(script).unreadable


@given(st.text() | st.lists(SIGNS, max_size=60).map("".join))
def test_any_text_has_a_reading(text: str) -> None:
    script = read(text)

    assert script.text == text
    for command in script.commands:
        assert 0 <= command.span.start <= command.span.end <= len(text)
        assert all(word.templates for word in command.words)
