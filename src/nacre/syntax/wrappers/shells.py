"""Shells, and builtins and programs that have a text read by one."""

from collections.abc import Iterable, Iterator, Mapping

from nacre.model.expression import expression
from nacre.syntax.script import ViaKind
from nacre.syntax.word import FIELDS, HOLE, Word
from nacre.syntax.wrappers.inner import Inner, Invocation, Reader, derived
from nacre.syntax.wrappers.options import Options, Reading, Unknown, options, readings
from nacre.syntax.wrappers.prefix import LOOKUPS, is_option, names

__all__ = ("SHELLS", "STDIN_FILES", "substituted")

STDIN_FILES = frozenset({"/dev/stdin", "/dev/fd/0", "/proc/self/fd/0"})

_LONG = "--norc --noprofile --login --posix --restricted --verbose --noediting --debugger"
_SHELL = options(
    "-o -O +o +O --rcfile --init-file",
    "- " + " ".join(f"-{each} +{each}" for each in "abcefghiklmnprstuvxBCDEHPTV") + " " + _LONG,
    style="detached plus",
    unknown=Unknown.PLAIN,
)
# Bash takes its long options with one dash, too, and `-norc` is not four letters to it.
_ONE_DASH = frozenset(each[1:] for each in f"{_LONG} --rcfile --init-file".split())
_CODE = frozenset({"-c"})
_UNREAD = LOOKUPS | {"-n"}
_REREAD = frozenset({"-i"})


def _shell(invocation: Invocation) -> Iterator[Inner]:
    """What a shell reads: the text after `-c`, or its input if it is given no script."""
    arguments = invocation.arguments
    if arguments and arguments[0].value in _ONE_DASH:
        arguments = tuple(_two_dashes(word) for word in arguments)
    via = invocation.via(ViaKind.CODE)
    for reading in readings(arguments, _SHELL):
        if _only_checked(reading):
            continue
        code, positional = _read_by_shell(reading, invocation)
        if code is not None:
            yield Inner(via=via, code=(code,), positional=positional)


def _two_dashes(word: Word) -> Word:
    return derived(word, f"-{word.value}") if word.value in _ONE_DASH else word


def _only_checked(reading: Reading) -> bool:
    """Whether nothing is run: `bash -n`, which an interactive shell does not heed."""
    unset = any(each.name.startswith("+") for each in reading.given)
    return reading.has(_UNREAD) and not reading.has(_REREAD) and not unset


def _read_by_shell(
    reading: Reading, invocation: Invocation
) -> tuple[Word | None, tuple[Word, ...] | None]:
    operands = reading.operands
    if reading.has(_CODE):
        return (operands[0], tuple(operands[1:])) if operands else (None, None)
    if reading.has(frozenset({"-s"})):
        return invocation.stdin, (invocation.program, *operands)
    if not operands or (not reading.skipped and _is_stdin(operands[0])):
        return invocation.stdin, tuple(operands)
    # An option that is not known could be `-c`, and then a text that looks like code is code.
    at = 0 if reading.skipped else 1
    if (reading.skipped or _unknown(operands[0])) and _looks_like_code(operands[at : at + 1]):
        return operands[at], tuple(operands[at + 1 :])
    return None, None


def _is_stdin(word: Word) -> bool:
    return not STDIN_FILES.isdisjoint(word.values)


def _unknown(word: Word) -> bool:
    return any(each in {HOLE, FIELDS} for each in word.templates)


def _looks_like_code(words: list[Word]) -> bool:
    return any(" " in each for word in words for each in word.templates)


def _eval(invocation: Invocation) -> Iterator[Inner]:
    words = invocation.arguments
    if words and words[0].value == "--":
        words = words[1:]
    if words:
        yield Inner(via=invocation.via(ViaKind.CODE), code=words)


def _source(invocation: Invocation) -> Iterator[Inner]:
    words = invocation.arguments
    if words and words[0].value == "--":
        words = words[1:]
    if words and invocation.stdin and _is_stdin(words[0]):
        positional = words if len(words) > 1 else None
        yield Inner(
            via=invocation.via(ViaKind.CODE), code=(invocation.stdin,), positional=positional
        )


_TRAP = options("", "-l -p -P", unknown=Unknown.PLAIN)
_RESET = frozenset({"", "-"})


def _trap(invocation: Invocation) -> Iterator[Inner]:
    for reading in readings(invocation.arguments, _TRAP):
        if reading.given or len(reading.operands) < 2:  # noqa: PLR2004 (an action and a signal)
            continue
        action = reading.operands[0]
        if action.value not in _RESET and not (action.value or "").isdecimal():
            yield Inner(via=invocation.via(ViaKind.CODE), code=(action,))


_MAPFILE = options("-d -n -O -s -u -c -C", "-t")
_CALLBACK = names("-C")


def _mapfile(invocation: Invocation) -> Iterator[Inner]:
    """The callback, which is given an index and a line."""
    for reading in readings(invocation.arguments, _MAPFILE):
        if code := reading.value(_CALLBACK):
            line = invocation.stdin or derived(code, HOLE)
            yield Inner(via=invocation.via(ViaKind.CODE), code=(code, derived(code, "0"), line))
    yield from _subscripts(invocation)


_COMPGEN = options("-A -C -F -G -P -S -W -X -o -V", "-a -b -c -d -e -f -g -j -k -s -u -v")
_WORDLIST = names("-W")


def _compgen(invocation: Invocation) -> Iterator[Inner]:
    via = invocation.via(ViaKind.CODE)
    for reading in readings(invocation.arguments, _COMPGEN):
        yield from (Inner(via=via, code=(code,)) for code in reading.values(_CALLBACK))
        for word in reading.values(_WORDLIST):
            yield from _substitutions(invocation, word)


_SUBSCRIPT = expression(r"[A-Za-z_]\w*\[")


def _subscripts(invocation: Invocation) -> Iterator[Inner]:
    """Substitutions in subscripts, which builtins evaluate although they were quoted."""
    for word in invocation.arguments:
        if any(_SUBSCRIPT.match(each) for each in word.templates):
            yield from _substitutions(invocation, word)


def _substitutions(invocation: Invocation, word: Word) -> Iterator[Inner]:
    via = invocation.via(ViaKind.CODE)
    for template in word.templates:
        if code := substituted(template):
            yield Inner(via=via, code=(derived(word, code),))


def substituted(text: str) -> str:
    """Code that runs the substitutions in a text, and nothing else; nothing if it has none."""
    for opening, closing in (("$(", ")"), ("`", "`")):
        start, end = text.find(opening), text.rfind(closing)
        if 0 <= start < end:
            return f": {text[start : end + 1]}"
    return ""


def _let(invocation: Invocation) -> Iterator[Inner]:
    for word in invocation.arguments:
        yield from _substitutions(invocation, word)


def _printf(invocation: Invocation) -> Iterator[Inner]:
    first = invocation.arguments[:2]
    if first and first[0].value == "-v":
        yield from _subscripts(invocation._replace(arguments=first))


def _test(invocation: Invocation) -> Iterator[Inner]:
    words = invocation.arguments
    for at, word in enumerate(words[:-1]):
        if word.value == "-v":
            yield from _subscripts(invocation._replace(arguments=words[at + 1 : at + 2]))


_SU = options(
    "-c -g -G -s -w -C --command --session-command --group --supp-group --shell"
    " --whitelist-environment",
    "-f -l -m -p -P -T --fast --login --preserve-environment --pty --no-pty",
    style="permuted",
)
_RUNUSER = options(
    "-c -g -G -s -w -u --command --session-command --group --supp-group --shell --user"
    " --whitelist-environment",
    "-f -l -m -p -P -T --fast --login --preserve-environment --pty --no-pty",
)
_COMMANDS = names("-c --command --session-command")
_USER = names("-u --user")


def _su(invocation: Invocation) -> Iterator[Inner]:
    """`su user -c code`; other words are arguments of the shell it starts."""
    yield from _login(invocation, _SU)


def _runuser(invocation: Invocation) -> Iterator[Inner]:
    plain = readings(invocation.arguments, _RUNUSER)
    if any(reading.has(_USER) for reading in plain):
        for reading in plain:
            if reading.operands:
                words = tuple(reading.operands)
                yield Inner(via=invocation.via(ViaKind.EXEC), words=words)
        return
    yield from _login(invocation, _SU)


def _login(invocation: Invocation, known: Options) -> Iterator[Inner]:
    via = invocation.via(ViaKind.EXEC)
    for reading in readings(invocation.arguments, known):
        if reading.has(LOOKUPS):
            continue
        codes = reading.values(_COMMANDS)
        operands = [word for word in reading.operands if word.value != "-"]
        yield from (Inner(via=via, code=(code,), positional=tuple(operands[1:])) for code in codes)
        if not codes and len(operands) > 1:
            shell = derived(invocation.program, "sh")
            yield Inner(via=via, words=(shell, *operands[1:]))
        elif not codes and invocation.stdin:
            yield Inner(via=via, code=(invocation.stdin,))


def _sg(invocation: Invocation) -> Iterator[Inner]:
    words = [word for word in invocation.arguments if word.value not in {"-", "-c"}]
    if len(words) > 1 and not is_option(words[1]):
        yield Inner(via=invocation.via(ViaKind.EXEC), code=tuple(words[1:2]))


_FLOCK = options(
    "-w -E --wait --timeout --conflict-exit-code",
    "-s -e -x -n -u -o -F --shared --exclusive --nb --nonblock --unlock --close --no-fork"
    " --verbose --fcntl",
)


def _flock(invocation: Invocation) -> Iterator[Inner]:
    via = invocation.via(ViaKind.EXEC)
    for reading in readings(invocation.arguments, _FLOCK):
        words = tuple(reading.operands[1:])
        if words and words[0].value in {"-c", "--command"}:
            yield Inner(via=via, code=words[1:2])
        elif words and (reading.named or not reading.skipped):
            yield Inner(via=via, words=words)


_SCRIPT = options(
    "-c -B -E -I -m -o -O -T --command --echo --log-in --log-io --log-out --log-timing"
    " --logging-format --output-limit",
    "-a -d -e -f -F -k -p -q -r --append --flush --force --quiet --return",
    "-t --timing",
    style="permuted",
)


def _script(invocation: Invocation) -> Iterator[Inner]:
    """`script -c code file`, `script file -- words`, and BSD's `script file words`."""
    via = invocation.via(ViaKind.EXEC)
    for reading in readings(invocation.arguments, _SCRIPT):
        codes = reading.values(_COMMANDS)
        yield from (Inner(via=via, code=(code,)) for code in codes)
        own = 1 if reading.before is None else reading.before
        if words := tuple(reading.operands[own:]):
            yield Inner(via=via, words=words)
        elif not codes and invocation.stdin:
            yield Inner(via=via, code=(invocation.stdin,))


_WATCH = options(
    "-n -q -s --interval --equexit --shotsdir",
    "-b -c -C -e -f -g -h -p -r -t -v -w -x --beep --color --no-color --errexit --follow"
    " --chgexit --exec --precise --no-rerun --no-title --no-wrap",
    "-d --differences",
)
_EXECUTED = names("-x --exec")


def _watch(invocation: Invocation) -> Iterator[Inner]:
    via = invocation.via(ViaKind.EXEC)
    for reading in readings(invocation.arguments, _WATCH):
        words = tuple(reading.operands)
        if not words or reading.has(LOOKUPS):
            continue
        if reading.has(_EXECUTED):
            yield Inner(via=via, words=words)
        else:
            yield Inner(via=via, code=words)


_AT = options("-f -q -t", "-b -c -d -k -l -m -M -r -u -v -V", style="permuted")
_LISTED = names("-c -d -f -l -r -V")


def _at(invocation: Invocation) -> Iterator[Inner]:
    reads = any(not each.has(_LISTED) for each in readings(invocation.arguments, _AT))
    if reads and invocation.stdin:
        yield Inner(via=invocation.via(ViaKind.CODE), code=(invocation.stdin,))


def _capsh(invocation: Invocation) -> Iterator[Inner]:
    """What follows `--` is for a shell."""
    words = invocation.arguments
    for at, word in enumerate(words):
        if word.value in {"--", "=="}:
            shell = derived(invocation.program, "bash")
            yield Inner(via=invocation.via(ViaKind.EXEC), words=(shell, *words[at + 1 :]))
            return


def _jobs(invocation: Invocation) -> Iterator[Inner]:
    words = invocation.arguments
    if len(words) > 1 and words[0].value == "-x":
        yield Inner(via=invocation.via(ViaKind.EXEC), words=words[1:])


def _input(invocation: Invocation) -> Iterator[Inner]:
    if invocation.stdin:
        yield Inner(via=invocation.via(ViaKind.EXEC), code=(invocation.stdin,))


def _each(name: str, reader: Reader) -> Iterable[tuple[str, Reader]]:
    return ((each, reader) for each in name.split())


SHELLS: Mapping[str, Reader] = dict(
    (
        *_each("bash sh dash zsh ksh ash rbash rksh mksh lksh yash posh osh ysh", _shell),
        *_each("fish csh tcsh elvish xonsh", _shell),
        *_each("source .", _source),
        *_each("mapfile readarray", _mapfile),
        *_each("read unset declare typeset local export readonly wait getopts", _subscripts),
        *_each("test [", _test),
        *_each("at batch", _at),
        *_each("newgrp login", _input),
        ("eval", _eval),
        ("trap", _trap),
        ("compgen", _compgen),
        ("complete", _compgen),
        ("let", _let),
        ("printf", _printf),
        ("su", _su),
        ("runuser", _runuser),
        ("sg", _sg),
        ("flock", _flock),
        ("script", _script),
        ("watch", _watch),
        ("capsh", _capsh),
        ("jobs", _jobs),
    )
)
