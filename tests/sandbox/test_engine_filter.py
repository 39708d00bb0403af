"""What the filter of a container allows, read as an engine reads it."""

import json
from pathlib import Path
from typing import NotRequired, TypedDict, cast

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from nacre.sandbox.calls import this_machine
from nacre.sandbox.engine_filter import engine_filter, kept_filter
from nacre.sandbox.harmless import HARMLESS
from nacre.sandbox.seccomp import NEVER, REFUSED_IOCTLS, Sockets

_INET, _UNIX, _STREAM, _DATAGRAM, _CLOEXEC = 2, 1, 1, 2, 0o2000000


class _Test(TypedDict):
    index: int
    op: str
    value: int
    valueTwo: NotRequired[int]


class _Rule(TypedDict):
    names: list[str]
    action: str
    args: list[_Test]


def _rules(sockets: Sockets = Sockets.INTERNET) -> list[_Rule]:
    return cast("list[_Rule]", json.loads(engine_filter(sockets, this_machine()))["syscalls"])


_RULES = _rules()


def _holds(test: _Test, arguments: tuple[int, ...]) -> bool:
    argument = arguments[test["index"]]
    match test["op"]:
        case "SCMP_CMP_EQ":
            return argument == test["value"]
        case "SCMP_CMP_NE":
            return argument != test["value"]
        case _:
            return argument & test["value"] == test.get("valueTwo")


def _allows(call: str, *arguments: int, rules: list[_Rule] = _RULES) -> bool:
    given_to = (*arguments, 0, 0, 0)
    return any(
        rule["action"] == "SCMP_ACT_ALLOW" and all(_holds(test, given_to) for test in rule["args"])
        for rule in rules
        if call in rule["names"]
    )


def test_nothing_that_is_refused_elsewhere_is_harmless() -> None:
    assert set(NEVER) & HARMLESS == set()
    assert [call for call in NEVER if _allows(call)] == []


def test_no_rule_tests_an_argument_twice() -> None:
    for rule in _RULES:
        tested = [test["index"] for test in rule["args"]]
        assert len(set(tested)) == len(tested)


@given(st.integers(0, 2**32 - 1))
@example(0x5401)
@example(0x5413)
def test_every_ioctl_is_allowed_but_those_that_are_refused(request_: int) -> None:
    assert _allows("ioctl", 1, request_) == (request_ not in REFUSED_IOCTLS)
    for refused in REFUSED_IOCTLS:
        assert not _allows("ioctl", 1, refused | 1 << 40)


@pytest.mark.parametrize(
    ("call", "arguments", "allowed"),
    [
        ("socket", (_INET, _STREAM | _CLOEXEC, 0), True),
        ("socket", (_INET, _DATAGRAM, 17), True),
        ("socket", (_INET, _DATAGRAM, 136), False),
        ("socket", (_INET, 3, 0), False),
        ("socket", (_UNIX, _STREAM, 0), False),
        ("socket", (16, 3, 0), True),
        ("socket", (16, 3, 9), False),
        ("socket", (40, _STREAM, 0), False),
        ("socketpair", (_UNIX, _STREAM | _CLOEXEC, 0), True),
        ("socketpair", (_UNIX, _DATAGRAM, 0), False),
        ("clone", (0x1200011,), True),
        ("clone", (0x10000011,), False),
        ("unshare", (0x400,), True),
        ("unshare", (0x80,), False),
        ("clone3", (), False),
        ("chmod", (0, 0o755), True),
        ("fchmodat", (0, 0, 0o4755), False),
        ("openat", (0, 0, 0, 0o4755), True),
        ("openat", (0, 0, 0o101, 0o4755), False),
        ("openat", (0, 0, 0o101, 0o644), True),
        ("prlimit64", (0, 7, 5), True),
        ("prlimit64", (9, 7, 0), True),
        ("prlimit64", (9, 7, 5), False),
        ("personality", (0xFFFFFFFF,), True),
        ("personality", (0x40000,), False),
        ("setpriority", (0, 5, 5), True),
        ("setpriority", (2, 0, 19), False),
        ("write", (1, 2, 3), True),
    ],
)
def test_a_call_is_allowed_or_not_by_its_arguments(
    call: str, arguments: tuple[int, ...], *, allowed: bool
) -> None:
    assert _allows(call, *arguments) is allowed


def test_where_everything_is_open_so_are_sockets() -> None:
    rules = _rules(Sockets.ALL)
    assert _allows("socket", _UNIX, _STREAM, 0, rules=rules)
    assert not _allows("keyctl", rules=rules)


def test_a_file_that_was_changed_is_written_again(tmp_path: Path) -> None:
    text = engine_filter(Sockets.INTERNET, this_machine())
    path = Path(kept_filter(text, tmp_path))
    path.write_text("{}")
    assert kept_filter(text, tmp_path) == str(path)
    assert path.read_text() == text
    assert [each.name for each in path.parent.iterdir()] == [path.name]
