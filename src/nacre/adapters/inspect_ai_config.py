"""What a task says of its sandbox: the settings that hold every command of its samples."""

import os
import tomllib
from pathlib import Path
from typing import Any, cast

from nacre.config.files import read_text
from nacre.config.rules import PERMISSIONS
from nacre.errors import ConfigError
from nacre.tool import Bash

try:
    from pydantic import BaseModel, ValidationError
except ImportError as error:
    raise ConfigError(
        f"Inspect cannot be imported ({error}); pip install 'nacre[inspect-ai]'"
    ) from error

__all__ = ("NacreConfig", "NacreRules", "config_of", "tool_for")


class NacreRules(BaseModel, frozen=True, extra="forbid"):
    """Rules, as they stand under `permissions` in a file."""

    deny: tuple[str, ...] = ()
    ask: tuple[str, ...] = ()
    allow: tuple[str, ...] = ()
    mode: str | None = None
    default: str | None = None


class NacreConfig(BaseModel, frozen=True, extra="forbid"):
    """The settings of `nacre.Bash` that a task may choose; the workspace is each sample's own.

    `rules` is a file of rules, or what it holds. Relative paths are taken from the current
    directory, and in a file of settings from its folder.
    """

    sandbox: str | None = None
    confinement: str | None = None
    network: str | None = None
    write: tuple[str, ...] = ()
    deny_read: tuple[str, ...] = ()
    protect: tuple[str, ...] = ()
    limits: tuple[str, ...] = ()
    pass_env: tuple[str, ...] = ()
    rules: str | NacreRules | None = None
    state: str | None = None


def config_of(given: BaseModel | str | None) -> NacreConfig:
    """What a task's configuration amounts to: nothing, a model, or a file of settings.

    Raises:
        ConfigError: If it is none of these, or the file cannot be used.
    """
    match given:
        case None:
            return NacreConfig()
        case NacreConfig():
            return given
        case str(path):
            return _read(Path(path).absolute())
        case _:
            raise ConfigError(f"{given!r:.100} is no configuration; give NacreConfig, or a file")


def tool_for(config: NacreConfig, workspace: str) -> Bash:
    """A tool for one sample.

    Raises:
        ConfigError: If a setting cannot be used as given.
    """
    rules = config.rules
    return Bash(
        workspace=workspace,
        sandbox=config.sandbox,
        confinement=config.confinement,
        network=config.network,
        write=_absolute(config.write),
        deny_read=_absolute(config.deny_read),
        protect=config.protect,
        limits=config.limits,
        pass_env=config.pass_env,
        rules=rules.model_dump(exclude_defaults=True) if isinstance(rules, NacreRules) else rules,
        state=config.state,
    )


def _read(path: Path) -> NacreConfig:
    text = read_text(path)
    if text is None:
        raise ConfigError(f"there is no file {str(path)!r}; write it, or leave it out")
    try:
        table = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise ConfigError(f"{path}: is no TOML: {error}") from None
    if PERMISSIONS in table:
        table = {**table, "rules": str(path)}
        del table[PERMISSIONS]
    try:
        config = NacreConfig.model_validate(table)
    except ValidationError as error:
        first = error.errors()[0]
        name = ".".join(str(part) for part in first["loc"])
        raise ConfigError(f"{path}: {name}: {first['msg']}") from None
    return _from_folder(config, path.parent)


def _from_folder(config: NacreConfig, folder: Path) -> NacreConfig:
    moved: dict[str, Any] = {
        name: tuple(str(folder / os.path.expanduser(each)) for each in getattr(config, name))
        for name in ("write", "deny_read")
    }
    for name in ("rules", "state"):
        if isinstance(value := cast("object", getattr(config, name)), str):
            moved[name] = str(folder / os.path.expanduser(value))
    return config.model_copy(update=moved)


def _absolute(paths: tuple[str, ...]) -> list[str]:
    return [os.path.abspath(os.path.expanduser(path)) for path in paths]
