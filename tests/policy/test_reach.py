import pytest

from nacre.model.verdict import Decision
from nacre.policy.rules.reach_text import awk_only_prints, sed_only_prints
from policy.judging import decision


def covered(script: str, rule: str | None = None) -> bool:
    allow = [rule or f"Bash({script.split(maxsplit=1)[0]}:*)"]
    return decision(script, allow=allow, default="ask") is Decision.ALLOW


@pytest.mark.parametrize(
    "script",
    [
        "find . -name x -print",
        "find . -type f -newer x",
        "sort -k2 -t, f",
        "sort -ko f",
        "sort -- -o",
        "sed -n '1,5p' f",
        "sed -E 's/a|b/c/g; /x/d' f",
        'sed "s/a/$b/" f',
        'sed -n "${a},${b}p" f',
        "sed -e s/a/b/ -e p f",
        "awk -F, '$3 > 5 {print $1}' f",
        "awk '/a|b/ {n++} END {print n}' f",
        "rg --pretty x",
        "tar -xzf a.tar.gz -C out",
        "man ls",
        "go test ./...",
        "make -j4 all",
        "uniq -c f",
        "rsync -av a b",
        "ssh -o StrictHostKeyChecking=no host uptime",
        "export FOO=bar",
        "less f",
        "date +%s",
        "python -m pytest",
        "printf '%s' x",
    ],
)
def test_ordinary_use_is_covered(script: str) -> None:
    assert covered(script)


@pytest.mark.parametrize(
    "script",
    [
        "find . -exec rm {} \\;",
        "find . -ok rm {} \\;",
        "find . -fprintf /tmp/x %p",
        "find . -delete",
        "find . -{delete,print}",
        "find . -de\\lete",
        "find . '-delete'",
        "find . $(cat flags)",
        "sort -o /etc/x f",
        "sort -ro/etc/x f",
        "sort f --outp=/etc/x",
        "sort --compress-program=sh f",
        "sort --comp sh f",
        "sed '1e id' f",
        "sed -n 's/x/y/w out' f",
        "sed -i s/a/b/ f",
        "sed -ni s/a/b/ f",
        "sed --in-pl s/a/b/ f",
        "sed -f script f",
        "sed -e p -e e f",
        'sed "$(cat x)" f',
        "awk 'BEGIN {system(\"id\")}'",
        "awk '{print | \"sh\"}' f",
        "awk '{print > \"out\"}' f",
        "awk -f script f",
        "gawk -i inplace '{print}' f",
        "rg --pre sh x",
        "rg --pre=sh x",
        "man -P 'sh -c id' ls",
        "tar -xf a --checkpoint-action=exec=sh",
        "tar --to-com=sh -xf a",
        "tar -cIsh -f a b",
        "tar cIf sh a b",
        "go test -exec 'bash -c id' ./...",
        "go vet -vettool=x ./...",
        "uniq in out",
        "rsync -e 'sh -c id' a b:c",
        "ssh -o ProxyCommand=id host",
        "ssh -oProxyCommand=id host",
        "export PATH=/tmp",
        "declare -x PAGER=sh",
        "read PATH",
        "make SHELL=/tmp/x",
        "less +!id f",
        "vim -c '!id' f",
        "printf -v PATH x",
        "split --filter=sh f",
        "hash -p /tmp/x ls",
        "fd x -x rm",
        "psql -c '\\! id'",
        "sqlite3 f '.shell id'",
    ],
)
def test_words_that_run_or_write_are_not(script: str) -> None:
    assert not covered(script)


@pytest.mark.parametrize(
    ("rule", "script", "wanted"),
    [
        ("Bash(sed -i:*)", "sed -i s/a/b/ f", True),
        ("Bash(sed -i:*)", "sed -i '1e id' f", False),
        ("Bash(sort -o out:*)", "sort -o out f", True),
        ("Bash(git -c core.pager=cat log:*)", "git -c core.pager=cat log -1", True),
        ("Bash(find . -delete:*)", "find . -delete", False),
        ("Bash(rg --pre cat:*)", "rg --pre cat x", True),
    ],
)
def test_a_rule_that_has_the_word_covers_it(
    rule: str,
    script: str,
    wanted: bool,  # noqa: FBT001
) -> None:
    assert covered(script, rule) is wanted


@pytest.mark.parametrize(
    "program",
    [
        "",
        "s/a/b/g",
        "1,5p",
        "/x/d",
        "$!N;P;D",
        "s|[/]|x|",
        "/foo/,/bar/{s/x/y/;p}",
        ":a;N;$!ba;s/\\n/ /g",
        "1i\\\nhello\n2d",
        "a hello; w x",
        "y/abc/xyz/",
        "p # w x",
        "s/\\//x/",
        "r f",
        "2q",
        "5!s/ham/cheese/",
        "0~3d",
        "s/.*/[&]/p",
        "s/[[:space:]]*$//",
    ],
)
def test_a_sed_program_that_only_prints(program: str) -> None:
    assert sed_only_prints(program)


@pytest.mark.parametrize(
    "program",
    [
        "1e id",
        "w out",
        "e",
        "}e",
        "s/a/b/w out",
        "s/a/b/e",
        "s/a/b/Ie",
        "s/a/b/ ; e id",
        "s/a/b/\nw f",
        "1!{p;e\n}",
        "\\,x,e",
        "b end;e id",
        "b x w f",
        ":a e\ne",
        "s/x/\\\n/e",
        "/[/]w f/p",
        # For GNU sed the slash in brackets ends nothing, so this writes a file.
        "s/[/]/g;s/w out/x/",
        "s/unfinished",
    ],
)
def test_a_sed_program_that_may_do_more(program: str) -> None:
    assert not sed_only_prints(program)


@pytest.mark.parametrize(
    ("program", "wanted"),
    [
        ("{print $1}", True),
        ("/foo|bar/ {print $1}", True),
        ("$1 ~ /a|b/", True),
        ("$1 > 5 {print $2}", True),
        ("$1/2 > 3", True),
        ('{print "a|b > c"}', True),
        ("{ if ($3 > max) max=$3 } END {print max}", True),
        ("a || b", True),
        ("# foo | bar\n{print}", True),
        ('BEGIN{system("id")}', False),
        ('{print | "sh"}', False),
        ('{print > "f"}', False),
        ('{printf "%s", $1 >> "f"}', False),
        ('{ "date" | getline x }', False),
        ('BEGIN{f="system"; @f("id")}', False),
        ('{print $1 /2; x=1/ 3 | "sh" }', False),
        ('{print "unfinished', False),
    ],
)
def test_whether_an_awk_program_only_prints(program: str, wanted: bool) -> None:  # noqa: FBT001
    assert awk_only_prints(program) is wanted
