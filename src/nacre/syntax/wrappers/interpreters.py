"""Programs in other languages, given on the command line or in the input of their interpreter."""

import re
from collections.abc import Iterator, Mapping

from nacre.model.expression import expression
from nacre.model.value import dataclass
from nacre.syntax.script import Command, ViaKind
from nacre.syntax.word import Word
from nacre.syntax.wrappers.inner import Inner, Invocation, Reader, derived, joined
from nacre.syntax.wrappers.options import Options, Reading, Unknown, options, readings
from nacre.syntax.wrappers.prefix import LOOKUPS, names
from nacre.syntax.wrappers.shells import STDIN_FILES

__all__ = ("INTERPRETERS", "interpreted", "language_of", "shell_calls")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Interpreter:
    """How an interpreter is given its program.

    `codes` are the options that hold it; with `first`, its first operand does.
    With `idle` options there is none; with `files` it is in a file. What follows
    one of `last` is for the program.
    """

    language: str
    options: Options
    codes: frozenset[str]
    idle: frozenset[str] = LOOKUPS
    first: bool = False
    files: frozenset[str] = frozenset()
    last: frozenset[str] = frozenset()


_PYTHON = _Interpreter(
    language="python",
    options=options(
        "-c -m -W -X -Q --check-hash-based-pycs",
        "- -b -B -d -E -h -i -I -O -P -q -R -s -S -t -u -v -V -x -3",
        unknown=Unknown.PLAIN,
    ),
    codes=names("-c"),
    idle=LOOKUPS | names("-m -h -V"),
    last=names("-c -m"),
)
_NODE = _Interpreter(
    language="javascript",
    options=options(
        "-e -p -r -C --eval --print --require --import --conditions --loader --input-type"
        " --experimental-loader --env-file --title --inspect-port -pe --stack-trace-limit",
        "- -c -h -i -v --check --interactive --inspect --test --watch --no-warnings",
        unknown=Unknown.PLAIN,
    ),
    codes=names("-e -p --eval --print"),
    idle=LOOKUPS | names("-c -h -v --check"),
)
_DENO = _Interpreter(
    language="javascript",
    options=options("-c --config --ext --env-file", unknown=Unknown.PLAIN),
    codes=frozenset(),
    first=True,
)
_PERL = _Interpreter(
    language="perl",
    options=options(
        "-e -E -I",
        "- -a -c -f -n -p -s -S -t -T -u -U -v -w -W -X -g -h -l -0",
        "-i -F -M -m -x -C -d -D -V",
        unknown=Unknown.PLAIN,
    ),
    codes=names("-e -E"),
    idle=LOOKUPS | names("-v -V -h"),
)
_RUBY = _Interpreter(
    language="ruby",
    options=options(
        "-e -I -r -C -E --encoding --external-encoding --internal-encoding --disable --enable",
        "- -a -c -d -h -l -n -p -s -S -U -v -w -y -0",
        "-i -F -x -K -T -W",
        unknown=Unknown.PLAIN,
    ),
    codes=names("-e"),
    idle=LOOKUPS | names("-c -h"),
)
_PHP = _Interpreter(
    language="php",
    options=options(
        "-r -B -R -E -f -F -d -c -z -t -S --run --process-begin --process-code --process-end"
        " --file --define --php-ini",
        "- -a -e -i -l -m -n -q -s -v -w -h -C -H",
        unknown=Unknown.PLAIN,
    ),
    codes=names("-r -B -R -E --run --process-begin --process-code --process-end"),
    idle=LOOKUPS | names("-f -l -i -m -v -h -w -s -S --file"),
)
_LUA = _Interpreter(
    language="lua",
    options=options("-e -l", "- -i -v -E -W", unknown=Unknown.PLAIN),
    codes=names("-e"),
)
_AWK = _Interpreter(
    language="awk",
    options=options(
        "-F -v -f -e -i -l -m --field-separator --assign --file --source --include --load --exec -E",
        "-b -c -C -g -h -I -k -M -n -N -O -P -r -s -S -t -V --csv --posix --traditional",
        "-d -D -L -o -p -W",
        unknown=Unknown.PLAIN,
    ),
    codes=names("-e --source"),
    idle=LOOKUPS | names("-h -V"),
    first=True,
    files=names("-f --file -E --exec"),
)
_JQ = _Interpreter(
    language="jq",
    options=options(
        "-f -L --from-file --indent --rawfile",
        "-n -r -j -a -s -S -c -C -M -e -R -h -V --null-input --raw-output --join-output"
        " --ascii-output --slurp --sort-keys --compact-output --color-output --exit-status --tab"
        " --raw-input --stream --seq --unbuffered --args --jsonargs --raw-output0",
        unknown=Unknown.PLAIN,
        several=dict.fromkeys(("--arg", "--argjson", "--slurpfile", "--rawfile"), 2),
        style="permuted",
    ),
    codes=frozenset(),
    idle=LOOKUPS | names("-h -V"),
    first=True,
    files=names("-f --from-file"),
)
_R = _Interpreter(
    language="r",
    options=options("-e -f -g", unknown=Unknown.PLAIN),
    codes=names("-e"),
    idle=LOOKUPS | names("-f"),
)
_JULIA = _Interpreter(
    language="julia",
    options=options("-e -E -L -p -t -J --eval --print --load --project", unknown=Unknown.PLAIN),
    codes=names("-e -E --eval --print"),
)
_OSASCRIPT = _Interpreter(
    language="applescript",
    options=options("-e -l -s", "- -i", unknown=Unknown.PLAIN),
    codes=names("-e"),
)
_EXPECT = _Interpreter(
    language="tcl",
    options=options("-c -f", "- -d -D -i -n -N -v -b", unknown=Unknown.PLAIN),
    codes=names("-c"),
    idle=LOOKUPS | names("-f -v"),
)


def _each(found: str, interpreter: _Interpreter) -> dict[str, _Interpreter]:
    return dict.fromkeys(found.split(), interpreter)


_BY_NAME: Mapping[str, _Interpreter] = {
    **_each("python python2 python3 pypy pypy3 ipython ipython3", _PYTHON),
    **_each("node nodejs bun tsx ts-node", _NODE),
    "deno": _DENO,
    **_each("perl perl5", _PERL),
    **_each("ruby jruby", _RUBY),
    **_each("php", _PHP),
    **_each("lua luajit texlua", _LUA),
    **_each("awk gawk mawk nawk original-awk", _AWK),
    **_each("jq gojq jaq", _JQ),
    **_each("Rscript R", _R),
    **_each("julia", _JULIA),
    **_each("osascript", _OSASCRIPT),
    **_each("expect tclsh", _EXPECT),
}
_CALL = expression(
    r"system|open|exec|spawn|subprocess|getoutput|getstatus|passthru|rm_|rmtree|remove|rimraf"
    r"|\brm|unlink|eval|compile|load|Function|runIn|assert|script|capture|Command|call|\bsh\b"
    r"|qx|%x|`|\|",
    re.IGNORECASE,
)


def language_of(name: str) -> str | None:
    """The language of the interpreter of this name, with or without a version."""
    interpreter = _interpreter(name)
    return interpreter.language if interpreter else None


def _interpreter(name: str) -> _Interpreter | None:
    return _BY_NAME.get(name) or _BY_NAME.get(name.rstrip("-.0123456789"))


def interpreted(command: Command, stdin: Word | None = None) -> str | None:
    """The program that a command gives to an interpreter in its words or its input.

    What is not known of it is a hole; what it could be besides follows on new lines.
    """
    if not command.words:
        return None
    for template in command.words[0].templates:
        name = template.rpartition("/")[2]
        if _interpreter(name):
            invocation = Invocation(name, command.words[0], command.words[1:], stdin)
            word = _program(invocation)
            return None if word is None else "\n".join(word.templates)
    return None


def _program(invocation: Invocation) -> Word | None:
    interpreter = _interpreter(invocation.name)
    if interpreter is None:
        return None
    arguments = invocation.arguments
    if interpreter is _DENO:
        if not arguments or arguments[0].value != "eval":
            return None
        arguments = arguments[1:]
    found: list[Word] = []
    for reading in readings(_unbundled(interpreter, arguments), interpreter.options):
        ends = (at for at, each in enumerate(reading.given) if each.name in interpreter.last)
        del reading.given[next(ends, len(reading.given)) + 1 :]
        if reading.has(interpreter.idle) and not reading.values(interpreter.codes):
            continue
        word = _given(interpreter, reading, invocation.stdin)
        if word is not None:
            found.append(word)
    if not found:
        return None
    templates = dict.fromkeys(each for word in found for each in word.templates)
    return derived(found[0], *templates)


_DASH = frozenset({"-"})


def _given(interpreter: _Interpreter, reading: Reading, stdin: Word | None) -> Word | None:
    codes = reading.values(interpreter.codes)
    if codes:
        return derived(codes[0], *joined(codes, "\n"))
    files = [word.value for word in reading.values(interpreter.files)]
    if any(each in {"-", *STDIN_FILES} for each in files):
        return stdin
    if interpreter.first:
        return reading.operands[0] if reading.operands and not files else None
    if reading.has(_DASH) or not reading.operands or reading.operands[0].value in STDIN_FILES:
        return stdin
    return None


_PERL_DIGITS = expression(r"^(-[a-zA-Z]*)(?:l[0-7]*|0(?:x[0-9a-fA-F]+|[0-7]*))(?=[a-zA-Z])")
_NODE_PRINTED = expression(r"-pe$|-ep$")


def _unbundled(interpreter: _Interpreter, arguments: tuple[Word, ...]) -> tuple[Word, ...]:
    """Options in the form that can be told apart: `perl -l012ne` as `-ne`, `node -pe` as `-e`."""
    if interpreter is _PERL or interpreter is _RUBY:
        return tuple(_without_digits(word) for word in arguments)
    if interpreter is _NODE:
        return tuple(
            derived(word, "-e") if _NODE_PRINTED.match(word.templates[0]) else word
            for word in arguments
        )
    return arguments


def _without_digits(word: Word) -> Word:
    first = word.templates[0]
    found = _PERL_DIGITS.match(first) if first[:1] == "-" else None
    return derived(word, found[1] + first[found.end() :]) if found else word


def shell_calls(language: str, code: str) -> tuple[str, ...]:
    """The shell commands that a program runs, as bash code; what is not known in them is a hole.

    Only literals in the place of a command count, never a text that looks like
    one. A removal of a folder is written as the `rm -rf` that does the same.
    """
    if not _CALL.search(code):
        return ()
    from nacre.syntax.wrappers.calls import calls

    return calls(language, code)


def _read(invocation: Invocation) -> Iterator[Inner]:
    """The shell commands in the program that an interpreter is given."""
    interpreter = _interpreter(invocation.name)
    word = _program(invocation)
    if interpreter is None or word is None:
        return
    via = invocation.via(ViaKind.INTERPRETER)
    for template in word.templates:
        for code in shell_calls(interpreter.language, template):
            yield Inner(via=via, code=(derived(word, code),))


INTERPRETERS: Mapping[str, Reader] = dict.fromkeys(
    (name for name, each in _BY_NAME.items() if each.language != "jq"), _read
)
