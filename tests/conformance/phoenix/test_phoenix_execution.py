"""Running, timeouts, no terminal, errors: REQ-BASH-001, 002, 004, 006."""

from datetime import timedelta
from pathlib import Path

import anyio
import pytest

from nacre import Bash, CancelToken, ToolContext
from nacre.dialects.phoenix.dialect import PhoenixDialect
from nacre.model.call import OnTimeout, Run
from nacre.model.outcome import Lost, TimedOut
from nacre.model.result import Result
from nacre.model.transcript import Transcript
from processes import alive, gone, tag

MOST = 131_072


def phoenix(workspace: Path, state: Path, **settings: float) -> Bash:
    return Bash(dialect="phoenix", workspace=workspace, state=state, **settings)  # pyright: ignore[reportArgumentType]


async def said(tool: Bash, command: str, **more: str) -> str:
    return (await tool.call("bash", {"command": command, **more})).text


@pytest.mark.requirement("phoenix.bash-c")
async def test_a_command_is_given_to_bash_as_dash_c_does(workspace: Path, state: Path) -> None:
    async with phoenix(workspace, state) as tool:
        reply = await tool.call("bash", {"command": 'echo "$0 $- [$BASH_EXECUTION_STRING]"; a=(1)'})
    assert reply.text == 'bash hBc [echo "$0 $- [$BASH_EXECUTION_STRING]"; a=(1)]\n'
    assert not reply.is_error


@pytest.mark.requirement("phoenix.combined-output")
async def test_both_streams_come_back_in_their_real_order(workspace: Path, state: Path) -> None:
    async with phoenix(workspace, state) as tool:
        text = await said(tool, "echo out; echo err >&2; printf out2")
    assert text == "out\nerr\nout2"


async def test_output_comes_back_verbatim_but_for_what_is_not_utf_8(
    workspace: Path, state: Path
) -> None:
    async with phoenix(workspace, state) as tool:
        text = await said(tool, r"printf '\033[31m a\r\n\n \xff\xc3'")
        nothing = await said(tool, ":")
    assert (text, nothing) == ("\x1b[31m a\r\n\n \ufffd\ufffd", "")


@pytest.mark.requirement("phoenix.within-128k")
async def test_output_of_128_kilobytes_is_whole(workspace: Path, state: Path) -> None:
    async with phoenix(workspace, state) as tool:
        text = await said(tool, f"head -c {MOST} /dev/zero | tr '\\0' x")
    assert text == "x" * MOST


@pytest.mark.requirement(
    "phoenix.over-128k", "phoenix.first-4k", "phoenix.last-4k", "phoenix.truncation-said"
)
async def test_one_byte_more_leaves_4_kilobytes_of_each_end(workspace: Path, state: Path) -> None:
    script = f"printf '%04096d' 1; head -c {MOST - 8191} /dev/zero | tr '\\0' x; printf '%04096d' 2"
    async with phoenix(workspace, state) as tool:
        reply = await tool.call("bash", {"command": script})
    first, last = f"{1:04096d}", f"{2:04096d}"
    header = "[output truncated in middle: got 131073 bytes, max is 131072 bytes]"
    assert reply.text == f"{header}\n{first}\n\n[snip]\n\n{last}"
    assert not reply.is_error


async def test_no_character_is_cut_in_two(workspace: Path, state: Path) -> None:
    async with phoenix(workspace, state) as tool:
        text = await said(tool, "printf x; yes é | head -n 70000 | tr -d '\\n'; printf y")
    assert text.endswith("é" * 2047 + "y")
    assert text.partition("\n")[2].startswith("x" + "é" * 2047 + "\n\n[snip]")
    assert "\ufffd" not in text


async def test_a_failure_with_long_output_is_cut_as_well(workspace: Path, state: Path) -> None:
    async with phoenix(workspace, state) as tool:
        text = await said(tool, "head -c 200000 /dev/zero | tr '\\0' x; exit 3")
    assert text.startswith(
        "[command failed: exit code 3]\n[output truncated in middle: got 200000 "
    )
    assert len(text) < 9000


def run_of(**arguments: str) -> Run:
    run = PhoenixDialect().parse("bash", {"command": "ls", **arguments}, OnTimeout.KILL)
    assert isinstance(run, Run)
    return run


@pytest.mark.requirement("phoenix.default-timeout")
async def test_a_command_gets_30_seconds(workspace: Path, state: Path) -> None:
    async with phoenix(workspace, state) as tool:
        ran = await tool.run("true")
    assert ran.call.timeout == timedelta(seconds=30)
    ended = Result(outcome=TimedOut(timedelta(seconds=30)))
    reply = PhoenixDialect().render(ran.call, ended)
    assert (reply.text, reply.is_error) == ("[command timed out after 30s]", True)


@pytest.mark.requirement("phoenix.slow-timeout")
async def test_a_slow_one_gets_15_minutes_whatever_the_host_gives_others(
    workspace: Path, state: Path
) -> None:
    run = run_of(mode="slow")
    assert (run.timeout, run.timed) == (timedelta(minutes=15), True)
    reply = PhoenixDialect().render(run, Result(outcome=TimedOut(timedelta(minutes=15))))
    assert reply.text == "[command timed out after 900s]"
    async with phoenix(workspace, state, timeout=0.2) as tool:
        assert await said(tool, "read -t 0.4 < <(sleep 9); echo done", mode="slow") == "done\n"


@pytest.mark.requirement("phoenix.timeout-ends-group")
async def test_at_the_timeout_the_whole_group_is_ended_and_what_left_it(
    workspace: Path, state: Path
) -> None:
    mark = tag()
    async with phoenix(workspace, state, timeout=0.5) as tool:
        script = f"sleep {mark} & (trap '' TERM; setsid sleep {mark}) & wait"
        reply = await tool.call("bash", {"command": script})
        assert (reply.text, reply.is_error) == ("[command timed out after 500ms]", True)
        await gone(mark)


@pytest.mark.requirement("phoenix.timeout-partial-output", "phoenix.timeout-said")
async def test_what_was_said_before_the_timeout_follows_the_word_of_it(
    workspace: Path, state: Path
) -> None:
    async with phoenix(workspace, state, timeout=1.25) as tool:
        reply = await tool.call("bash", {"command": "echo a; echo b >&2; sleep 60"})
    assert reply.text == "[command timed out after 1.25s]\na\nb\n"
    assert reply.details == {
        "success": False,
        "command": "echo a; echo b >&2; sleep 60",
        "display": "echo a; echo b >&2; sleep 60",
    }


async def test_what_a_command_leaves_running_does_not_hold_up_the_call(
    workspace: Path, state: Path
) -> None:
    mark = tag()
    async with phoenix(workspace, state) as tool:
        with anyio.fail_after(5):
            assert await said(tool, f"sleep {mark} & echo started") == "started\n"
        await gone(mark)


async def test_a_host_that_keeps_what_timed_out_gets_the_words_of_a_background_process(
    workspace: Path, state: Path
) -> None:
    mark = tag()
    async with Bash(
        dialect="phoenix", workspace=workspace, state=state, timeout=0.5, on_timeout="background"
    ) as tool:
        reply = await tool.call("bash", {"command": f"echo early; sleep {mark}"})
        first, pid, file, stop, *rest = reply.text.split("\n")
        assert first == "[command still running after 500ms]"
        assert pid.startswith("<pid>")
        assert file.startswith(f"<output_file>{state}")
        assert rest == ["early", ""]
        assert not reply.is_error
        await tool.call("bash", {"command": stop.split(": ")[1].removesuffix("</reminder>")})
        await gone(mark)


@pytest.mark.requirement("phoenix.no-terminal")
async def test_no_stream_is_a_terminal_and_none_can_be_opened(workspace: Path, state: Path) -> None:
    script = (
        "for fd in 0 1 2; do test -t $fd || echo no; done; : 2>/dev/null </dev/tty || echo none"
    )
    async with phoenix(workspace, state) as tool:
        assert await said(tool, script) == "no\nno\nno\nnone\n"
        assert "not a tty" in await said(tool, "tty")


@pytest.mark.requirement("phoenix.no-prompts")
async def test_a_prompt_reads_the_end_of_its_input(workspace: Path, state: Path) -> None:
    async with phoenix(workspace, state) as tool:
        with anyio.fail_after(5):
            assert await said(tool, 'read -p "Sure? " answer || echo "[$answer]"') == "[]\n"
            assert await said(tool, "wc -c; echo $-") == "0\nhBc\n"


@pytest.mark.requirement("phoenix.exit-code", "phoenix.failure-output")
async def test_a_failure_has_its_exit_code_and_its_output(workspace: Path, state: Path) -> None:
    async with phoenix(workspace, state) as tool:
        reply = await tool.call("bash", {"command": "echo why; echo because >&2; exit 42"})
        silent = await tool.call("bash", {"command": "exit 1"})
    assert (reply.text, reply.is_error) == ("[command failed: exit code 42]\nwhy\nbecause\n", True)
    assert (reply.details or {})["success"] is False
    assert silent.text == "[command failed: exit code 1]\n"


@pytest.mark.parametrize("command", ["kill -9 $$", "kill $$"])
async def test_death_by_a_signal_is_exit_code_minus_1(
    command: str, workspace: Path, state: Path
) -> None:
    async with phoenix(workspace, state) as tool:
        assert await said(tool, command) == "[command failed: exit code -1]\n"


@pytest.mark.requirement("phoenix.system-error")
async def test_what_could_not_be_started_is_described(workspace: Path, state: Path) -> None:
    nowhere = ToolContext(working_dir=workspace / "nowhere")
    async with phoenix(workspace, state) as tool:
        reply = await tool.call("bash", {"command": "ls"}, nowhere)
        later = await tool.call("bash", {"command": "ls", "mode": "background"}, nowhere)
    why = f"the working directory '{workspace}/nowhere' does not exist"
    assert (reply.text, reply.is_error) == (f"Failed to spawn process: {why}", True)
    assert (later.text, later.is_error) == (f"Failed to start background process: {why}", True)


@pytest.mark.requirement("phoenix.system-error-apart")
async def test_what_could_not_be_started_is_told_apart_from_what_failed(
    workspace: Path, state: Path
) -> None:
    async with phoenix(workspace, state) as tool:
        failed = await said(tool, "no-such-program-anywhere")
        unstarted = await said(tool, "echo \0")
    assert failed.startswith("[command failed: exit code 127]\n")
    assert unstarted.startswith("Failed to spawn process: ")
    lost = Result(outcome=Lost("nobody saw it"), transcript=Transcript(head=b"a"))
    assert PhoenixDialect().render(run_of(), lost).text == (
        "Command execution failed: nobody saw it\na"
    )


@pytest.mark.requirement("phoenix.context-cancel")
async def test_a_cancelled_command_is_gone_with_its_tree_and_what_it_said_comes_back(
    workspace: Path, state: Path
) -> None:
    mark = tag()
    cancel = CancelToken()
    context = ToolContext(working_dir=workspace, cancel=cancel)
    script = f"echo before; bash -c 'sleep {mark}; :' & wait"

    async def cancel_when_running() -> None:
        with anyio.fail_after(10):
            while not alive(f"sleep\0{mark}"):
                await anyio.sleep(0.01)
        cancel.cancel()

    async with phoenix(workspace, state) as tool, anyio.create_task_group() as tasks:
        tasks.start_soon(cancel_when_running)
        reply = await tool.call("bash", {"command": script}, context)
        await gone(mark)
        assert (reply.text, reply.is_error) == ("[command cancelled]\nbefore\n", True)
        again = await tool.call("bash", {"command": "echo never"}, context)
        assert again.text == "[command cancelled]"
