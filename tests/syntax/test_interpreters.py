"""Programs in other languages: where they are given, and which commands they run.

In the tables, `…` is text that is not known and `~` the home directory.
"""

import shlex

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nacre.syntax.script import Command, Via, ViaKind
from nacre.syntax.tree import Span
from nacre.syntax.word import HOLE, HOME, Word, shown
from nacre.syntax.wrappers.interpreters import interpreted, language_of, shell_calls
from nacre.syntax.wrappers.look_through import inners

SPAN = Span(0, 1)


def command(line: str) -> Command:
    words = (Word(each, SPAN, (each.replace("…", HOLE),)) for each in shlex.split(line))
    return Command(words=tuple(words), span=SPAN)


@pytest.mark.parametrize(
    "line",
    [
        "python -c CODE",
        "python3 -Ic CODE",
        "python3.11 -u -W ignore -X dev -c CODE -V",
        "/usr/bin/python3 -cCODE",
        "pypy3 -c CODE a b",
        "node -e CODE",
        "node -p CODE",
        "node -pe CODE",
        "node --eval CODE",
        "node --eval=CODE",
        "node --print CODE",
        "node --input-type=module -r x -e CODE",
        "bun -e CODE",
        "deno eval CODE",
        "perl -e CODE f",
        "perl -E CODE",
        "perl -ne CODE",
        "perl -pi -e CODE f",
        "perl -i.bak -pe CODE f",
        "perl -lane CODE",
        "perl -0777 -ne CODE",
        "perl -l012ne CODE",
        "perl -F: -ane CODE",
        "perl -MData::Dumper -I lib -e CODE",
        "perl -eCODE",
        "ruby -e CODE",
        "ruby -rjson -ne CODE",
        "php -r CODE",
        "php -d a=b --run CODE",
        "lua -e CODE",
        "awk CODE f",
        "awk -F: -v a=1 CODE f",
        "gawk --source CODE f",
        "jq CODE f",
        "jq -r --arg a b CODE f",
        "jq -n CODE",
        "Rscript -e CODE",
        "julia -e CODE",
        "osascript -e CODE",
    ],
)
def test_a_program_on_the_command_line_is_found(line: str) -> None:
    assert interpreted(command(line)) == "CODE"


@pytest.mark.parametrize(
    "line",
    [
        "python",
        "python -",
        "python3 -u - a b",
        "python3 /dev/stdin",
        "node",
        "node -",
        "perl",
        "perl -w -",
        "ruby",
        "php",
        "lua -",
        "awk -f - f",
        "jq -f /dev/stdin",
    ],
)
def test_a_program_in_the_input_is_found(line: str) -> None:
    assert interpreted(command(line), Word("", SPAN, ("CODE",))) == "CODE"


@pytest.mark.parametrize(
    "line",
    [
        "python x.py",
        "python x.py -c CODE",
        "python -m http.server",
        "python -m a -c CODE",
        "python --version",
        "python -V",
        "node x.js -e CODE",
        "node --version",
        "node --check x.js",
        "perl x.pl",
        "perl -V",
        "ruby x.rb",
        "php x.php",
        "php -f x.php",
        "deno run x.ts",
        "awk -f x.awk f",
        "jq -f x.jq",
        "ls -c CODE",
        "bash -c CODE",
        "grep -e CODE f",
    ],
)
def test_a_program_in_a_file_is_not_known(line: str) -> None:
    assert interpreted(command(line), Word("", SPAN, ("x",))) is None


def test_without_a_program_and_without_known_input_there_is_none() -> None:
    assert interpreted(command("python3 -")) is None
    assert interpreted(Command(words=(), span=SPAN)) is None


def test_several_texts_are_one_program() -> None:
    assert interpreted(command("perl -e A -e B")) == "A\nB"


def test_what_is_not_known_of_a_program_is_a_hole() -> None:
    assert interpreted(command("python -c 'open(\"…/x\")'")) == f'open("{HOLE}/x")'


@pytest.mark.parametrize(
    ("name", "language"),
    [("python3.12", "python"), ("nodejs", "javascript"), ("lua5.4", "lua"), ("bash", None)],
)
def test_a_language_is_known_by_its_interpreter(name: str, language: str | None) -> None:
    assert language_of(name) == language


PYTHON: list[tuple[str, list[str]]] = [
    ('import os; os.system("rm x")', ["rm x"]),
    ("import os\nos.system('''rm\n  x''')", ["rm\n  x"]),
    ('__import__("os").system("rm x")', ["rm x"]),
    ('from os import system; system("rm x")', ["rm x"]),
    (r'os.system("r\x6d x")', ["rm x"]),
    (r'os.popen(r"rm \x").read()', ["rm \\x"]),
    ('os.system("rm " + d)', ["rm …"]),
    ('os.system(f"rm {d}/a {{}}")', ["rm …/a {}"]),
    ('os.system("rm" " x")', ["rm x"]),
    ('os.system(" ".join(["rm", "-rf", "/"]))', ["rm -rf /"]),
    ('c = "rm x"\nos.system(c)', ["rm x"]),
    ('c = "rm x"\nc = f()\nos.system(c)', []),
    ("os.system(sys.argv[1])", []),
    ('import subprocess\nsubprocess.run(["rm", "-rf", "/"])', ["rm -rf /"]),
    ('import subprocess\nsubprocess.run(["rm", "a b", d])', ["rm 'a b' '…'"]),
    ('import subprocess as s; s.call("rm x", shell=True)', ["rm x"]),
    ('import subprocess; subprocess.run("rm x")', []),
    ('import subprocess; subprocess.run("reboot")', ["reboot"]),
    ('import subprocess; subprocess.Popen("rm x".split())', ["rm x"]),
    ('import subprocess, shlex; subprocess.run(shlex.split("rm x"))', ["rm x"]),
    ('import subprocess\nsubprocess.check_output((\n"rm",\n"x",\n))', ["rm x"]),
    ('subprocess.run([sys.executable, "-m", "x"])', []),
    ('os.execvp("rm", ["rm", "-rf", "/"])', ["rm -rf /"]),
    ('os.execl("/bin/rm", "rm", "-rf", "/")', ["/bin/rm -rf /"]),
    ('os.spawnlp(os.P_WAIT, "rm", "rm", "x")', ["rm x"]),
    ('import pty; pty.spawn("/bin/sh")', ["/bin/sh"]),
    ('shutil.rmtree("/")', ["rm -rf /"]),
    ('shutil.rmtree(os.path.expanduser("~/a"))', ["rm -rf '~/a'"]),
    ("shutil.rmtree(Path.home())", ["rm -rf '~'"]),
    ('shutil.rmtree(os.environ["HOME"])', ["rm -rf '~'"]),
    ("shutil.rmtree(d)", []),
    ("exec(\"import os; os.system('rm x')\")", ["rm x"]),
    ('os.system(base64.b64decode("cm0geA==").decode())', ["rm x"]),
    ('print("rm -rf /")', []),
    ("print('os.system(\"rm x\")')", []),
    ('# os.system("rm x")', []),
    ('x = "rm -rf /"', []),
    ('app.run("mount")', []),
    ('def system(c="rm x"): pass', []),
    ('re.compile("rm -rf /")', []),
]
JAVASCRIPT: list[tuple[str, list[str]]] = [
    ("require('child_process').execSync('rm x')", ["rm x"]),
    ("const cp = require('child_process'); cp.exec(`rm ${d}`)", ["rm …"]),
    ("const {spawnSync} = require('node:child_process'); spawnSync('rm', ['x'])", ["rm x"]),
    ("import {$} from 'zx'; await $`rm x`", ["rm x"]),
    ("fs.rmSync('/', {recursive: true, force: true})", ["rm -rf /"]),
    ("fs.rmSync(os.homedir(), {recursive: true})", ["rm -rf '~'"]),
    ("fs.rmSync('/x')", []),
    ("new Deno.Command('rm', {args: ['-rf', '/']})", ["rm -rf /"]),
    ("eval(\"require('child_process').execSync('rm x')\")", ["rm x"]),
    ("eval(atob('cmVxdWlyZSgnY2hpbGRfcHJvY2VzcycpLmV4ZWNTeW5jKCdybSB4Jyk='))", ["rm x"]),
    ("/re/.exec('rm x')", []),
    ("console.log('rm -rf /')", []),
    ("// require('child_process').exec('rm x')\n1", []),
    ("/* child_process.exec('rm x') */ 1", []),
    ("a = b / c; x = \"child_process.exec('rm x')\"", []),
    ("/require('child_process').execSync('rm x')/.test(a)", []),
]
PERL: list[tuple[str, list[str]]] = [
    ('system("rm x")', ["rm x"]),
    ('system "rm", "-rf", "/";', ["rm -rf /"]),
    ("exec('rm x') or die", ["rm x"]),
    ("system(qw(rm -rf /))", ["rm -rf /"]),
    ("system(q{rm {a}})", ["rm {a}"]),
    ('system("rm $d")', ["rm …"]),
    ("print `rm x`", ["rm x"]),
    ("print qx{rm x}", ["rm x"]),
    ('open(F, "rm x|")', ["rm x"]),
    ('open(my $f, "-|", "rm", "x")', ["rm x"]),
    ("rmtree('/')", ["rm -rf /"]),
    ("print 'rm x'", []),
    ("open(F, '/etc/hosts'); print <F>", []),
    ('s/system("rm x")/a/; print', []),
    ('print if /system("rm x")/', []),
    ('s{a}{system("rm x")}; tr/a/b/', []),
]
RUBY: list[tuple[str, list[str]]] = [
    ("`rm x`", ["rm x"]),
    ("%x(rm x)", ["rm x"]),
    ("system('rm x')", ["rm x"]),
    ("system 'rm', '-rf', '/' if true", ["rm -rf /"]),
    ('exec "rm #{d}"', ["rm …"]),
    ("IO.popen(['rm', 'x'])", ["rm x"]),
    ("Open3.capture3('rm x')", ["rm x"]),
    ("open('|rm x')", ["rm x"]),
    ("FileUtils.rm_rf('/')", ["rm -rf /"]),
    ("FileUtils.rm_rf ['/', 'a']", ["rm -rf /", "rm -rf a"]),
    ("FileUtils.rm_rf(Dir.home)", ["rm -rf '~'"]),
    ("puts 'rm -rf /'", []),
    ("# `rm x`", []),
]
OTHERS: list[tuple[str, str, list[str]]] = [
    ("php", "system('rm x');", ["rm x"]),
    ("php", "<p>`a`</p><?php echo `rm x`; ?>", ["rm x"]),
    ("php", 'shell_exec("rm $x");', ["rm …"]),
    ("php", 'exec("rm " . $a);', ["rm …"]),
    ("php", "echo 'rm -rf /';", []),
    ("php", "// system('rm x')", []),
    ("lua", 'os.execute("rm x")', ["rm x"]),
    ("lua", "io.popen [[rm x]]", ["rm x"]),
    ("lua", '-- os.execute("rm x")', []),
    ("awk", 'BEGIN{system("rm x")}', ["rm x"]),
    ("awk", '{system("rm " $1)}', ["rm …"]),
    ("awk", '{print | "rm x"}', ["rm x"]),
    ("awk", 'BEGIN{"rm x" | getline y}', ["rm x"]),
    ("awk", '{"rm " $1 " a" | getline y}', ["rm … a"]),
    ("awk", '{print "rm " $1 | "sh"}', ["rm …"]),
    ("awk", '/rm -rf/ || $1 == "a" || "b" {print "rm -rf /"}', []),
    ("r", 'system("rm x")', ["rm x"]),
    ("r", 'system2("rm", c("-rf", "/"))', ["rm -rf /"]),
    ("r", 'unlink("/", recursive = TRUE)', ["rm -rf /"]),
    ("julia", "run(`rm x`)", ["rm x"]),
    ("applescript", 'do shell script "rm x"', ["rm x"]),
    ("applescript", 'tell application "Script" to activate', []),
    ("tcl", "spawn rm x\ninteract", ["rm x"]),
    ("unheard-of", 'system("rm x")', []),
]


@pytest.mark.parametrize(
    ("language", "code", "calls"),
    [
        *(("python", *each) for each in PYTHON),
        *(("javascript", *each) for each in JAVASCRIPT),
        *(("perl", *each) for each in PERL),
        *(("ruby", *each) for each in RUBY),
        *OTHERS,
    ],
)
def test_shell_commands_are_found_where_they_are_run(
    language: str, code: str, calls: list[str]
) -> None:
    assert [shown(each) for each in shell_calls(language, code)] == calls


def test_a_command_in_a_program_is_run_through_its_interpreter() -> None:
    line = 'python3 -c \'import os, shutil; os.system("rm x"); shutil.rmtree("/")\''
    found = inners(command(line))
    assert [each.code[0].value for each in found] == ["rm x", "rm -rf /"]
    assert {each.via for each in found} == {Via(ViaKind.INTERPRETER, "python3")}


def test_a_text_in_a_program_is_not_a_command() -> None:
    assert inners(command("python3 -c 'print(\"rm -rf /\")'")) == ()
    assert inners(command("jq '.cmd == \"rm -rf /\"' f")) == ()


def test_a_program_of_any_length_is_searched() -> None:
    code = "x = 1\n" * 50_000 + "import os; os.system('rm -rf /')"
    assert shell_calls("python", code) == ("rm -rf /",)


@pytest.mark.parametrize("part", ["system(", "system('a', ", "eval(", "open 'x',", "[", "'", "`"])
def test_a_program_that_never_ends_takes_no_time(part: str) -> None:
    for language in ("python", "javascript", "perl", "ruby", "awk"):
        assert len(shell_calls(language, part * 2_000)) <= 200


def test_home_in_a_removal_is_home() -> None:
    assert shell_calls("python", "shutil.rmtree(Path.home())") == (f"rm -rf '{HOME}'",)


_LANGUAGES = st.sampled_from(["python", "javascript", "perl", "ruby", "php", "lua", "awk", "tcl"])
_PIECES = st.sampled_from(
    [
        "'",
        '"',
        "`",
        "(",
        ")",
        "[",
        "]",
        "{",
        "}",
        "/",
        "\\",
        "\n",
        ";",
        ",",
        "+",
        ".",
        "$",
        "%",
        "system",
        "exec",
        "subprocess.run",
        "rmtree",
        "open",
        "eval",
        "qx",
        "q",
        "s",
        "%x",
        "f'",
        "'''",
        "//",
        "/*",
        "#",
        "--[[",
        "<?php",
        "rm x",
        " ",
        HOLE,
        "join",
        "split",
        "=",
        "|",
    ]
)


@given(language=_LANGUAGES, code=st.lists(_PIECES, max_size=30).map("".join))
def test_no_program_is_too_strange(language: str, code: str) -> None:
    assert all(shell_calls(language, code))
