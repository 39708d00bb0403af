"""Programs that run one command for each of many things: `xargs`, `parallel`, `fd`."""

from collections.abc import Iterator, Mapping, Sequence

from nacre.model.expression import expression
from nacre.model.value import dataclass
from nacre.syntax.script import Via, ViaKind
from nacre.syntax.word import FIELDS, HOLE, Word
from nacre.syntax.wrappers.find import fd, find
from nacre.syntax.wrappers.inner import Inner, Invocation, Reader, changed, derived, quoted
from nacre.syntax.wrappers.options import Reading, Unknown, options, readings
from nacre.syntax.wrappers.prefix import LOOKUPS, names
from nacre.syntax.wrappers.split import split

__all__ = ("FANOUTS", "replaced")

# One word takes the place of more items than these.
_MOST_ITEMS = 400
_MOST_CHOICES = 16
_MOST_RUNS = 6

_XARGS = options(
    "-a -d -E -I -J -L -n -P -R -s -S --arg-file --delimiter --max-args --max-chars --max-procs"
    " --process-slot-var",
    "-0 -o -p -r -t -x --exit --interactive --no-run-if-empty --null --open-tty --show-limits"
    " --verbose",
    "-e -i -l --eof --max-lines --replace",
)
_REPLACE = names("-I -J -i --replace")
_FROM_FILE = names("-a --arg-file")
_DELIMITER = names("-d --delimiter")
_NULL = names("-0 --null")
_CHUNK = names("-n -L -l --max-args --max-lines")


def _xargs(invocation: Invocation) -> Iterator[Inner]:
    """What `xargs` runs, with the words it is known to read, or with one for those it is not."""
    for reading in readings(invocation.arguments, _XARGS):
        words = tuple(reading.operands)
        if not words or reading.has(LOOKUPS) or (words[0].value or "x").startswith("-"):
            continue
        stdin = None if reading.has(_FROM_FILE) else invocation.stdin
        bare = not reading.given and not reading.skipped
        via = invocation.via(ViaKind.TRANSPARENT if bare else ViaKind.FANOUT)
        if reading.has(_REPLACE):
            mark = reading.value(_REPLACE)
            item = _line(reading, stdin, invocation.program)
            yield Inner(via=via, words=replaced(words, (mark and mark.value) or "{}", item))
        else:
            yield from _appended(via, words, reading, stdin)


def _appended(
    via: Via, words: tuple[Word, ...], reading: Reading, stdin: Word | None
) -> Iterator[Inner]:
    if stdin is None:
        yield Inner(via=via, words=(*words, derived(words[-1], FIELDS)))
        return
    for template in stdin.templates:
        items = [derived(stdin, each) for each in _items(reading, template)]
        size = _number(reading.value(_CHUNK)) or len(items) or 1
        for run in range(_MOST_RUNS):
            chunk = items[run * size : (run + 1) * size if run + 1 < _MOST_RUNS else None]
            if chunk or run == 0:
                yield Inner(via=via, words=(*words, *chunk))


def _items(reading: Reading, text: str) -> list[str]:
    if reading.has(_NULL):
        items = [each for each in text.split("\0") if each]
    elif delimiter := reading.value(_DELIMITER):
        between = _DELIMITERS.get(delimiter.templates[0], delimiter.templates[0])
        items = text.split(between) if between else [text]
    else:
        items = list(split(text, variables=False))
    return [*items[:_MOST_ITEMS], FIELDS] if len(items) > _MOST_ITEMS else items


_DELIMITERS = {r"\n": "\n", r"\t": "\t", r"\0": "\0"}


def _line(reading: Reading, stdin: Word | None, program: Word) -> Word:
    """Any of the lines that take the place of the mark."""
    if stdin is None:
        return derived(program, HOLE)
    separated = reading.has(_NULL) or reading.value(_DELIMITER) is not None
    lines: list[str] = []
    for text in stdin.templates:
        if separated:
            lines += _items(reading, text)
        else:
            lines += (
                " ".join(split(line, variables=False)) for line in text.splitlines() if line.strip()
            )
    return _any(stdin, lines)


def _any(word: Word, texts: Sequence[str]) -> Word:
    choices = tuple(dict.fromkeys(texts)) or ("",)
    if len(choices) > _MOST_CHOICES:
        choices = (*choices[:_MOST_CHOICES], HOLE)
    return derived(word, *choices)


def _number(word: Word | None) -> int:
    value = word.value if word else None
    return int(value) if value and value.isdecimal() and len(value) < 9 else 0  # noqa: PLR2004


def replaced(words: Sequence[Word], mark: str, item: Word) -> tuple[Word, ...]:
    """Words with something put in the place of every mark."""
    return tuple(_replaced(word, mark, item) for word in words)


def _replaced(word: Word, mark: str, item: Word) -> Word:
    if not any(mark in each for each in word.templates):
        return word
    found = (each.replace(mark, text) for each in word.templates for text in item.templates)
    return derived(word, *dict.fromkeys(found))


_PARALLEL = options(
    "-j -P -S -a -C -d -E -I -L -n -N -s -T --jobs --max-procs --sshlogin --sshloginfile --slf"
    " --arg-file --colsep --delimiter --max-args --max-replace-args --max-chars --delay --timeout"
    " --retries --results --res --joblog --tmpdir --tempdir --tagstring --load --memfree --nice"
    " --halt --halt-on-error --block --recstart --recend --workdir --wd --env --basefile --bf"
    " --return --trc --transferfile --tf --rpl --arg-sep --arg-file-sep --shellquote --id"
    " --semaphorename --limit --profile --seqreplace --slotreplace --termseq --trim --compress-program"
    " --header --memsuspend --filter --combineexec --process-slot-var --shebang-wrap --sql",
    "-0 -k -m -q -r -t -u -v -V -X --bar --bg --citation --dry-run --dryrun --eta --fg --group"
    " --keep-order --lb --line-buffer --link --no-notice --no-run-if-empty --null --pipe"
    " --pipe-part --pipepart --progress --quote --semaphore --shuf --silent --tag --ungroup"
    " --verbose --wait --will-cite --xapply --xargs --resume --resume-failed --joblog-append",
    "-e -i -l --eof --replace --max-lines --tollef",
    unknown=Unknown.PLAIN,
)
_DRY = LOOKUPS | names("--dry-run --dryrun --citation")
_PIPED = names("--pipe --pipe-part --pipepart --semaphore")
_SOURCE = expression(r":::\+?$|::::\+?$")
_PLACEHOLDER = expression(r"\{(?:[./%#]|//|/\.|\.\.|\d+[./]*|[+-]?\w*=[^}]*)?\}")


@dataclass(frozen=True, slots=True)
class _Job:
    """A command of `parallel`, and the arguments it is run for; none if they are not known."""

    command: tuple[Word, ...]
    arguments: tuple[Word, ...] | None


def _parallel(invocation: Invocation) -> Iterator[Inner]:
    """What `parallel` has a shell read: its command with each argument, or each argument."""
    via = invocation.via(ViaKind.FANOUT)
    for reading in readings(invocation.arguments, _PARALLEL):
        if reading.has(_DRY):
            continue
        job = _job(reading, invocation)
        if job.command:
            piped = reading.has(_PIPED) or invocation.name == "sem"
            yield Inner(via=via, code=job.command if piped else _filled(job))
        elif job.arguments:
            texts = "\n".join(word.templates[0] for word in job.arguments)
            yield Inner(via=via, code=(derived(job.arguments[0], texts),))


def _job(reading: Reading, invocation: Invocation) -> _Job:
    words = reading.operands
    sources = [at for at, word in enumerate(words) if _SOURCE.match(word.templates[0])]
    if sources:
        command = tuple(words[: sources[0]])
        literal = words[sources[0]].templates[0].rstrip("+") == ":::"
        given = (word for word in words[sources[0] + 1 :] if not _SOURCE.match(word.templates[0]))
        return _Job(command, tuple(given) if literal else None)
    for at, word in enumerate(words):
        if word.value == "--":
            return _Job(tuple(words[:at]), tuple(words[at + 1 :]))
    if invocation.stdin is None or reading.has(_FROM_FILE):
        return _Job(tuple(words), None)
    lines = (line for line in invocation.stdin.templates[0].splitlines() if line.strip())
    return _Job(tuple(words), tuple(derived(invocation.stdin, line) for line in lines))


def _filled(job: _Job) -> tuple[Word, ...]:
    if job.arguments is None:
        item = derived(job.command[0], HOLE)
    else:
        texts = [text for word in job.arguments for text in quoted(word).templates]
        item = _any(job.command[0], texts)
    if any(_PLACEHOLDER.search(each) for word in job.command for each in word.templates):
        plain = (changed(word, lambda text: _PLACEHOLDER.sub("{}", text)) for word in job.command)
        return replaced(tuple(plain), "{}", item)
    return (*job.command, item)


FANOUTS: Mapping[str, Reader] = {
    "xargs": _xargs,
    "gxargs": _xargs,
    "parallel": _parallel,
    "sem": _parallel,
    "find": find,
    "gfind": find,
    "bfs": find,
    "fd": fd,
    "fdfind": fd,
}
