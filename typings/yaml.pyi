"""The part of PyYAML that nacre uses; the package ships no types."""

from collections.abc import Iterator

class Mark:
    line: int
    column: int

class Event:
    start_mark: Mark

class AliasEvent(Event): ...
class DocumentStartEvent(Event): ...
class MappingEndEvent(Event): ...
class MappingStartEvent(Event): ...
class SequenceEndEvent(Event): ...
class SequenceStartEvent(Event): ...

class ScalarEvent(Event):
    value: str
    style: str | None
    tag: str | None

class SafeLoader: ...
class YAMLError(Exception): ...

class MarkedYAMLError(YAMLError):
    context: str | None
    problem: str | None
    problem_mark: Mark | None

def parse(stream: str, Loader: type[SafeLoader]) -> Iterator[Event]: ...  # noqa: N803
