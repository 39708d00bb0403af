import re
from pathlib import PurePath, PurePosixPath

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nacre.errors import ConfigError
from nacre.model.confinement import Confinement, Network
from nacre.sandbox.seatbelt import profile

Rule = tuple["str | Rule", ...]

WORKSPACE = Confinement(
    name="workspace",
    denied=(PurePath("/Volumes/me/.ssh"),),
    writable=(PurePath("/Volumes/me/work"),),
    protected=(PurePath("/Volumes/me/work/.git/hooks"),),
)
TOKEN = re.compile(r'\s*(?:([()])|"((?:[^"\\]|\\.)*)"|([^\s()"]+))', re.DOTALL)


def rules(text: str) -> list[Rule]:
    """Read a profile as its language is read: lists of words and strings."""
    stack: list[list[str | Rule]] = [[]]
    at = 0
    while at < len(text.rstrip()):
        token = TOKEN.match(text, at)
        assert token, f"not a token: {text[at : at + 20]!r}"
        at = token.end()
        if token[1] == "(":
            stack.append([])
        elif token[1] == ")":
            done = tuple(stack.pop())
            stack[-1].append(done)
        else:
            stack[-1].append(token[3] or "'" + _meant(token[2]))
    assert len(stack) == 1
    found = [item for item in stack[0] if isinstance(item, tuple)]
    assert len(found) == len(stack[0])
    return found


def _meant(text: str) -> str:
    data = re.sub(
        rb"\\(x[0-9a-f]{2}|.)",
        lambda found: bytes([int(found[1][1:], 16)]) if len(found[1]) == 3 else found[1],
        text.encode("utf-8", "surrogateescape"),
        flags=re.DOTALL,
    )
    return data.decode("utf-8", "surrogateescape")


def decided(text: str, operation: str, path: str) -> str:
    """What the last rule says that matches an operation on a path."""
    answer = "deny"
    for action, *rest in rules(text):
        names = [name for name in rest if isinstance(name, str)]
        filters = [item for item in rest if isinstance(item, tuple)]
        if not any(_covers(name, operation) for name in names):
            continue
        if not filters or any(_matches(item, path) for item in filters):
            answer = str(action)
    return answer


def _covers(name: str, operation: str) -> bool:
    return name in {operation, "default"} or (
        name.endswith("*") and operation.startswith(name.removesuffix("*"))
    )


def _matches(item: Rule, path: str) -> bool:
    kind, value = str(item[0]), str(item[1]).removeprefix("'")
    inside = path == value or path.startswith(value.rstrip("/") + "/")
    return (kind == "literal" and path == value) or (kind == "subpath" and inside)


def test_a_workspace_is_writable_and_nothing_else_is() -> None:
    text = profile(WORKSPACE, tmp=PurePath("/var/folders/x"))
    table = {
        "/Volumes/me/work/a": "allow",
        "/Volumes/me/work": "allow",
        "/Volumes/me/workshop": "deny",
        "/Volumes/me/a": "deny",
        "/Volumes/me/work/.git/config": "allow",
        "/Volumes/me/work/.git/hooks/pre-commit": "deny",
        "/private/var/folders/x/y": "allow",
        "/private/var/folders/other": "deny",
        "/dev/null": "allow",
    }
    assert {path: decided(text, "file-write-data", path) for path in table} == table


def test_everything_is_readable_except_what_is_denied() -> None:
    text = profile(WORKSPACE, tmp=None)
    assert decided(text, "file-read-data", "/anything") == "allow"
    assert decided(text, "file-read-data", "/Volumes/me/.ssh/id_rsa") == "deny"
    assert decided(text, "file-read-metadata", "/Volumes/me/.ssh") == "deny"
    assert decided(text, "file-write-create", "/Volumes/me/.ssh/config") == "deny"


def test_folders_above_what_is_protected_cannot_be_renamed_aside() -> None:
    text = profile(WORKSPACE, tmp=None)
    assert decided(text, "file-write-unlink", "/Volumes/me/work/.git") == "deny"
    assert decided(text, "file-write-unlink", "/Volumes/me/work/.git/index.lock") == "allow"
    assert decided(text, "file-write-create", "/Volumes/me/work/.git/index.lock") == "allow"


def test_readable_roots_are_all_that_is_readable_beside_the_system() -> None:
    text = profile(Confinement(name="x", readable=(PurePath("/Volumes/me/work"),)), tmp=None)
    assert decided(text, "file-read-data", "/Volumes/me/work/a") == "allow"
    assert decided(text, "file-read-data", "/usr/lib/dyld") == "allow"
    assert decided(text, "file-read-data", "/Volumes/me/a") == "deny"
    assert decided(text, "file-read-metadata", "/Volumes/me") == "allow"
    assert decided(text, "file-read-metadata", "/Volumes/me/a") == "deny"


def test_nothing_is_writable_in_a_confinement_that_only_reads() -> None:
    text = profile(Confinement(name="read-only"), tmp=None)
    writes = [rule for rule in rules(text) if rule[0] == "allow" and "file-write*" in rule]
    assert writes == []
    assert decided(text, "file-write-data", "/dev/null") == "allow"


def test_an_open_confinement_still_protects() -> None:
    text = profile(
        Confinement(name="open", writable=None, protected=(PurePath("/w/memo"),)), tmp=None
    )
    assert decided(text, "file-write-data", "/anything") == "allow"
    assert decided(text, "file-write-data", "/w/memo/x") == "deny"


@pytest.mark.parametrize("written", ["/tmp/a", "/private/tmp/a"])
@pytest.mark.parametrize("seen", ["/tmp/a/b", "/private/tmp/a/b"])
def test_links_of_the_system_are_written_both_ways(written: str, seen: str) -> None:
    text = profile(Confinement(name="x", writable=(PurePath(written),)), tmp=None)
    assert decided(text, "file-write-data", seen) == "allow"
    assert decided(text, "file-write-data", "/private/tmpfile") == "deny"


def test_a_name_that_only_begins_like_a_link_is_written_once() -> None:
    text = profile(Confinement(name="x", writable=(PurePath("/private/tmpfile"),)), tmp=None)
    assert decided(text, "file-write-data", "/private/tmpfile") == "allow"
    assert decided(text, "file-write-data", "/tmpfile") == "deny"


def test_the_network_is_denied_unless_it_is_inherited() -> None:
    denied = profile(Confinement(name="x"), tmp=None)
    inherited = profile(Confinement(name="x", network=Network.INHERIT), tmp=None)
    assert decided(denied, "network-outbound", "") == "deny"
    assert decided(inherited, "network-outbound", "") == "allow"
    assert "trustd" not in denied


def test_what_a_shell_needs_is_allowed() -> None:
    found = rules(profile(Confinement(name="x"), tmp=None))
    assert found[:2] == [("version", "1"), ("deny", "default")]
    assert ("allow", "process-exec") in found
    assert ("allow", "process-fork") in found
    assert ("allow", "sysctl-read") in found
    assert ("allow", "signal", ("target", "same-sandbox")) in found
    assert ("allow", "signal") in rules(profile(Confinement(name="x", own_signals=False), tmp=None))


@pytest.mark.parametrize(
    "name",
    [
        '/a") (allow default) ("',
        '/a\\") (allow default) ("',
        "/a\\",
        '/a\\\\"',
        "/a\n(allow default)",
        "/a;(allow default)",
        "/a\t\r\x01\x7f",
        "/caf\udce9 é #t",
    ],
)
def test_a_path_is_a_string_whatever_it_holds(name: str) -> None:
    plain = profile(Confinement(name="x", writable=(PurePath("/a"),)), tmp=None)
    text = profile(Confinement(name="x", writable=(PurePath(name),)), tmp=None)
    assert len(rules(text)) == len(rules(plain))
    assert ("allow", "file-write*", ("subpath", f"'{name}")) in rules(text)
    assert text.count("\n") == plain.count("\n")


@given(
    st.lists(
        st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"])),
        min_size=1,
        max_size=3,
    )
)
def test_no_path_adds_a_rule(parts: list[str]) -> None:
    path = PurePosixPath("/w", "/".join(parts).strip("/"))
    if ".." in path.parts or not str(path).startswith("/w/"):
        return
    found = rules(profile(Confinement(name="x", denied=(path,)), tmp=None))
    assert [rule for rule in found if rule[:3] == ("deny", "file-read*", "file-write*")] == [
        ("deny", "file-read*", "file-write*", ("subpath", f"'{path}"))
    ]
    assert len(found) == len(
        rules(profile(Confinement(name="x", denied=(PurePath("/w/x"),)), tmp=None))
    )


@pytest.mark.parametrize("name", ["relative", "/a/../b", "/a\0b"])
def test_a_path_that_cannot_be_meant_is_refused(name: str) -> None:
    with pytest.raises(ConfigError):
        _ = profile(Confinement(name="x", writable=(PurePath(name),)), tmp=None)
