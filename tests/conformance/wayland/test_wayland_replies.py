"""What a model reads of a command that ran, or did not."""

import time
from collections.abc import Callable
from pathlib import Path

import anyio
import pytest

import processes
from nacre import Bash, CancelToken, ToolContext

MARK = "\n\n... [truncated {} chars] ...\n\n"
CANCELLED = "Bash command cancelled by cancellation token"


def run(tool: Bash, command: str, **more: object) -> tuple[str, bool, object]:
    reply = tool.call_sync("Bash", {"command": command, **more})
    return reply.text, reply.is_error, reply.details


@pytest.mark.requirement("wayland.reply", "wayland.reply-streams")
def test_a_reply_has_the_exit_code_and_each_stream_under_its_heading(unheld: Bash) -> None:
    assert run(unheld, "echo out; echo err >&2; printf more") == (
        "Exit code: 0\nSTDOUT:\nout\nmore\nSTDERR:\nerr\n",
        False,
        {"exit_code": 0},
    )


@pytest.mark.requirement("wayland.reply-error")
def test_every_exit_code_but_zero_is_an_error(unheld: Bash) -> None:
    said = ("Exit code: 7\nSTDOUT:\n\nSTDERR:\n", True, {"exit_code": 7})
    assert run(unheld, "exit 7") == said
    assert run(unheld, "") == ("Exit code: 0\nSTDOUT:\n\nSTDERR:\n", False, {"exit_code": 0})


@pytest.mark.requirement("wayland.reply-signal")
def test_a_death_by_signal_is_exit_code_minus_one(unheld: Bash) -> None:
    said = ("Exit code: -1\nSTDOUT:\nx\n\nSTDERR:\n", True, {"exit_code": -1})
    assert run(unheld, "echo x; kill -KILL $$") == said


@pytest.mark.requirement("wayland.reply-lossy")
def test_bytes_that_are_no_text_are_replaced_and_escape_codes_stay(unheld: Bash) -> None:
    text, _, _ = run(unheld, r"printf '\xff\x1b[1mb\r'")
    assert text == "Exit code: 0\nSTDOUT:\n�\x1b[1mb\r\nSTDERR:\n"


def test_an_unfinished_script_is_bashs_to_report(unheld: Bash) -> None:
    text, is_error, _ = run(unheld, "echo 'a")
    assert is_error
    assert "unexpected EOF" in text


@pytest.mark.parametrize(
    ("command", "detail"),
    [("echo \0", "NUL character"), ("echo \ud800", "no character")],
)
def test_what_bash_cannot_be_given_is_a_failure_to_execute(
    unheld: Bash, command: str, detail: str
) -> None:
    text, is_error, details = run(unheld, command)
    assert text.startswith("Failed to execute command: the script holds ")
    assert detail in text
    assert (is_error, details) == (True, {"exit_code": None})


@pytest.mark.requirement("wayland.reply-cut")
def test_a_long_reply_is_cut_in_the_middle_to_fifty_thousand_characters(unheld: Bash) -> None:
    text, is_error, _ = run(unheld, "head -c 60000 /dev/zero | tr '\\0' x; echo end >&2")
    whole = f"Exit code: 0\nSTDOUT:\n{'x' * 60_000}\nSTDERR:\nend\n"
    hidden = len(whole) - 50_000
    assert text == whole[:25_000] + MARK.format(hidden) + whole[-25_000:]
    assert not is_error


def test_a_reply_of_fifty_thousand_characters_is_whole(unheld: Bash) -> None:
    frame = len("Exit code: 0\nSTDOUT:\n\nSTDERR:\n")
    text, _, _ = run(unheld, f"head -c {50_000 - frame} /dev/zero | tr '\\0' x")
    assert len(text) == 50_000
    assert "truncated" not in text


@pytest.mark.parametrize("stream", ["1", "2"])
def test_of_a_flood_both_ends_are_shown_and_the_rest_is_counted(unheld: Bash, stream: str) -> None:
    command = f"{{ printf first; head -c 3000000 /dev/zero | tr '\\0' y; printf last; }} >&{stream}"
    text, _, _ = run(unheld, command)
    total = len("Exit code: 0\nSTDOUT:\n\nSTDERR:\nfirstlast") + 3_000_000
    assert MARK.format(total - 50_000) in text
    assert len(text) == 50_000 + len(MARK.format(total - 50_000))
    assert "first" in text[:100]
    assert text.removesuffix("\nSTDERR:\n").endswith("ylast")


def test_a_cut_leaves_characters_of_several_bytes_whole(unheld: Bash) -> None:
    text, _, _ = run(unheld, "yes 🦀é | head -n 200000 | tr -d '\\n'")
    assert "�" not in text
    assert len(text.partition("\n\n...")[0]) == 25_000


@pytest.mark.requirement("wayland.timeout-reply", "wayland.timeout-partial")
def test_a_timeout_says_after_how_many_milliseconds_and_keeps_what_was_printed(
    unheld: Bash,
) -> None:
    tag = processes.tag()
    began = time.monotonic()
    said = run(unheld, f"echo before; echo err >&2; sleep {tag}", timeout=400)
    assert time.monotonic() - began < 2
    text = "Command timed out after 400ms\nSTDOUT:\nbefore\n\nSTDERR:\nerr\n"
    assert said == (text, True, {"exit_code": None})
    processes.gone_blocking(tag)


@pytest.mark.requirement("wayland.timeout-zero")
def test_no_time_at_all_is_a_timeout_at_once(unheld: Bash) -> None:
    said = ("Command timed out after 0ms", True, {"exit_code": None})
    assert run(unheld, "echo x; sleep 9", timeout=0) == said


def test_a_silent_timeout_has_no_headings(unheld: Bash) -> None:
    assert run(unheld, "sleep 9", timeout=100)[0] == "Command timed out after 100ms"


async def _cancelled(tool: Bash, place: Path, *, streamed: bool) -> tuple[str, float]:
    """Cancel a call once its command runs; how long it took from there, and what it said."""
    token, tag = CancelToken(), processes.tag()
    seen: list[bytes] = []
    replies: list[str] = []
    context = ToolContext(working_dir=place, cancel=token)
    listener: Callable[[bytes], None] | None = seen.append if streamed else None
    began = 0.0

    async def call() -> None:
        command = f"trap '' TERM; echo on; touch on; sleep {tag}"
        reply = await tool.call("Bash", {"command": command}, context, on_output=listener)
        assert reply.is_error
        assert reply.details == {"exit_code": None}
        replies.append(reply.text)

    with anyio.fail_after(20):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(call)
            while not (place / "on").exists():
                await anyio.sleep(0.01)
            began = anyio.current_time()
            token.cancel()
        took = anyio.current_time() - began
    await processes.gone(tag)
    assert bool(seen) is streamed
    return replies[0], took


@pytest.mark.needs("bubblewrap")
@pytest.mark.requirement("wayland.cancel", "wayland.cancel-fast")
async def test_a_cancelled_call_returns_in_less_than_half_a_second(
    wayland: Bash, workspace: Path
) -> None:
    text, took = await _cancelled(wayland, workspace, streamed=False)
    assert text == CANCELLED
    assert took < 0.5


@pytest.mark.needs("bubblewrap")
@pytest.mark.requirement("wayland.cancel-streaming")
async def test_so_does_one_whose_output_is_streamed(wayland: Bash, workspace: Path) -> None:
    text, took = await _cancelled(wayland, workspace, streamed=True)
    assert text == CANCELLED
    assert took < 0.5


@pytest.mark.requirement("wayland.streaming")
async def test_output_is_streamed_as_it_comes(unheld: Bash, workspace: Path) -> None:
    seen: list[bytes] = []

    def listener(piece: bytes) -> None:
        seen.append(piece)
        if b"first" in piece:
            (workspace / "go").touch()

    command = "echo first; until [ -e go ]; do sleep 0.01; done; echo second"
    with anyio.fail_after(10):
        reply = await unheld.call("Bash", {"command": command}, on_output=listener)
    assert b"".join(seen) == b"first\nsecond\n"
    assert reply.text == "Exit code: 0\nSTDOUT:\nfirst\nsecond\n\nSTDERR:\n"


@pytest.mark.needs("bubblewrap")
@pytest.mark.requirement("wayland.no-background")
def test_what_a_command_leaves_running_holds_nothing_up_and_is_ended(wayland: Bash) -> None:
    tag = processes.tag()
    began = time.monotonic()
    text, is_error, _ = run(wayland, f"sleep {tag} & setsid sleep {tag} & echo hi")
    assert time.monotonic() - began < 5
    assert (text, is_error) == ("Exit code: 0\nSTDOUT:\nhi\n\nSTDERR:\n", False)
    processes.gone_blocking(tag)


def test_a_host_that_keeps_what_outlives_its_time_is_told_the_job(
    opened: Callable[..., Bash],
) -> None:
    tag = processes.tag()
    tool = opened(sandbox="none", on_timeout="background")
    text, is_error, details = run(tool, f"echo on; sleep {tag}", timeout=500)
    head, _, rest = text.partition("\n")
    job = head.removeprefix("Command still running after 500ms: it goes on as job ").split(".")[0]
    assert f"`nacre kill {job}`" in head
    assert rest == "STDOUT:\non\n\nSTDERR:\n"
    assert (is_error, details) == (False, {"exit_code": None})
    assert processes.alive(tag)
    tool.close()
    processes.gone_blocking(tag)


def test_a_rule_of_the_host_is_told_as_a_refusal(opened: Callable[..., Bash]) -> None:
    tool = opened(sandbox="none", rules={"deny": ["Bash(rm:*)"], "default": "allow"})
    text, is_error, details = run(tool, "rm x")
    assert text.startswith("Refused: ")
    assert "credential" not in text
    assert (is_error, details) == (True, {"exit_code": None})
