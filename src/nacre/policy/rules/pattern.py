"""What stands between the parentheses of a rule: one command as a line of text.

`*` stands for any characters, blanks and newlines too. A `:*` or ` *` at the end
also matches the end, so `ls *` is `ls` with any words or none, and not `lsof`.
Without a star a pattern is one exact command. Commands are matched one by one,
so no star reaches into the next.
"""

from enum import IntEnum

from nacre.model.expression import expression
from nacre.model.value import dataclass
from nacre.syntax.word import MARKS

__all__ = ("Glob", "Likeness", "Pattern", "collapsed", "parse_pattern")

_BLANKS = expression(r"[ \t]+")
_STARS = expression(r"\*+")
_QUOTES = expression(r"[\"'\\]")
_UNKNOWN = expression(f"[{MARKS}]")
_HOME = expression(r"\$HOME\b|\$\{HOME\}")
_ASSIGNMENT = expression(r"[A-Za-z_]\w*\+?=")


class Likeness(IntEnum):
    """How surely a line is what a pattern says."""

    NO = 0
    PERHAPS = 1
    SURELY = 2


def collapsed(text: str) -> str:
    """A text with one blank where it had several."""
    if "  " in text or "\t" in text:
        text = _BLANKS.sub(" ", text)
    return text.strip(" ")


@dataclass(frozen=True, slots=True)
class Glob:
    """Texts with a star between each two of them; a single one has to match exactly."""

    pieces: tuple[str, ...]

    def matches(self, line: str) -> bool:
        """Whether the line is this, whatever its unknown parts are: only a star takes those."""
        head, tail = self.pieces[0], self.pieces[-1]
        if len(self.pieces) == 1:
            return line == head
        end = len(line) - len(tail)
        at = len(head)
        if at > end or not line.startswith(head) or not line.endswith(tail):
            return False
        for piece in self.pieces[1:-1]:
            at = line.find(piece, at, end)
            if at < 0:
                return False
            at += len(piece)
        return True

    def could_match(self, line: str) -> bool:
        """Whether the line is this for some value of the unknown parts before the first star.

        What a star covers is taken as it is written: there, almost everything
        unknown could be almost anything.
        """
        if line.isascii():
            return False
        known = _UNKNOWN.split(line)
        if len(known) == 1:
            return False
        if len(self.pieces) == 1:
            return Glob(tuple(known)).matches(self.pieces[0])
        head, tail = self.pieces[0], self.pieces[-1]
        first, last = known[0], known[-1]
        return (
            len(first) < len(head)
            and head.startswith(first)
            and (tail.endswith(last) or last.endswith(tail))
        )


@dataclass(frozen=True, slots=True)
class Pattern:
    """A pattern, ready to be matched.

    `text` is how it is written, blanks collapsed. `loose` are further readings
    that only count against a command: by its name without a folder, without
    quotes, with `~` for `$HOME`.
    """

    text: str
    globs: tuple[Glob, ...]
    loose: tuple[Glob, ...] = ()

    @property
    def head(self) -> str:
        """What comes before its first star."""
        return self.globs[0].pieces[0]

    @property
    def first_word(self) -> str | None:
        """The word it begins with, if it can be only one."""
        word, blank, _ = self.head.partition(" ")
        return word if blank or len(self.globs[0].pieces) == 1 else None

    @property
    def name(self) -> str | None:
        """The command it is about, without folders and quotes, if it can be only one."""
        word = self.first_word
        if word is None or _ASSIGNMENT.match(word):
            return None
        return _QUOTES.sub("", word).rpartition("/")[2]

    @property
    def words(self) -> frozenset[str]:
        """The words that stand in it."""
        return frozenset(" ".join(self.globs[0].pieces).split())

    @property
    def everything(self) -> bool:
        """Whether it matches every command."""
        return self.globs == (_EVERYTHING,)

    @property
    def exact(self) -> bool:
        """Whether it is one command and no other."""
        return len(self.globs) == 1 and len(self.globs[0].pieces) == 1

    def matches(self, line: str) -> bool:
        """Whether a line is surely what the pattern says."""
        return any(glob.matches(line) for glob in self.globs)

    def likeness(self, line: str) -> Likeness:
        """How surely a line is what the pattern says, read loosely."""
        globs = self.globs + self.loose
        if any(glob.matches(line) for glob in globs):
            return Likeness.SURELY
        if any(glob.could_match(line) for glob in globs):
            return Likeness.PERHAPS
        return Likeness.NO


_EVERYTHING = Glob(("", ""))


def parse_pattern(text: str, *, first_colon_is_blank: bool = False) -> Pattern | None:
    """Read a pattern; nothing if it is empty.

    With `first_colon_is_blank`, `git:add *` is `git add *`, as agentrail's rules
    are written.
    """
    text = collapsed(text)
    if first_colon_is_blank:
        name, colon, rest = text.partition(":")
        if name and colon and " " not in name:
            text = collapsed(f"{name} {rest}")
    globs = _globs(text)
    loose = dict.fromkeys(glob for reading in _readings(text) for glob in _globs(reading))
    return (
        Pattern(text, globs, tuple(each for each in loose if each not in globs)) if globs else None
    )


def _globs(text: str) -> tuple[Glob, ...]:
    stem = text.removesuffix(":*") if text.endswith(":*") else text.removesuffix(" *")
    if not stem:
        return ()
    return (_glob(stem),) if stem == text else (_glob(stem), _glob(f"{stem} *"))


def _glob(text: str) -> Glob:
    return Glob(tuple(_STARS.split(text)))


def _readings(text: str) -> tuple[str, ...]:
    unquoted = _QUOTES.sub("", text)
    homely = _HOME.sub("~", unquoted)
    name, blank, rest = homely.partition(" ")
    program = name.rpartition("/")[2]
    if not program or "*" in program.removesuffix(":*") or _ASSIGNMENT.match(name):
        return unquoted, homely
    return unquoted, homely, program + blank + rest
