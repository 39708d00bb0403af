"""A script as a person should see it: without the `cd` to where it is anyway."""

from collections.abc import Iterator
from itertools import pairwise
from posixpath import join, normpath

from nacre.model.expression import expression
from nacre.model.value import dataclass
from nacre.syntax.parser.parse import parse
from nacre.syntax.tree import Item, Node, Parameter, Part, RawWord, Simple, Span, Text

__all__ = ("display",)

_OPTION = expression(r"-[LPe@]+")
# What is cut together with a command: its separator, and blanks up to the next command or comment.
_JOINT = expression(r"(?:[ \t]|\\\n)*(?:&&|;|(?=[\n#]))(?:[ \t\n]|\\\n)*")
_COMMENTS = expression(r"(?:[ \t\n]|\\\n|#[^\n]*\n)*")
_MOVES = expression(r"\b(?:cd|pushd|popd)\b")
# In an unquoted text these make it more than its characters; from an unquoted variable, also blanks.
_EXPANDS = expression(r"[*?\[{]")
_SPLITS = expression(r"[\s*?\[]")


def display(text: str, cwd: str, home: str | None) -> str:
    """The script with every `cd` to `cwd` cut out that only leads on to the next command.

    All the rest is as it was written. What cannot be parsed is not changed, nor
    what is nothing but such a `cd`.
    """
    if "cd" not in text:
        return text
    parsed = parse(text)
    if parsed.error:
        return text
    items = parsed.tree.items
    place = _Place(cwd=_normal(cwd), home=home)
    cuts = tuple(_cuts(text, items, place))
    if not cuts or (len(cuts) == len(items) - 1 and place.is_reached_by(items[-1].node)):
        return text
    kept: list[str] = []
    position = 0
    for cut in cuts:
        kept.append(text[position : cut.start])
        position = cut.end
    return _trimmed("".join((*kept, text[position:])))


def _cuts(text: str, items: tuple[Item, ...], place: "_Place") -> Iterator[Span]:
    """Where the source is left out, in order."""
    before = ""
    for item, follower in pairwise(items):
        span = item.node.span
        if _only_leads_on(before, item.separator) and place.is_reached_by(item.node):
            gap = text[span.end : follower.node.span.start]
            joint = _JOINT.match(gap)
            # Else there is more between them, the body of a here-document, say.
            if joint and _COMMENTS.fullmatch(gap, joint.end()):
                yield Span(span.start, span.end + joint.end())
                continue
        if _MOVES.search(text, span.start, span.end):
            place = _Place(cwd=place.cwd, home=place.home, moved=True)
        before = item.separator


def _only_leads_on(before: str, after: str) -> bool:
    """Whether what follows would be run in the same cases without this command."""
    if after == "&&":
        return before != "||"
    return after in {";", "\n"} and before not in {"&&", "||"}


@dataclass(frozen=True, slots=True, kw_only=True)
class _Place:
    """The directory a person thinks of; `moved` once a script may have left it."""

    cwd: str
    home: str | None
    moved: bool = False

    def is_reached_by(self, node: Node) -> bool:
        """Whether a command is a plain `cd` to it."""
        if not isinstance(node, Simple) or node.assignments or node.redirects or not node.words:
            return False
        name, *words = node.words
        if name.plain != "cd":
            return False
        while words and (option := words[0].plain) and _OPTION.fullmatch(option):
            words.pop(0)
        if words and words[0].plain == "--":
            words.pop(0)
        return len(words) == 1 and self._path(words[0]) == self.cwd

    def _path(self, word: RawWord) -> str | None:
        """The path a word stands for, if that can be said."""
        texts: list[str] = []
        for part in word.parts:
            text = self._text(part, first=not texts, last=part is word.parts[-1])
            if text is None:
                return None
            texts.append(text)
        path = "".join(texts)
        if path in {"", "-"} or (self.moved and not path.startswith("/")):
            return None
        return _normal(join(self.cwd, path))

    def _text(self, part: Part, *, first: bool, last: bool) -> str | None:
        match part:
            case Text(value, quoted=True):
                return value
            case Text(value) if _EXPANDS.search(value):
                return None
            case Text(value) if first and value.startswith("~"):
                return self._tilde(value, last=last)
            case Text(value):
                return value
            case Parameter("HOME" | "PWD" as name, "", quoted=quoted):
                found = self.home if name == "HOME" else self._here
                return found if found and (quoted or not _SPLITS.search(found)) else None
            case _:
                return None

    def _tilde(self, text: str, *, last: bool) -> str | None:
        """The start of a word with its `~` put in; a quote in the prefix leaves it as it is."""
        prefix, slash, rest = text.partition("/")
        found = {"~": self.home, "~+": self._here}.get(prefix) if slash or last else None
        return f"{found}{slash}{rest}" if found else None

    @property
    def _here(self) -> str | None:
        return None if self.moved else self.cwd


def _normal(path: str) -> str:
    return "/" + normpath(path).lstrip("/") if path.startswith("/") else normpath(path)


def _trimmed(text: str) -> str:
    """Without the blanks around it, unless the last one is escaped."""
    short = text.rstrip(" \t\n")
    return (text if short.endswith("\\") else short).lstrip(" \t\n")
