"""An agent of the OpenAI Agents SDK whose model is a script, with nacre behind its shell tool."""

import asyncio
import math
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, cast

import anyio
import pytest
from agents import (
    Agent,
    RunContextWrapper,
    Runner,
    RunResult,
    RunState,
    ShellActionRequest,
    ShellCallData,
    ShellCommandOutput,
    ShellCommandRequest,
    ShellTool,
    ToolApprovalItem,
    set_tracing_disabled,
)
from agents.exceptions import ModelBehaviorError
from agents.testing import ModelStep, ScriptedModel, assistant_message
from agents.tool import ShellOnApprovalFunctionResult
from openai.types.responses import (
    Response,
    ResponseCompletedEvent,
    ResponseFunctionShellToolCall,
)
from openai.types.responses.response_function_shell_tool_call import Action

from nacre import Bash, ConfigError
from nacre.adapters.openai_agents import ShellExecutor, shell_tool
from processes import alive, gone, tag

ASKS = {"permissions": {"ask": ["Bash(touch:*)", "Bash(tee:*)"]}}


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"  # the SDK knows no other


@pytest.fixture(autouse=True)
def no_tracing() -> Iterator[None]:
    set_tracing_disabled(disabled=True)
    yield
    set_tracing_disabled(disabled=False)


@pytest.fixture
def asking(workspace: Path, state: Path) -> Iterator[Bash]:
    with Bash(workspace=workspace, state=state, rules=ASKS) as tool:
        yield tool


def call(
    *commands: str,
    call_id: str = "call_1",
    timeout_ms: int | None = None,
    max_output_length: int | None = None,
) -> ResponseFunctionShellToolCall:
    action = Action(
        commands=list(commands), timeout_ms=timeout_ms, max_output_length=max_output_length
    )
    return ResponseFunctionShellToolCall(
        id=f"id_{call_id}", call_id=call_id, type="shell_call", status="completed", action=action
    )


def agent_of(tool: ShellTool, *calls: ResponseFunctionShellToolCall) -> Agent[Any]:
    model = ScriptedModel([*([each] for each in calls), [assistant_message("done")]])
    return Agent(name="agent", model=model, tools=[tool])


async def run(tool: ShellTool, *calls: ResponseFunctionShellToolCall) -> RunResult:
    return await Runner.run(agent_of(tool, *calls), "go")


def outputs(result: RunResult, call_id: str = "call_1") -> list[dict[str, Any]]:
    """What the model is given of a call's commands."""
    items = cast("list[dict[str, Any]]", result.to_input_list())
    (found,) = [
        item
        for item in items
        if item.get("type") == "shell_call_output" and item["call_id"] == call_id
    ]
    return cast("list[dict[str, Any]]", found["output"])


async def directly(executor: ShellExecutor, action: ShellActionRequest) -> list[ShellCommandOutput]:
    """Have an executor called with what the SDK itself would refuse."""
    data = ShellCallData(call_id="call_1", action=action)
    request = ShellCommandRequest(ctx_wrapper=RunContextWrapper(None), data=data)
    return (await executor(request)).output


async def resumed(
    agent: Agent[Any], result: RunResult, *, approve: bool, always: bool = False
) -> RunResult:
    """Go on after the one question that interrupted a run was answered."""
    state = result.to_state()
    (item,) = result.interruptions
    if approve:
        state.approve(item, always_approve=always)
    else:
        state.reject(item)
    return await Runner.run(agent, state)


async def test_a_model_sees_what_each_command_said_on_each_stream(tool: Bash) -> None:
    done = await run(shell_tool(tool), call("echo out; echo err >&2", "printf two"))
    assert done.final_output == "done"
    assert outputs(done) == [
        {"stdout": "out\n", "stderr": "err\n", "outcome": {"type": "exit", "exit_code": 0}},
        {"stdout": "two", "stderr": "", "outcome": {"type": "exit", "exit_code": 0}},
    ]


async def test_each_command_has_a_shell_of_its_own_in_the_folder_of_the_tool(
    tool: Bash, workspace: Path
) -> None:
    (workspace / "sub").mkdir()
    done = await run(shell_tool(tool, working_dir="sub"), call("cd /; X=1", "pwd; echo ${X-unset}"))
    assert outputs(done)[1]["stdout"] == f"{workspace}/sub\nunset\n"


async def test_a_failure_is_an_exit_code_and_the_next_command_runs(tool: Bash) -> None:
    done = await run(shell_tool(tool), call("exit 3", "kill -9 $$", "echo after"))
    assert [each["outcome"]["exit_code"] for each in outputs(done)] == [3, 137, 0]
    assert outputs(done)[1]["stderr"] == "[ended by signal 9 (SIGKILL)]\n"


async def test_a_command_out_of_time_is_ended_with_all_it_started_and_ends_the_call(
    tool: Bash,
) -> None:
    mark = tag()
    script = f"echo begun; setsid sleep {mark} & sleep {mark}"
    done = await run(shell_tool(tool), call(script, "echo late", timeout_ms=300))
    await gone(mark)
    assert outputs(done) == [
        {
            "stdout": "begun\n",
            "stderr": "[note: commands after it that were not run: 1]\n"
            "[timed out after 0.3 s; it was ended with all it started]\n",
            "outcome": {"type": "timeout"},
        }
    ]


async def test_a_host_says_how_long_a_command_may_take_when_the_model_does_not(tool: Bash) -> None:
    mark = tag()
    done = await run(shell_tool(tool, timeout=0.3), call(f"sleep {mark}"))
    await gone(mark)
    assert outputs(done)[0]["outcome"] == {"type": "timeout"}


async def test_what_a_guard_refuses_is_not_run_and_the_model_is_told_why(tool: Bash) -> None:
    done = await run(shell_tool(tool), call("sudo -n true", "echo next"))
    denied, after = outputs(done)
    assert denied["outcome"] == {"type": "exit", "exit_code": 126}
    assert denied["stderr"].startswith("[denied: The script would run something as another user.]")
    assert "[part: sudo -n true]" in denied["stderr"]
    assert after["stdout"] == "next\n"


async def test_what_the_sandbox_stops_is_explained(tool: Bash) -> None:
    path = Path.home() / f"nacre-{tag()}"
    (said,) = outputs(await run(shell_tool(tool), call(f"touch {path}")))
    assert said["outcome"]["exit_code"] == 1
    assert f"[sandbox: the sandbox stopped a write to {path}" in said["stderr"]
    assert not path.exists()


async def test_a_command_left_to_a_person_interrupts_the_run_and_runs_once_when_approved(
    asking: Bash, workspace: Path
) -> None:
    agent = agent_of(shell_tool(asking), call("echo x | tee -a log"))
    first = await Runner.run(agent, "go")
    assert len(first.interruptions) == 1
    assert not (workspace / "log").exists()
    done = await resumed(agent, first, approve=True)
    assert done.final_output == "done"
    assert outputs(done)[0]["stdout"] == "x\n"
    assert (workspace / "log").read_text() == "x\n"


async def test_a_call_that_is_rejected_is_not_run(asking: Bash, workspace: Path) -> None:
    agent = agent_of(shell_tool(asking), call("touch file"))
    done = await resumed(agent, await Runner.run(agent, "go"), approve=False)
    assert done.final_output == "done"
    assert "not approved" in str(done.to_input_list())
    assert not (workspace / "file").exists()


async def test_an_approval_is_good_for_one_call(asking: Bash, workspace: Path) -> None:
    calls = call("touch one"), call("touch two", call_id="call_2")
    agent = agent_of(shell_tool(asking), *calls)
    second = await resumed(agent, await Runner.run(agent, "go"), approve=True)
    assert (workspace / "one").exists()
    assert len(second.interruptions) == 1
    assert not (workspace / "two").exists()


async def test_approved_for_always_is_that_command_and_no_other(
    asking: Bash, workspace: Path
) -> None:
    others = call("touch two", call_id="call_2"), call("rm one", call_id="call_3")
    again = call("touch one", call_id="call_4")
    agent = agent_of(shell_tool(asking), call("touch one"), *others, again)
    done = await resumed(agent, await Runner.run(agent, "go"), approve=True, always=True)
    assert done.final_output == "done"
    (denied,) = outputs(done, "call_2")
    assert denied["outcome"]["exit_code"] == 126
    assert "it needs approval, and nobody is here to give it" in denied["stderr"]
    assert outputs(done, "call_4")[0]["outcome"]["exit_code"] == 0
    assert [each.name for each in workspace.iterdir()] == ["one"]


async def test_an_approval_for_always_goes_no_further_than_its_conversation(
    asking: Bash, workspace: Path
) -> None:
    agent = agent_of(shell_tool(asking), call("touch one"))
    await resumed(agent, await Runner.run(agent, "go"), approve=True, always=True)
    (workspace / "one").unlink()
    other = await run(shell_tool(asking), call("touch one"))
    assert len(other.interruptions) == 1


async def test_on_approval_answers_in_the_place_of_an_interruption(
    asking: Bash, workspace: Path
) -> None:
    def answer(_: RunContextWrapper[Any], item: ToolApprovalItem) -> ShellOnApprovalFunctionResult:
        raw = cast("ResponseFunctionShellToolCall", item.raw_item)
        return {"approve": raw.action.commands == ["touch yes"], "reason": "not that"}

    shell = shell_tool(asking, on_approval=answer)
    done = await run(shell, call("touch yes"), call("touch no", call_id="call_2"))
    assert done.final_output == "done"
    assert "not that" in str(done.to_input_list())
    assert [each.name for each in workspace.iterdir()] == ["yes"]


async def test_a_run_that_was_stored_goes_on_with_another_tool(
    asking: Bash, workspace: Path
) -> None:
    first = await run(shell_tool(asking), call("touch file"))
    stored = first.to_state().to_string()
    agent = agent_of(shell_tool(asking))
    restored = await RunState.from_string(agent, stored)
    (item,) = restored.get_interruptions()
    restored.approve(item)
    done = await Runner.run(agent, restored)
    assert done.final_output == "done"
    assert (workspace / "file").exists()


async def test_whoever_is_asked_can_be_shown_the_reason(asking: Bash, workspace: Path) -> None:
    executor = ShellExecutor(asking)
    (question,) = await executor.questions(["ls", "ls; touch file", "sudo -n true"])
    assert question.script == "ls; touch file"
    assert question.verdict.part == "touch file"
    assert question.cwd == workspace


async def test_a_run_that_is_cancelled_leaves_no_process(tool: Bash) -> None:
    mark = tag()
    agent = agent_of(shell_tool(tool), call(f"setsid sleep {mark} & sleep {mark}"))
    running = asyncio.create_task(Runner.run(agent, "go"))
    await all_alive(mark)
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    await gone(mark)


async def test_a_stream_that_is_cancelled_leaves_no_process(tool: Bash) -> None:
    mark = tag()
    response = Response(
        id="response",
        created_at=0,
        model="scripted",
        object="response",
        output=[call(f"setsid sleep {mark} & sleep {mark}")],
        tool_choice="none",
        tools=[],
        parallel_tool_calls=False,
    )
    ended = ResponseCompletedEvent(type="response.completed", response=response, sequence_number=0)
    model = ScriptedModel([ModelStep.stream([ended])])
    agent = Agent(name="agent", model=model, tools=[shell_tool(tool)])
    live = Runner.run_streamed(agent, "go")
    await all_alive(mark)
    live.cancel()
    async for _ in live.stream_events():
        pass
    await gone(mark)


async def all_alive(mark: str) -> None:
    with anyio.fail_after(20):
        while len(alive(mark)) < 3:  # the shell, and two that sleep
            await anyio.sleep(0.01)


@pytest.mark.parametrize("most", [0, 1, 40, 1000, 5000])
async def test_an_output_is_no_longer_than_was_asked_for(tool: Bash, most: int) -> None:
    flood = "seq 20000; seq 20000 >&2"
    done = await run(shell_tool(tool), call(flood, flood, max_output_length=most))
    said = [each["stdout"] + each["stderr"] for each in outputs(done)]
    assert sum(map(len, said)) <= most
    assert [each["outcome"]["exit_code"] for each in outputs(done)] == [0, 0]


async def test_a_long_output_is_cut_in_the_middle_and_says_so(tool: Bash) -> None:
    done = await run(shell_tool(tool), call("seq 200000", "seq 200000 >&2"))
    first, second = outputs(done)
    assert len(first["stdout"]) + len(second["stderr"]) <= 30_000
    assert first["stdout"].startswith("1\n2\n")
    assert first["stdout"].endswith("200000\n")
    assert "bytes not shown" in first["stdout"]


async def test_neither_stream_crowds_out_the_other(tool: Bash) -> None:
    flood = call("seq 20000; seq 20000 >&2", max_output_length=4000)
    (said,) = outputs(await run(shell_tool(tool), flood))
    for stream in ("stdout", "stderr"):
        assert 1500 < len(said[stream]) <= 2000
        assert said[stream].endswith("20000\n")


async def test_a_refusal_is_told_within_what_was_asked_for(tool: Bash) -> None:
    done = await run(shell_tool(tool), call("sudo -n true", max_output_length=20))
    assert outputs(done)[0]["stderr"] == "[denied: The script "


@pytest.mark.parametrize(
    ("command", "code", "said"),
    [
        ("", 0, ""),
        ("echo \0", 125, "NUL"),
        ("echo \ud800", 125, "no character"),
        ("'", 126, "cannot be read"),
    ],
)
async def test_a_command_that_is_none_is_answered(
    tool: Bash, command: str, code: int, said: str
) -> None:
    action = ShellActionRequest(commands=[command, "echo next"])
    first, second = await directly(ShellExecutor(tool), action)
    assert first.exit_code == code
    assert said in first.stderr
    assert second.stdout == "next\n"


@pytest.mark.parametrize("milliseconds", [0, -5, 1 << 80])
@pytest.mark.parametrize("most", [-5, 1 << 80])
async def test_numbers_that_make_no_sense_do_no_harm(
    tool: Bash, milliseconds: int, most: int
) -> None:
    action = ShellActionRequest(
        commands=["exit 4"], timeout_ms=milliseconds, max_output_length=most
    )
    (said,) = await directly(ShellExecutor(tool), action)
    assert said.exit_code == 4


@pytest.mark.parametrize("bad", [call(), call("true", timeout_ms=-1)])
async def test_what_the_sdk_refuses_never_reaches_the_tool(
    tool: Bash, bad: ResponseFunctionShellToolCall
) -> None:
    with pytest.raises(ModelBehaviorError):
        await run(shell_tool(tool), bad)


async def test_a_tool_that_was_closed_is_told_to_the_model(asking: Bash) -> None:
    asking.close()
    done = await run(shell_tool(asking), call("echo hi"))
    (said,) = outputs(done)
    assert said["outcome"]["exit_code"] == 125
    assert "this tool was closed" in said["stderr"]


@pytest.mark.parametrize("seconds", [0.0, -1.0, math.nan])
def test_a_timeout_that_is_none_is_refused(asking: Bash, seconds: float) -> None:
    with pytest.raises(ConfigError, match="is not a positive number of seconds"):
        shell_tool(asking, timeout=seconds)


def test_without_the_sdk_the_adapter_names_what_to_install() -> None:
    code = (
        "import sys; sys.modules['agents'] = None\n"
        "from nacre import Bash, ConfigError\n"
        "try: import nacre.adapters.openai_agents\n"
        "except ConfigError as error: print(error)"
    )
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert done.stdout.strip().endswith("pip install 'nacre[openai-agents]'")
