"""Git's configuration format, read as git reads it.

Texts are bytes held as Latin-1 strings, so that every file can be read and written
back unchanged. What git refuses is refused here too; a NUL byte is refused although
git ends a value there, because two readers that differ about it are a way past one.
"""

from nacre.errors import NacreError
from nacre.model.value import dataclass

__all__ = ("ConfigText", "Entry", "UnreadableError", "parse", "write_entry", "write_section")

_ESCAPES = {"t": "\t", "b": "\b", "n": "\n", "\\": "\\", '"': '"'}
_BLANK = " \t\r"
_COMMENT = "#;"


class UnreadableError(NacreError):
    """The text is not in git's format."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """One key with one value, and where it stands in the text.

    `value` is None for a key without `=`, which git takes for true.
    """

    section: str
    subsection: str | None
    key: str
    value: str | None
    start: int
    end: int

    @property
    def name(self) -> tuple[str, str | None, str]:
        """What git calls it, in parts."""
        return self.section, self.subsection, self.key

    @property
    def shown(self) -> str:
        """What a person calls it."""
        parts = [part for part in self.name if part is not None]
        return ".".join(parts).encode("latin-1").decode("utf-8", "replace")


@dataclass(frozen=True, slots=True, kw_only=True)
class ConfigText:
    """A configuration: its entries in order, its comments, and its section headers."""

    text: str
    entries: tuple[Entry, ...]
    comments: tuple[str, ...]
    headers: tuple[tuple[int, int], ...]


def parse(data: bytes) -> ConfigText:
    """Read a configuration.

    Raises:
        UnreadableError: If git would refuse it.
    """
    return _Reader(data.decode("latin-1")).read()


def write_section(section: str, subsection: str | None) -> str:
    """The header line of a section, as git writes it."""
    if subsection is None:
        return f"[{section}]\n"
    quoted = subsection.replace("\\", "\\\\").replace('"', '\\"')
    return f'[{section} "{quoted}"]\n'


def write_entry(key: str, value: str | None) -> str:
    """The line of a key, as git writes it."""
    if value is None:
        return f"\t{key}\n"
    escaped = value.replace("\\", "\\\\").replace('"', '\\"')
    escaped = escaped.replace("\n", "\\n").replace("\t", "\\t").replace("\b", "\\b")
    bare = value == value.strip() and not any(mark in value for mark in _COMMENT + "\r")
    return f"\t{key} = {escaped}\n" if bare else f'\t{key} = "{escaped}"\n'


class _Reader:
    def __init__(self, text: str) -> None:
        self._source = text
        self._at = 3 if text.startswith("\xef\xbb\xbf") else 0
        self._section: str | None = None
        self._subsection: str | None = None
        self._entries: list[Entry] = []
        self._comments: list[str] = []
        self._headers: list[tuple[int, int]] = []

    def read(self) -> ConfigText:
        if "\0" in self._source:
            raise UnreadableError("has a NUL byte")
        while (char := self._peek()) != "":
            if char in _BLANK or char == "\n":
                self._at += 1
            elif char in _COMMENT:
                self._comment()
            elif char == "[":
                self._header()
            elif char.isascii() and char.isalpha() and self._section is not None:
                self._entry(self._section)
            else:
                raise UnreadableError(f"no key or section at byte {self._at}")
        return ConfigText(
            text=self._source,
            entries=tuple(self._entries),
            comments=tuple(self._comments),
            headers=tuple(self._headers),
        )

    def _peek(self) -> str:
        """The next character; the two of a line end count as one."""
        char = self._source[self._at : self._at + 1]
        if char == "\r" and self._source[self._at + 1 : self._at + 2] == "\n":
            self._at += 1
            return "\n"
        return char

    def _take(self) -> str:
        char = self._peek()
        self._at += 1
        return char

    def _comment(self) -> None:
        end = self._source.find("\n", self._at)
        end = len(self._source) if end < 0 else end
        self._comments.append(self._source[self._at : end].strip())
        self._at = end

    def _header(self) -> None:
        start = self._at
        self._at += 1
        name = ""
        while (char := self._take()) not in {"]", " ", "\t", "\r", "\n", ""}:
            if not (char.isascii() and (char.isalnum() or char in "-.")):
                raise UnreadableError(f"a section's name has {char!r}")
            name += char.lower()
        subsection = None
        if char not in {"]", ""}:
            subsection = self._quoted_subsection(char)
        if "." in name:
            name, _, rest = name.partition(".")
            subsection = rest if subsection is None else f"{rest}.{subsection}"
        if char == "" or (not name and subsection is None):
            raise UnreadableError("a section has no end or no name")
        self._section, self._subsection = name, subsection
        self._headers.append((start, self._at))

    def _quoted_subsection(self, char: str) -> str:
        while char in _BLANK:
            char = self._take()
            if char == "":
                break
        if char != '"':
            raise UnreadableError("a subsection is not in quotes")
        found: list[str] = []
        while (char := self._take()) != '"':
            if char == "\\":
                char = self._take()
            if char in {"", "\n"}:
                raise UnreadableError("a subsection does not end")
            found.append(char)
        if self._take() != "]":
            raise UnreadableError("a section does not end")
        return "".join(found)

    def _entry(self, section: str) -> None:
        start, key = self._at, ""
        while (char := self._peek()) and char.isascii() and (char.isalnum() or char == "-"):
            key += char.lower()
            self._at += 1
        while (char := self._peek()) in {" ", "\t"}:
            self._at += 1
        value: str | None = None
        if char == "=":
            self._at += 1
            value = self._value()
        elif char not in {"\n", ""}:
            raise UnreadableError(f"the key {key!r:.40} is followed by {char!r}")
        entry = Entry(
            section=section,
            subsection=self._subsection,
            key=key,
            value=value,
            start=start,
            end=self._at,
        )
        self._entries.append(entry)

    def _value(self) -> str:
        found: list[str] = []
        blank = 0  # how many blanks at the end are outside quotes
        quoted = False
        while (char := self._peek()) not in {"\n", ""}:
            if not quoted and char in _COMMENT:
                self._comment()
                break
            self._at += 1
            if not quoted and char in _BLANK:
                blank += bool(found)
                if found:
                    found.append(char)
                continue
            if char == '"':
                quoted = not quoted
                continue
            blank = 0
            if char == "\\":
                char = self._take()
                if char == "\n":
                    continue
                if char not in _ESCAPES:
                    raise UnreadableError(f"a value has the escape {char!r}")
                char = _ESCAPES[char]
            found.append(char)
        if quoted:
            raise UnreadableError("a quote does not end on its line")
        return "".join(found[: len(found) - blank])
