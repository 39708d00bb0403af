"""What the host and the resident of a container say to each other.

The resident is `resident.sh`; its words are described there. This module writes requests and
reads what comes back from among a script's output. It does nothing.
"""

import shlex
from collections.abc import Iterable, Mapping, Sequence
from enum import Enum
from functools import cache

from nacre.model.expression import expression
from nacre.model.value import dataclass

__all__ = (
    "ALIVE",
    "HOUSE",
    "HOUSE_NAME",
    "Begin",
    "Live",
    "Others",
    "Reader",
    "Said",
    "Word",
    "begin",
    "end",
    "greet",
    "house_source",
    "house_words",
    "resident_source",
    "resident_words",
    "signal",
    "take_over",
    "wait_status",
)

HOUSE, HOUSE_NAME = "NACRE_HOUSE", "nacre-house"
# Lists of processes show the words of each: those of a whole program would drown the rest.
_HEAR = 'LC_ALL_WAS=${LC_ALL-unset} LC_ALL=C; read -r n && read -r -N "$n" code && eval "$code"'
_NAME = expression(r"[A-Za-z_][A-Za-z0-9_]*")
_KINDS = frozenset(
    {b"ready", b"begun", b"unstarted", b"state", b"starved", b"exited", b"unseen", b"gone"}
)
_LONGEST_LINE = 4096
# What `printf %b` would take for something else.
_ESCAPES = {ord("\\"): b"\\\\", 0: b"\\0000", ord("'"): b"\\0047"}
# Signals by the words that bash has for them, as far as it has any; for others it has a number.
_SIGNALED = 128


class Others(Enum):
    """Who else has processes in a container, so that the marks in use are not all known."""

    HOSTS = "ours"
    STRANGERS = "any"


Live = Sequence[int] | Others
"""The marks of all calls; or who else has processes there, so that these are not all."""


@dataclass(frozen=True, slots=True)
class Word:
    """Something the resident said: which stream it came on, what kind it is, and the rest."""

    stream: int
    kind: str
    rest: str


@dataclass(frozen=True, slots=True)
class Said:
    """Something the script said."""

    stream: int
    data: bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class Begin:
    """One script to be started.

    `limits` are pairs of an option of `ulimit` and a number. `separate` keeps its two streams
    apart. `environ` is added to the variables of the image. With `live`, whatever it leaves is
    killed when its shell ends; otherwise only when that is asked for.
    """

    mark: int
    word: str
    separate: bool
    folder: str
    limits: tuple[tuple[str, int], ...]
    stdin: bytes
    script: str
    environ: Mapping[str, str]
    live: Live = ()


def begin(call: Begin) -> bytes:
    """The request to start a script."""
    limits = " ".join(f"{option}={most}" for option, most in call.limits)
    assigned = [f"{name}={value}" for name, value in call.environ.items() if _NAME.fullmatch(name)]
    separate = "yes" if call.separate else ""
    words = [str(call.mark), call.word, separate, " ".join(_words(call.live)), call.folder, limits]
    return _request("begin", [*words, _escaped(call.stdin), call.script, *assigned])


def greet(word: str) -> bytes:
    """The request to say that it is ready."""
    return _request(f"word={word}; say", ["ready", ""])


def signal(name: str, live: Live) -> bytes:
    """The request to send a signal to all that the script started."""
    return _request("tell", [name, *_words(live)])


def end(live: Live) -> bytes:
    """The request to kill all that the script started."""
    return _request("end", _words(live))


def take_over(mark: int, word: str, live: Live) -> bytes:
    """The request to kill what another resident left."""
    return _request("take_over", [str(mark), word, *_words(live)])


ALIVE = b"0\n"
"""The request that asks for nothing."""


def resident_words(patience: float) -> list[str]:
    """What is executed in a container to have a resident there, once it has heard its source."""
    return ["bash", "-c", _HEAR, "nacre-resident", f"{max(1, round(patience))}"]


def resident_source() -> bytes:
    """The first thing a resident is to hear: itself."""
    source = _source("resident.sh").encode()
    return b"%d\n%b" % (len(source), source)


def house_words(idle: float) -> list[str]:
    """What the first process of a container executes."""
    return ["bash", "-c", f'eval "${HOUSE}"', HOUSE_NAME, f"{max(1, round(idle))}"]


def house_source() -> str:
    """What the variable `HOUSE` of a container holds."""
    return _source("house.sh")


class Reader:
    """Tells what the resident says from what the script says, on one stream.

    What might be the start of a word is held back until it is known.
    """

    def __init__(self, stream: int, word: str) -> None:
        self._stream = stream
        self._start = b"\0" + word.encode() + b" "
        self._held = b""

    def feed(self, data: bytes) -> Iterable[Said | Word]:
        """Read on."""
        data = self._held + data
        self._held = b""
        while data:
            at = data.find(self._start)
            if at < 0:
                self._held = self._unfinished(data)
                if said := data[: len(data) - len(self._held)]:
                    yield Said(self._stream, said)
                return
            if at:
                yield Said(self._stream, data[:at])
                data = data[at:]
            line, newline, rest = self._line(data[len(self._start) :])
            kind, _, more = line.partition(b" ")
            if newline and kind in _KINDS:
                yield Word(self._stream, kind.decode(), more.decode("utf-8", "replace"))
                data = rest
            elif newline or len(line) > _LONGEST_LINE:
                # Somebody else found out the word; it is as much output as anything.
                yield Said(self._stream, data[: len(self._start)])
                data = data[len(self._start) :]
            else:
                self._held = data
                return

    def _line(self, data: bytes) -> tuple[bytes, bytes, bytes]:
        """A word's line; where bash had nothing to list, the next word follows at once."""
        line, newline, rest = data.partition(b"\n")
        cut = line.find(self._start)
        return (line[:cut], b"\n", data[cut:]) if cut >= 0 else (line, newline, rest)

    def _unfinished(self, data: bytes) -> bytes:
        """The end of the data that may be the start of a word."""
        at = data.rfind(b"\0", max(0, len(data) - len(self._start)))
        while at >= 0:
            if self._start.startswith(data[at:]):
                return data[at:]
            at = data.rfind(b"\0", max(0, len(data) - len(self._start)), at)
        return b""


def wait_status(status: int, state: str) -> int:
    """The status as wait(2) has it, from the shell's number and bash's description of the end.

    Bash makes 137 of a death by SIGKILL, and of `exit 137`; only its list of jobs tells them
    apart: it says `Exit 137` of the one, and names the signal of the other.
    """
    described = state.split(None, 2)[-1] if state else ""
    signaled = status > _SIGNALED and described and not described.startswith(("Exit", "Done"))
    return status - _SIGNALED if signaled else status << 8


@cache
def _source(name: str) -> str:
    from importlib.resources import files  # slow to import, and few hosts need it

    return files("nacre.container").joinpath(name).read_text(encoding="utf-8")


def _request(name: str, words: Iterable[str]) -> bytes:
    text = " ".join([name, *(shlex.quote(word) for word in words)])
    data = text.encode("utf-8", "surrogateescape")
    return b"%d\n%b" % (len(data), data)


def _words(live: Live) -> list[str]:
    return [live.value] if isinstance(live, Others) else [str(mark) for mark in live]


def _escaped(data: bytes) -> str:
    """Bytes as an argument of `printf %b`: no argument can hold a NUL.

    Nor should it have quotes: what is made of them takes bash the square of their number.
    """
    for byte in (ord("\\"), 0, ord("'")):
        data = data.replace(bytes([byte]), _ESCAPES[byte])
    return data.decode("utf-8", "surrogateescape")
