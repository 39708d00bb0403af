"""Secrets of one call: in its reply, in what its listener hears, at the gap."""

import itertools
from collections.abc import Mapping
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nacre import Bash
from nacre.model.outcome import Exited
from nacre.model.result import Result
from nacre.model.transcript import Transcript
from nacre.render.redaction import Redaction

VALUE = "correct-horse-battery-staple"
SHAPE = "AKIA" + "IOSFODNN7EXAMPLE"
SHOWN_VALUE, SHOWN_SHAPE = "[redacted: $MY_TOKEN]", "[redacted: AWS access key]"


def secrets() -> Mapping[str, str]:
    return {VALUE: "MY_TOKEN"}


def nobody() -> Mapping[str, str]:
    raise AssertionError("nothing was said, and secrets were asked for")


def result(head: bytes, tail: bytes = b"", omitted: int = 0, **more: Transcript) -> Result:
    transcript = Transcript(head=head, tail=tail, omitted=omitted)
    return Result(outcome=Exited(0), transcript=transcript, errors=more.get("errors"))


def shown(redacted: Result) -> bytes:
    return redacted.transcript.head + redacted.transcript.tail


def test_values_and_shapes_are_replaced_in_both_streams() -> None:
    said = f"a {VALUE} b {SHAPE} c".encode()
    redacted = Redaction(secrets, None).result(result(said, errors=Transcript(head=said)))
    wanted = f"a {SHOWN_VALUE} b {SHOWN_SHAPE} c".encode()
    assert shown(redacted) == wanted
    assert redacted.errors is not None
    assert redacted.errors.head == wanted


@given(st.integers(0, len(VALUE)), st.sampled_from([VALUE, SHAPE]))
def test_a_secret_across_the_border_of_head_and_tail_is_one(cut: int, secret: str) -> None:
    said = f"before {secret} after".encode()
    at = len("before ") + min(cut, len(secret))
    redacted = Redaction(secrets, None).result(result(said[:at], said[at:]))
    assert shown(redacted) == said.replace(
        secret.encode(), (SHOWN_VALUE if secret == VALUE else SHOWN_SHAPE).encode()
    )


@given(st.integers(1, len(VALUE) - 1))
def test_half_of_a_secret_before_the_gap_is_not_shown(cut: int) -> None:
    head = f"before {VALUE[:cut]}".encode()
    redacted = Redaction(secrets, None).result(result(head, b"after", omitted=1000))
    assert redacted.transcript.head == b"before "
    assert redacted.transcript.tail == b"after"
    assert redacted.transcript.omitted >= 1000


def test_secrets_on_both_sides_of_the_gap_are_replaced() -> None:
    head, tail = f"{VALUE} x\n".encode(), f"y {SHAPE} z\n".encode()
    redacted = Redaction(secrets, None).result(result(head, tail, omitted=5))
    assert redacted.transcript.head == f"{SHOWN_VALUE} x\n".encode()
    assert redacted.transcript.tail == f"y {SHOWN_SHAPE} z\n".encode()


def test_what_has_no_secret_stays_byte_for_byte() -> None:
    said = bytes(range(256)) * 3
    for omitted in (0, 7):
        redacted = Redaction(secrets, None).result(result(said, b"\xff\n", omitted))
        assert shown(redacted) == said + b"\xff\n"


def test_secrets_are_not_asked_for_when_nothing_is_shown() -> None:
    empty = result(b"")
    assert Redaction(nobody, lambda _: None).result(empty) is empty
    assert Redaction(nobody, None).listener is None


@given(st.lists(st.integers(0, 60), max_size=6))
def test_a_listener_hears_no_secret_however_its_stream_is_cut(cuts: list[int]) -> None:
    said = f"a {VALUE} b {SHAPE} {VALUE[:9]}".encode()  # the end could become another
    heard: list[bytes] = []
    redaction = Redaction(secrets, heard.append)
    assert redaction.listener is not None
    edges = sorted({0, len(said), *(cut for cut in cuts if cut < len(said))})
    for start, end in itertools.pairwise(edges):
        redaction.listener(said[start:end])
    redaction.result(result(said))
    assert b"".join(heard) == f"a {SHOWN_VALUE} b {SHOWN_SHAPE} {VALUE[:9]}".encode()
    assert b"" not in heard


@pytest.mark.parametrize("streaming", [False, True])
def test_a_tool_shows_neither_the_values_it_withheld_nor_well_known_shapes(
    workspace: Path, state: Path, monkeypatch: pytest.MonkeyPatch, *, streaming: bool
) -> None:
    """The script does not have the variable; it finds the same value in a file."""
    monkeypatch.setenv("MY_TOKEN", VALUE)
    (workspace / "file").write_text(f"v={VALUE}\nk={SHAPE}\n")
    heard: list[bytes] = []
    script = '[ -z "$MY_TOKEN" ] && echo unset; cat file; cat file >&2'
    with Bash(workspace=workspace, state=state, sandbox="none") as tool:
        listener = heard.append if streaming else None
        reply = tool.call_sync("Bash", {"command": script}, on_output=listener)
        job = tool.call_sync("Bash", {"command": "cat file", "background": True})
        assert job.details is not None
        polled = tool.call_sync("BashOutput", {"id": job.details["id"], "wait_for": "exit"})
    assert reply.text.startswith("unset\n")
    for text in (reply.text, polled.text, b"".join(heard).decode()):
        assert VALUE not in text
        assert SHAPE not in text
    assert (reply.text.count(SHOWN_VALUE), reply.text.count(SHOWN_SHAPE)) == (2, 2)
    assert SHOWN_VALUE in polled.text
    assert (b"".join(heard).decode().count(SHOWN_VALUE) == 2) is streaming


def test_a_variable_that_was_passed_by_name_is_no_secret_to_its_script(
    workspace: Path, state: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MY_TOKEN", VALUE)
    (workspace / "file").write_text(VALUE)
    with Bash(workspace=workspace, state=state, sandbox="none", pass_env=["MY_TOKEN"]) as tool:
        assert tool.call_sync("Bash", {"command": "cat file"}).text == VALUE
