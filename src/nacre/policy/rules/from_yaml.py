"""YAML to a document: mappings, lists and plain values, and nothing else is built."""

from collections.abc import Iterator

import yaml

from nacre.errors import RuleError
from nacre.model.expression import expression
from nacre.policy.rules.document import Document, Mark, Path

__all__ = ("read_yaml",)

# More than any rule file has; a file is read no further.
_MOST_VALUES = 20_000
_DEEPEST = 40

_WORDS = {
    "": None,
    "~": None,
    "null": None,
    **dict.fromkeys(("true", "yes", "on"), True),
    **dict.fromkeys(("false", "no", "off"), False),
}
_NUMBER = expression(r"[-+]?\d{1,18}")


def read_yaml(text: str, origin: str) -> Document:
    """Read a text as one document of YAML.

    Raises:
        RuleError: If it is none, has a key twice or an alias, or goes on without end.
    """
    reader = _Reader(text, origin)
    try:
        data = reader.document()
    except yaml.MarkedYAMLError as error:
        found = error.problem_mark
        mark = Mark(found.line + 1, found.column + 1) if found else Mark(1, 1)
        said = error.problem or error.context or "it cannot be read"
        raise reader.error(mark, f"this is not YAML: {said}") from error
    except yaml.YAMLError as error:
        said = " ".join(str(error).split())
        raise RuleError(f"{origin}: this is not YAML: {said:.200}") from error
    return Document(origin=origin, data=data, values=reader.values, keys=reader.keys)


class _Reader:
    def __init__(self, text: str, origin: str) -> None:
        self.values: dict[Path, Mark] = {}
        self.keys: dict[Path, Mark] = {}
        self._origin = origin
        self._events: Iterator[yaml.Event] = yaml.parse(text, Loader=yaml.SafeLoader)

    def document(self) -> object:
        for event in self._events:
            if isinstance(event, yaml.DocumentStartEvent):
                value = self._value(next(self._events), ())
                self._expect_end()
                return value
        return None

    def _expect_end(self) -> None:
        """Refuse a second document: its rules would be left out without a word."""
        for event in self._events:
            if isinstance(event, yaml.DocumentStartEvent):
                mark = Mark(event.start_mark.line + 1, event.start_mark.column + 1)
                raise self.error(mark, "a second document begins; put everything into one")

    def error(self, mark: Mark, said: str) -> RuleError:
        return RuleError(f"{self._origin}:{mark.line}:{mark.column}: {said}")

    def _value(self, event: yaml.Event, path: Path) -> object:
        mark = self.values[path] = _mark(event)
        if len(self.values) > _MOST_VALUES or len(path) > _DEEPEST:
            raise self.error(mark, "the file holds too much: keep rules in a file of their own")
        match event:
            case yaml.ScalarEvent():
                return _scalar(event)
            case yaml.SequenceStartEvent():
                return self._list(path)
            case yaml.MappingStartEvent():
                return self._mapping(path)
            case _:
                raise self.error(mark, "aliases are not read here: write the value out")

    def _list(self, path: Path) -> list[object]:
        found: list[object] = []
        for event in self._events:
            if isinstance(event, yaml.SequenceEndEvent):
                break
            found.append(self._value(event, (*path, len(found))))
        return found

    def _mapping(self, path: Path) -> dict[str, object]:
        found: dict[str, object] = {}
        for event in self._events:
            if isinstance(event, yaml.MappingEndEvent):
                break
            mark = _mark(event)
            if not isinstance(event, yaml.ScalarEvent):
                raise self.error(mark, "a key must be a word")
            name = event.value
            if name in found:
                raise self.error(mark, f"the key {name!r:.60} is there twice: join the two")
            self.keys[*path, name] = mark
            found[name] = self._value(next(self._events), (*path, name))
        return found


def _mark(event: yaml.Event) -> Mark:
    return Mark(event.start_mark.line + 1, event.start_mark.column + 1)


def _scalar(event: yaml.ScalarEvent) -> str | int | bool | None:
    value = event.value
    if event.style or event.tag:
        return value
    if value.lower() in _WORDS:
        return _WORDS[value.lower()]
    return int(value) if _NUMBER.fullmatch(value) else value
