"""Settings and rules, put together from every place they may come from.

    defaults < the user's file < the project's files < variables < what is given

A later place wins, but a project's file only where it is stricter: an agent can
write that file. Rules are not merged at all: each place has a layer of its own.
"""

import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, cast

from nacre.config.files import PROJECT_FILES, read_text, user_file
from nacre.config.found import PROJECT, Config, Found
from nacre.config.rules import (
    PERMISSIONS,
    Rules,
    Sourced,
    layer_of_file,
    layer_of_rules,
    layer_of_text,
)
from nacre.config.settings import PATHS, SETTINGS, Setting
from nacre.errors import ConfigError

if TYPE_CHECKING:
    from nacre.policy.rules.document import Document

__all__ = ("gather",)

_GIVEN = "given"


def gather(
    workspace: Path | None,
    given: Mapping[str, object] | None = None,
    rules: Rules | Sequence[Rules] | None = None,
) -> Config:
    """Read every place, in order; without a workspace there is no project.

    `given` are the flags of a command or the keywords of a host; None is not given.

    Raises:
        ConfigError: If something cannot be used as written.
    """
    places = _Places()
    if own := user_file():
        places.add_file(own, trusted=True)
    if workspace:
        for name in PROJECT_FILES:
            places.add_file(workspace / name, trusted=False)
    places.add_variables(os.environ)
    places.add_given(given or {}, rules)
    config = Config(found=places.found, aside=tuple(places.aside))
    return Config(
        found=config.found, aside=config.aside, rules=tuple(places.layers(config.dialect))
    )


class _RuleText(NamedTuple):
    """The text of a file that may have rules."""

    text: str
    path: Path


class _Places:
    """What was found so far. Rules are read last: how, depends on the dialect."""

    def __init__(self) -> None:
        self.found: dict[str, Found] = {}
        self.aside: list[tuple[str, Found]] = []
        self._rules: list[tuple[str, _RuleText | Rules]] = []

    def add_file(self, path: Path, *, trusted: bool) -> None:
        """Add the settings and rules of a file, if there is one."""
        text = read_text(path)
        if text is None:
            return
        source = f"user {path}" if trusted else f"{PROJECT}{path}"
        if path.suffix == ".toml":
            from nacre.policy.rules.from_toml import read_toml

            document = read_toml(text, str(path))
            table = cast("Mapping[str, object]", document.data)
            for name in table:
                if name != PERMISSIONS:
                    found = _setting(document, name, source)
                    if trusted or self._tightens(document, name, found):
                        self._add(name, found)
            if PERMISSIONS not in table:
                return
        self._rules.append((source, _RuleText(text, path)))

    def _add(self, name: str, found: Found) -> None:
        """Put a setting in the place of an earlier one, or beside it."""
        earlier = self.found.get(name)
        if earlier and SETTINGS[name].adds:
            both = (*cast("tuple[str, ...]", earlier.value), *cast("tuple[str, ...]", found.value))
            found = Found(tuple(dict.fromkeys(both)), f"{earlier.source}, {found.source}")
        self.found[name] = found

    def _tightens(self, document: "Document", name: str, found: Found) -> bool:
        """Whether a project's file may say this; if it need not be heard, it is noted."""
        setting, current = SETTINGS[name], self.found.get(name)
        if setting.tightens is None or found.value in setting.never:
            what = f"{name} = {found.value!r:.60}" if setting.tightens else repr(name)
            raise ConfigError(
                f"{document.place((name,), key=True)}: a project's file may not set {what},"
                f" because an agent can write it; put it into {user_file() or 'a variable'}"
            )
        if setting.tightens(found.value, current.value if current else None):
            return True
        self.aside.append((name, found))
        return False

    def add_variables(self, environ: Mapping[str, str]) -> None:
        """Add what the variables of this process say."""
        for name, setting in SETTINGS.items():
            variable = f"NACRE_{name.upper()}"
            if text := environ.get(variable):
                self._add(name, _read(setting, text, f"{variable}={text!r:.60}", variable))
        for path in environ.get("NACRE_RULES", "").split(os.pathsep):
            if path:
                self._rules.append(("NACRE_RULES", path))

    def add_given(self, given: Mapping[str, object], rules: Rules | Sequence[Rules] | None) -> None:
        """Add what a host or a person says in so many words."""
        for name, value in given.items():
            if value is not None:
                read = _read(SETTINGS[name], value, f"{name}={value!r:.60}", _GIVEN)
                self._add(name, read)
        if rules is None:
            return
        several = (rules,) if isinstance(rules, str | os.PathLike | Mapping) else rules
        self._rules += [(_GIVEN, each) for each in several]

    def layers(self, dialect: str) -> Iterator[Sourced]:
        """Every layer of rules."""
        for source, rules in self._rules:
            match rules:
                case _RuleText(text, path):
                    if layer := layer_of_text(text, path, dialect):
                        yield Sourced(layer, source)
                case str() | os.PathLike():
                    path = Path(rules)
                    yield Sourced(layer_of_file(path, dialect), f"{source} {path}")
                case _:
                    yield Sourced(layer_of_rules(rules, dialect), source)


def _setting(document: "Document", name: str, source: str) -> Found:
    """A setting of a file."""
    setting = SETTINGS.get(name)
    place = document.place((name,), key=True)
    if setting is None:
        raise ConfigError(f"{place}: there is no setting {name!r:.60}; {_near(name)}")
    value = cast("Mapping[str, object]", document.data)[name]
    found = _read(setting, value, f"{place}: {name} = {value!r:.60}", source)
    if name not in PATHS:
        return found
    folder = Path(document.origin).parent
    match found.value:
        case str(path):
            return Found(str(folder / path), source)
        case tuple(paths):
            return Found(tuple(str(folder / path) for path in paths), source)
        case _:
            return found


def _read(setting: Setting, value: object, written: str, source: str) -> Found:
    try:
        return Found(setting.read(value), source)
    except ValueError as error:
        raise ConfigError(f"{written} {error}") from None


def _near(name: str) -> str:
    from difflib import get_close_matches

    near = get_close_matches(name, SETTINGS, n=1)
    return f"did you mean {near[0]!r}?" if near else f"the settings are {', '.join(SETTINGS)}"
