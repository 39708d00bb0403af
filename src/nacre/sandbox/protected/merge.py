"""What a script may change of git's configuration files, and what is undone.

The result is made of the old text: what was there stays byte for byte, and only the
permitted keys follow the script. Comments are nobody's business but the user's, so a
script's comments go as well.
"""

from collections.abc import Callable, Iterable

from nacre.model.value import dataclass
from nacre.sandbox.protected.gitconfig import (
    ConfigText,
    Entry,
    UnreadableError,
    parse,
    write_entry,
    write_section,
)
from nacre.sandbox.protected.keys import is_command, permitted

__all__ = ("Merged", "merge_config", "merge_modules")

_Name = tuple[str, str | None, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Merged:
    """What a file should hold, None for no file; and what had to be undone."""

    data: bytes | None
    undone: tuple[str, ...]


def merge_config(old: bytes | None, new: bytes, inside: Callable[[str], bool]) -> Merged:
    """Keep the permitted changes of a configuration; `old` None if there was none.

    `inside` says of a folder, relative to the git directory, whether a script may
    write in it.
    """
    try:
        before, after = parse(old or b""), parse(new)
    except UnreadableError as error:
        return Merged(data=old, undone=(f"cannot be read: {error}",))
    if old is None and after.comments and not after.entries:
        headers = [after.text[start:end] for start, end in after.headers]
        data = "".join(f"{header}\n" for header in headers).encode("latin-1")
        return Merged(data=data or None, undone=("comments changed",))
    guarded = [_guarded(config, inside) for config in (before, after)]
    undone = _differences(*guarded)
    if not undone:
        if old is None or before.comments == after.comments:
            return Merged(data=new, undone=())
        undone = ("comments changed",)
    data = _rebuild(before, after, inside).encode("latin-1")
    return Merged(data=data if data or old is not None else None, undone=undone)


def merge_modules(old: bytes | None, new: bytes) -> Merged:
    """Keep the changes of a `.gitmodules`, without new submodules that run commands."""
    known: set[tuple[_Name, str | None]] = set()
    try:
        if old is not None:
            known = {(entry.name, entry.value) for entry in parse(old).entries if is_command(entry)}
        after = parse(new)
    except UnreadableError as error:
        # A merge conflict cannot be read by git either; what might be meant for it can.
        if b"!" not in new:
            return Merged(data=new, undone=())
        return Merged(data=old, undone=(f"cannot be read: {error}",))
    bad = [e for e in after.entries if is_command(e) and (e.name, e.value) not in known]
    if not bad:
        return Merged(data=new, undone=())
    poisoned = {entry.subsection for entry in bad}
    left = _without(after, lambda e: e.section == "submodule" and e.subsection in poisoned)
    data = left.encode("latin-1") if left.strip() or old is not None else None
    return Merged(data=data, undone=tuple(f"key {entry.shown} set" for entry in bad))


def _guarded(config: ConfigText, inside: Callable[[str], bool]) -> list[tuple[_Name, Entry]]:
    return [(entry.name, entry) for entry in config.entries if not permitted(entry, inside)]


def _differences(
    before: list[tuple[_Name, Entry]], after: list[tuple[_Name, Entry]]
) -> tuple[str, ...]:
    old = [(name, entry.value) for name, entry in before]
    new = [(name, entry.value) for name, entry in after]
    if old == new:
        return ()
    said: dict[str, None] = {}
    for name, entry in [*after, *before]:
        values = [[v for n, v in side if n == name] for side in (old, new)]
        if values[0] != values[1]:
            verb = "set" if not values[0] else "removed" if not values[1] else "changed"
            said[f"key {entry.shown} {verb}"] = None
    return tuple(said) or ("keys reordered",)


def _rebuild(before: ConfigText, after: ConfigText, inside: Callable[[str], bool]) -> str:
    """The old text with the permitted keys as they are in the new one."""
    old = _values(e for e in before.entries if permitted(e, inside))
    new = _values(e for e in after.entries if permitted(e, inside))
    # A key of which some values are guarded stays as a whole: git takes the last one.
    mixed = {e.name for c in (before, after) for e in c.entries if not permitted(e, inside)}
    changed = {name for name in {*old, *new} - mixed if old.get(name) != new.get(name)}
    text = _without(before, lambda entry: entry.name in changed)
    if text and not text.endswith("\n"):
        text += "\n"
    section: tuple[str, str | None] | None = None
    for name, values in new.items():
        if name not in changed:
            continue
        if section != name[:2]:
            section = name[:2]
            text += write_section(*section)
        text += "".join(write_entry(name[2], value) for value in values)
    return text


def _values(entries: Iterable[Entry]) -> dict[_Name, list[str | None]]:
    found: dict[_Name, list[str | None]] = {}
    for entry in entries:
        found.setdefault(entry.name, []).append(entry.value)
    return found


def _without(config: ConfigText, dropped: Callable[[Entry], bool]) -> str:
    """The text less some entries, and less the headers that then have none."""
    spans: list[tuple[int, int]] = []
    starts = [start for start, _ in config.headers]
    for number, (start, end) in enumerate(config.headers):
        until = starts[number + 1] if number + 1 < len(starts) else len(config.text)
        entries = [entry for entry in config.entries if end <= entry.start < until]
        gone = [entry for entry in entries if dropped(entry)]
        spans += [(entry.start, entry.end) for entry in gone]
        if gone and len(gone) == len(entries):
            spans.append((start, end))
    text = config.text
    for start, end in sorted(spans, reverse=True):
        text = _cut(text, start, end)
    return text


def _cut(text: str, start: int, end: int) -> str:
    """Remove a span, and its line if nothing else is on it."""
    line = text.rfind("\n", 0, start) + 1
    rest = text.find("\n", end)
    rest = len(text) if rest < 0 else rest + 1
    if not text[line:start].strip() and not text[end:rest].strip():
        return text[:line] + text[rest:]
    return text[:start] + text[end:]
