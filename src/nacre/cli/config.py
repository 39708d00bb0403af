"""`nacre config`: which settings and rules are in force, and where each came from."""

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, cast

import click

from nacre.config.files import PROJECT_FILES, user_file
from nacre.config.found import Config, Found
from nacre.config.layers import gather
from nacre.config.settings import SETTINGS, Value
from nacre.config.state import state_folder
from nacre.dialects.select import select
from nacre.sandbox.wanted import IDLE_SECONDS

if TYPE_CHECKING:
    from nacre.policy.rules.layer import Layer

__all__ = ("command",)

_EPILOG = """\b
Examples:
  nacre config
  nacre config --workspace ~/src/app --json
  NACRE_TIMEOUT=60 nacre config
"""
_DEFAULT = "default"


@click.command("config", epilog=_EPILOG)
@click.option("--workspace", metavar="DIR", help="The agent's folder; this one by default.")
@click.option("--rules", multiple=True, metavar="FILE", help="One more layer of rules.")
@click.option("--json", "as_json", is_flag=True, help="Print it as JSON.")
def command(*, workspace: str | None, rules: tuple[str, ...], as_json: bool) -> None:
    """Print each setting and each layer of rules in force, and where it came from."""
    folder = Path(workspace or ".").absolute()
    config = gather(folder, None, rules)
    settings = {name: config.found.get(name) or _default(name, config) for name in sorted(SETTINGS)}
    if as_json:
        click.echo(json.dumps(_fields(settings, config), indent=2))
        return
    for line in (*_lines(settings, config), "", *_places(folder)):
        click.echo(line)


def _default(name: str, config: Config) -> Found:
    """What holds when nobody named a setting."""
    posture = select(config.dialect).posture(os.environ)
    known: dict[str, Value] = {
        "confinement": posture.confinement,
        "container": "none",
        "deny_read": (),
        "idle_timeout": IDLE_SECONDS,
        "image": "none",
        "limits": (),
        "network": posture.network.value,
        "protect": (),
        "write": (),
        "dialect": config.dialect,
        "output_dir": "the state directory's",
        "on_timeout": posture.on_timeout.value,
        "pass_env": (),
        "sandbox": posture.sandbox,
        "state": str(state_folder(config)) if name == "state" else "",
        "timeout": "the dialect's",
    }
    return Found(known[name], _DEFAULT)


def _fields(settings: dict[str, Found], config: Config) -> dict[str, object]:
    return {
        "settings": {
            name: {"value": found.value, "source": found.source} for name, found in settings.items()
        },
        "rules": [{"source": each.source, **_rules(each.layer)} for each in config.rules],
        "set_aside": [
            {"setting": name, "value": found.value, "source": found.source}
            for name, found in config.aside
        ],
    }


def _lines(settings: dict[str, Found], config: Config) -> Iterator[str]:
    rows = [("SETTING", "VALUE", "FROM")]
    rows += [(name, _shown(found.value), found.source) for name, found in settings.items()]
    rows += [("rules", _summary(each.layer), each.source) for each in config.rules]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for name, value, source in rows:
        yield f"{name:{widths[0]}}  {value:{widths[1]}}  {source}"
    for name, found in config.aside:
        yield f"not stricter, so it does not count: {name} = {_shown(found.value)} in {found.source}"


def _rules(layer: "Layer") -> dict[str, object]:
    from nacre.policy.rules.layer import RuleLists
    from nacre.policy.rules.table import RuleTable

    match layer:
        case RuleLists():
            lists = {"deny": layer.deny, "ask": layer.ask, "allow": layer.allow}
            default = None if layer.default is None else layer.default.name.lower()
            return {
                "mode": layer.mode.value,
                "default": default,
                **{name: [rule.text for rule in rules] for name, rules in lists.items()},
            }
        case RuleTable():
            rows = [f"{row.action.name.lower()} {row.text}" for row in layer.rows]
            return {"default_action": layer.default.name.lower(), "rule": rows}
        case _:
            return {}


def _summary(layer: "Layer") -> str:
    rules = _rules(layer)
    if "default_action" in rules:
        return f"{len(cast('list[str]', rules['rule']))} in order, else {rules['default_action']}"
    counts = (
        f"{len(found)} {name}"
        for name in ("deny", "ask", "allow")
        if (found := cast("list[str]", rules[name]))
    )
    rest = f"else {rules['default']}" if rules["default"] else f"mode {rules['mode']}"
    return ", ".join((*counts, rest))


def _shown(value: Value) -> str:
    if isinstance(value, str):
        return value
    return " ".join(value) or "-" if isinstance(value, tuple) else f"{value:g}"


def _places(folder: Path) -> Iterator[str]:
    yield "read, where they exist:"
    for path in (user_file(), *(folder / name for name in PROJECT_FILES)):
        yield f"  {path}{'' if path and path.exists() else '  (not there)'}"
