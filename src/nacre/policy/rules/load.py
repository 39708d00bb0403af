"""Rule files to layers. Whatever is wrong is an error with its file, line and column."""

from collections.abc import Iterator, Mapping
from enum import Enum
from typing import cast

from nacre.errors import RuleError
from nacre.model.verdict import Decision
from nacre.policy.rules.document import Document, Path
from nacre.policy.rules.examples import check_example
from nacre.policy.rules.layer import Mode, RuleLists
from nacre.policy.rules.rule import TOOL, Rule, parse_rule
from nacre.policy.rules.table import Row, RuleTable, parse_wildcard

__all__ = ("Notation", "load_rules", "load_text")

_SECTION = "permissions"
_LISTS = ("allow", "ask", "deny")
_LIST_KEYS = ("mode", "default", *_LISTS)
_TABLE_KEYS = ("default_action", "rule")
_ROW_KEYS = ("tool", "pattern", "action")
_ENTRY_KEYS = ("rule", "reason", "suggestion", "match", "not_match")
_DECISIONS = {each.name.lower(): each for each in Decision}


class Notation(Enum):
    """How rules are written in the files of a dialect."""

    PLAIN = "plain"
    COLON = "the first colon of a pattern is a blank: Bash(git:add *)"
    ORDERED = "a table of which the first row that matches decides"


def load_text(
    text: str, origin: str, notation: Notation = Notation.PLAIN
) -> RuleLists | RuleTable | None:
    """Read the `permissions` of a file; nothing if it has none.

    The file is TOML if its name, which is the end of `origin`, says so, or else YAML.

    Raises:
        RuleError: If something in it cannot be used as written.
    """
    if origin.endswith(".toml"):
        from nacre.policy.rules.from_toml import read_toml as read
    else:
        from nacre.policy.rules.from_yaml import read_yaml as read
    document = read(text, origin)
    if document.data is None:
        return None
    top = _mapping(document, (), document.data)
    if _SECTION not in top:
        for key in (*_LISTS, *_TABLE_KEYS):
            if key in top:
                where = document.place((key,), key=True)
                raise RuleError(f"{where}: rules belong under {_SECTION!r}: move {key!r} there")
        return None
    return _Loader(document, notation).layer((_SECTION,), top[_SECTION])


def load_rules(
    rules: Mapping[str, object], origin: str, notation: Notation = Notation.PLAIN
) -> RuleLists | RuleTable:
    """Make a layer of an object that has what stands under `permissions` in a file.

    Raises:
        RuleError: If something in it cannot be used as given.
    """
    return _Loader(Document(origin=origin, data=rules), notation).layer((), rules)


class _Loader:
    def __init__(self, document: Document, notation: Notation) -> None:
        self._document = document
        self._notation = notation

    def layer(self, path: Path, data: object) -> RuleLists | RuleTable:
        given = _mapping(self._document, path, {} if data is None else data)
        ordered = not given.keys().isdisjoint(_TABLE_KEYS) or (
            self._notation is Notation.ORDERED and given.keys().isdisjoint(_LIST_KEYS)
        )
        self._known(path, given, _TABLE_KEYS if ordered else _LIST_KEYS)
        return self._table(path, given) if ordered else self._lists(path, given)

    def _lists(self, path: Path, given: Mapping[str, object]) -> RuleLists:
        modes = {mode.value: mode for mode in Mode}
        mode = given.get("mode", Mode.DEFAULT.value)
        if not isinstance(mode, str) or mode not in modes:
            raise self._error(
                (*path, "mode"), f"invalid mode {mode!r:.60}: use one of {_or(modes)}"
            )
        deny, ask, allow = (
            tuple(self._rules((*path, name), given.get(name), _DECISIONS[name]))
            for name in ("deny", "ask", "allow")
        )
        return RuleLists(
            deny=deny,
            ask=ask,
            allow=allow,
            mode=modes[mode],
            default=self._decision((*path, "default"), given["default"])
            if "default" in given
            else None,
            origin=self._document.line(path),
        )

    def _rules(self, path: Path, data: object, decision: Decision) -> Iterator[Rule]:
        for at, entry in enumerate(self._list(path, data)):
            yield self._rule((*path, at), entry, decision)

    def _rule(self, path: Path, entry: object, decision: Decision) -> Rule:
        if isinstance(entry, str):
            return self._parsed(path, entry, decision)
        given = _mapping(self._document, path, entry, "a rule, or a mapping that has one")
        self._known(path, given, _ENTRY_KEYS)
        if "rule" not in given:
            raise self._error(path, "the key 'rule' is missing: write rule: Bash(git push:*)")
        texts = {
            key: self._text((*path, key), given.get(key, ""))
            for key in ("rule", "reason", "suggestion")
        }
        rule = self._parsed((*path, "rule"), texts["rule"], decision, texts)
        for key in ("match", "not_match"):
            for at, example in enumerate(self._list((*path, key), given.get(key))):
                here = (*path, key, at)
                try:
                    check_example(rule, self._text(here, example), wanted=key == "match")
                except RuleError as error:
                    raise self._error(here, str(error)) from error
        return rule

    def _parsed(
        self, path: Path, text: str, decision: Decision, texts: Mapping[str, str] | None = None
    ) -> Rule:
        try:
            return parse_rule(
                text,
                decision,
                origin=self._document.line(path),
                first_colon_is_blank=self._notation is Notation.COLON,
                reason=texts["reason"] if texts else "",
                suggestion=texts["suggestion"] if texts else "",
            )
        except RuleError as error:
            raise self._error(path, self._misfit(path, error)) from error

    def _misfit(self, path: Path, error: RuleError) -> str:
        """What is wrong with a rule; where colons are blanks, with its index, as it is said there."""
        if self._notation is not Notation.COLON:
            return str(error)
        at = next(step for step in reversed(path) if isinstance(step, int))
        return f"Permission rule at index {at} is invalid: {error}"

    def _table(self, path: Path, given: Mapping[str, object]) -> RuleTable:
        if "default_action" not in given:
            raise self._error(
                path, "permissions.default_action is missing: set it to allow, ask or deny"
            )
        rows = self._list((*path, "rule"), given.get("rule"))
        return RuleTable(
            default=self._decision((*path, "default_action"), given["default_action"]),
            rows=tuple(self._row((*path, "rule", at), row) for at, row in enumerate(rows)),
            origin=self._document.line((*path, "default_action")),
        )

    def _row(self, path: Path, data: object) -> Row:
        given = _mapping(self._document, path, data)
        self._known(path, given, _ROW_KEYS)
        for key in _ROW_KEYS:
            if key not in given:
                raise self._error(path, f"the key {key!r} is missing: a rule has {_and(_ROW_KEYS)}")
        tool, pattern = (self._text((*path, key), given[key]) for key in ("tool", "pattern"))
        return Row(
            action=self._decision((*path, "action"), given["action"]),
            pattern=parse_wildcard(pattern) if tool.lower() == TOOL.lower() else None,
            text=f"{tool} {pattern!r}",
            origin=self._document.line(path),
        )

    def _decision(self, path: Path, data: object) -> Decision:
        decision = _DECISIONS.get(data) if isinstance(data, str) else None
        if decision is None:
            raise self._error(path, f"{data!r:.60} is no decision: use one of {_or(_DECISIONS)}")
        return decision

    def _text(self, path: Path, data: object) -> str:
        if not isinstance(data, str):
            raise self._error(path, f"{data!r:.60} is no text: put it in quotes")
        return data

    def _list(self, path: Path, data: object) -> list[object]:
        if data is None:
            return []
        if not isinstance(data, list | tuple):
            raise self._error(path, f"{data!r:.60} is no list: put it in brackets")
        return list(cast("list[object]", data))

    def _known(self, path: Path, given: Mapping[str, object], keys: tuple[str, ...]) -> None:
        for key in given:
            if key not in keys:
                where = self._document.place((*path, key), key=True)
                raise RuleError(f"{where}: unknown key {key!r:.60}: use {_or(keys)}")

    def _error(self, path: Path, said: str) -> RuleError:
        return RuleError(f"{self._document.place(path)}: {said}")


def _mapping(
    document: Document, path: Path, data: object, wanted: str = "a mapping"
) -> Mapping[str, object]:
    if not isinstance(data, Mapping):
        raise RuleError(f"{document.place(path)}: {data!r:.60} is not {wanted}")
    return cast("Mapping[str, object]", data)


def _or(names: Mapping[str, object] | tuple[str, ...]) -> str:
    *first, last = names
    return f"{', '.join(first)} or {last}"


def _and(names: tuple[str, ...]) -> str:
    *first, last = names
    return f"{', '.join(first)} and {last}"
