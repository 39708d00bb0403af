"""NacreToolset in real agents, with models that are scripted."""

import json
import os
import subprocess
import sys
from collections.abc import AsyncGenerator
from dataclasses import replace
from pathlib import Path
from typing import Any

import anyio
import anyio.to_thread
import pytest
from pydantic_ai import (
    Agent,
    DeferredToolRequests,
    DeferredToolResults,
    ModelMessage,
    ModelResponse,
    ToolApproved,
    ToolDenied,
)
from pydantic_ai.capabilities import HandleDeferredToolCalls
from pydantic_ai.messages import ModelRequest, TextPart, ToolCallPart, ToolReturnPart
from pydantic_ai.models.function import AgentInfo, FunctionModel
from pydantic_ai.models.test import TestModel
from pydantic_ai.run import AgentRunResult

from nacre import Bash, Consent, Question
from nacre.adapters.pydantic_ai import NacreToolset
from nacre.engine.grants import Grants
from processes import alive, gone, tag

pytestmark = pytest.mark.anyio

Call = tuple[str, str | dict[str, Any]]
ASK = {"ask": ["Bash(mktemp:*)"]}
# What is asked about: each time it runs, it leaves one more file.
ASKED = "mktemp ran.XXXXXX"


@pytest.fixture
def anyio_backend() -> str:
    """The framework's agents run on this one alone."""
    return "asyncio"


@pytest.fixture
async def asking(workspace: Path, state: Path) -> AsyncGenerator[Bash]:
    async with Bash(workspace=workspace, state=state, rules=ASK) as tool:
        yield tool


def scripted(*turns: Call | list[Call] | str) -> FunctionModel:
    """A model that makes one call after the other, whatever comes of it, and then says the last word."""
    left = list(turns)

    def model(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        del messages, info
        turn = left.pop(0) if left else "done"
        match turn:
            case str():
                return ModelResponse([TextPart(turn)])
            case list():
                return ModelResponse([ToolCallPart(name, args) for name, args in turn])
            case (name, args):
                return ModelResponse([ToolCallPart(name, args)])

    return FunctionModel(model)


def agent(tool: Bash | NacreToolset[object], *turns: Call | list[Call] | str) -> Agent[object, str]:
    toolset = NacreToolset[object](tool) if isinstance(tool, Bash) else tool
    return Agent(scripted(*turns), toolsets=[toolset])


def asking_agent(
    toolset: NacreToolset[object], *turns: Call | list[Call] | str
) -> Agent[object, str | DeferredToolRequests]:
    return Agent(scripted(*turns), toolsets=[toolset], output_type=[str, DeferredToolRequests])


def returns(messages: list[ModelMessage]) -> list[ToolReturnPart]:
    return [
        part
        for message in messages
        if isinstance(message, ModelRequest)
        for part in message.parts
        if isinstance(part, ToolReturnPart)
    ]


def runs(workspace: Path) -> list[str]:
    return [each.name for each in workspace.glob("ran.*")]


def run(command: str, **others: object) -> Call:
    return "Bash", {"command": command, **others}


async def test_what_a_script_says_is_the_tools_return(tool: Bash) -> None:
    done = await agent(tool, run("echo hello")).run("greet")
    [returned] = returns(done.all_messages())
    assert (done.output, returned.content, returned.outcome) == ("done", "hello", "success")
    assert returned.metadata["details"]["exit_code"] == 0


async def test_the_model_sees_the_dialects_tools(workspace: Path, state: Path) -> None:
    seen: list[AgentInfo] = []

    def model(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        del messages
        seen.append(info)
        return ModelResponse([TextPart("done")])

    async with Bash(dialect="codegen", workspace=workspace, state=state) as tool:
        await Agent(FunctionModel(model), toolsets=[NacreToolset(tool)]).run("look")
        specs = tool.specs()
    told = [(each.name, each.parameters_json_schema) for each in seen[0].function_tools]
    assert told == [(spec["name"], spec["input_schema"]) for spec in specs]


async def test_a_script_that_fails_is_an_answer_and_no_call_to_make_again(tool: Bash) -> None:
    turns = [run("echo 1 failed; exit 1"), run("kill -9 $$"), run("exit 1"), run("exit 1")]
    done = await agent(tool, *turns).run("test")
    returned = returns(done.all_messages())
    assert [each.outcome for each in returned] == ["success"] * 4
    assert [each.metadata["is_error"] for each in returned] == [True] * 4
    assert returned[0].content == "1 failed\n[exit code 1]"


async def test_a_guard_that_refuses_tells_the_model_why(tool: Bash) -> None:
    done = await agent(tool, run("sudo ls")).run("ls")
    [returned] = returns(done.all_messages())
    assert "as another user" in str(returned.content)
    assert returned.metadata["details"]["outcome"] == "denied"


@pytest.mark.parametrize(
    ("arguments", "answer"),
    [
        ("{not json", "the arguments of Bash must be an object"),
        ("[1]", "the arguments of Bash must be an object"),
        ('"ls"', "the arguments of Bash must be an object"),
        ("", "Bash needs 'command', a string"),
        ({}, "Bash needs 'command', a string"),
        ({"command": 5}, "'command' must be a string, not 5"),
        ({"command": "ls", "comand": "x"}, "Bash has no argument 'comand'"),
        ('{"command": "ls", "timeout": NaN}', "'timeout' must be a number"),
        ('{"command": "\\ud800"}', "which is no character"),
        ('{"command": "a\\u0000b"}', "NUL"),
        ("[" * 100_000, "the arguments of Bash must be an object"),
    ],
)
async def test_whatever_the_arguments_are_the_dialect_answers(
    tool: Bash, arguments: str | dict[str, Any], answer: str
) -> None:
    # More often than a call may be retried.
    done = await agent(tool, *[("Bash", arguments)] * 4).run("go")
    returned = returns(done.all_messages())
    assert [(answer in str(each.content), each.outcome) for each in returned] == [
        (True, "success")
    ] * 4


async def test_a_model_that_makes_up_its_arguments_is_answered(tool: Bash) -> None:
    done = await Agent(TestModel(), toolsets=[NacreToolset(tool)]).run("go")
    assert {each.tool_name for each in returns(done.all_messages())} == {
        "Bash",
        "BashOutput",
        "KillBash",
        "Jobs",
    }


async def test_a_job_belongs_to_its_conversation(tool: Bash) -> None:
    mark = tag()
    first = await agent(tool, run(f"echo up; sleep {mark}", background=True)).run("start")
    [started] = returns(first.all_messages())
    poll: Call = "BashOutput", {"id": started.metadata["details"]["id"], "wait_for": "up"}
    own = await agent(tool, poll).run("look", message_history=first.all_messages())
    other = await agent(tool, poll, ("Jobs", {})).run("look")
    assert "up" in str(returns(own.new_messages())[0].content)
    missed, listed = returns(other.all_messages())
    assert "no job" in str(missed.content)
    assert started.metadata["details"]["id"] not in str(listed.content)
    await tool.aclose()
    await gone(mark)


async def test_a_run_that_is_cancelled_leaves_no_process(tool: Bash) -> None:
    mark = tag()
    async with anyio.create_task_group() as group:
        turn = run(f"setsid sleep {mark} & sleep {mark}")
        group.start_soon(agent(tool, [turn, turn]).run, "sleep")
        with anyio.fail_after(20):
            while len(alive(f"sleep\0{mark}")) < 4:
                await anyio.sleep(0.01)
        group.cancel_scope.cancel()
    await gone(mark)


async def test_a_confinement_for_the_toolset_alone_holds(tool: Bash, workspace: Path) -> None:
    await agent(NacreToolset(tool, confinement="read-only"), run("touch file")).run("touch")
    assert os.listdir(workspace) == []


async def test_one_toolset_serves_agents_in_several_threads(tool: Bash) -> None:
    toolset = NacreToolset[object](tool)
    outputs: list[str] = []

    def work(number: int) -> None:
        # Not run_sync: it leaves its event loop open.
        done = anyio.run(agent(toolset, run(f"echo {number}")).run, "go")
        outputs.extend(str(each.content) for each in returns(done.all_messages()))

    async with anyio.create_task_group() as group:
        for number in range(4):
            group.start_soon(anyio.to_thread.run_sync, work, number)
    assert sorted(outputs) == ["0", "1", "2", "3"]


def requests_of(done: AgentRunResult[str | DeferredToolRequests]) -> DeferredToolRequests:
    assert isinstance(done.output, DeferredToolRequests)
    return done.output


async def test_what_rules_leave_to_a_person_waits_for_one_and_runs_once(
    asking: Bash, workspace: Path
) -> None:
    toolset = NacreToolset[object](asking)
    asked = await asking_agent(toolset, run(ASKED, description="say it ran")).run("go")
    requests = requests_of(asked)
    [call] = requests.approvals
    told = requests.metadata[call.tool_call_id]
    assert {key: told[key] for key in ("script", "description", "cwd", "part")} == {
        "script": ASKED,
        "description": "say it ran",
        "cwd": str(workspace),
        "part": ASKED,
    }
    assert "workspace" in told["held"]
    assert json.loads(json.dumps(told)) == told
    assert os.listdir(workspace) == []
    done = await asking_agent(toolset).run(
        message_history=asked.all_messages(),
        deferred_tool_results=requests.build_results(approve_all=True),
    )
    [returned] = returns(done.new_messages())
    assert (done.output, runs(workspace)) == ("done", [returned.content])


async def test_beside_a_call_that_waits_the_others_run_and_run_once(
    asking: Bash, workspace: Path
) -> None:
    toolset = NacreToolset[object](asking)
    asked = await asking_agent(toolset, [run("echo free >> free"), run(ASKED)]).run("go")
    assert os.listdir(workspace) == ["free"]
    await asking_agent(toolset).run(
        message_history=asked.all_messages(),
        deferred_tool_results=requests_of(asked).build_results(approve_all=True),
    )
    assert len(runs(workspace)) == 1
    assert (workspace / "free").read_text() == "free\n"


async def test_a_no_reaches_the_model_with_its_reason(asking: Bash, workspace: Path) -> None:
    toolset = NacreToolset[object](asking)
    asked = await asking_agent(toolset, run(ASKED)).run("go")
    [call] = requests_of(asked).approvals
    done = await asking_agent(toolset).run(
        message_history=asked.all_messages(),
        deferred_tool_results=DeferredToolResults(
            approvals={call.tool_call_id: ToolDenied("not on a Friday")}
        ),
    )
    [returned] = returns(done.new_messages())
    assert (returned.content, returned.outcome) == ("not on a Friday", "denied")
    assert os.listdir(workspace) == []


async def test_a_yes_for_always_is_remembered_in_its_conversation(
    asking: Bash, workspace: Path, state: Path
) -> None:
    toolset = NacreToolset[object](asking)
    asked = await asking_agent(toolset, run(ASKED)).run("go")
    [call] = requests_of(asked).approvals
    offered = requests_of(asked).metadata[call.tool_call_id]["grants"]
    first = await asking_agent(toolset).run(
        message_history=asked.all_messages(),
        deferred_tool_results=DeferredToolResults(
            approvals={call.tool_call_id: True},
            metadata={call.tool_call_id: {"consent": "always"}},
        ),
    )
    grants = Grants(state / "grants.db")
    assert [each.rule for each in grants.all()] == offered != []
    grants.close()
    again = await asking_agent(toolset, run(ASKED)).run(
        "again", message_history=first.all_messages()
    )
    assert (again.output, len(runs(workspace))) == ("done", 2)
    assert requests_of(await asking_agent(toolset, run(ASKED)).run("another one"))


async def test_a_yes_for_once_is_not_remembered(asking: Bash, state: Path) -> None:
    toolset = NacreToolset[object](asking)
    asked = await asking_agent(toolset, run(ASKED)).run("go")
    results = requests_of(asked).build_results(approve_all=True)
    await asking_agent(toolset).run(
        message_history=asked.all_messages(), deferred_tool_results=results
    )
    grants = Grants(state / "grants.db")
    assert list(grants.all()) == []
    grants.close()


def with_arguments(messages: list[ModelMessage], arguments: dict[str, Any]) -> list[ModelMessage]:
    """A history in which the last call says something else."""
    *before, last = messages
    assert isinstance(last, ModelResponse)
    parts = [replace(p, args=arguments) if isinstance(p, ToolCallPart) else p for p in last.parts]
    return [*before, replace(last, parts=parts)]


@pytest.mark.parametrize("forgetful", [False, True])
async def test_a_yes_to_one_script_is_no_yes_to_another_under_the_same_id(
    asking: Bash, workspace: Path, *, forgetful: bool
) -> None:
    toolset = NacreToolset[object](asking)
    asked = await asking_agent(toolset, run(ASKED)).run("go")
    requests = requests_of(asked)
    if forgetful:  # as in another process, to which the metadata came back
        toolset = NacreToolset[object](asking)
    again = await asking_agent(toolset).run(
        message_history=with_arguments(asked.all_messages(), {"command": "mktemp other.XXXXXX"}),
        deferred_tool_results=requests.build_results(approve_all=True, metadata=requests.metadata),
    )
    [told] = requests_of(again).metadata.values()
    assert (told["script"], os.listdir(workspace)) == ("mktemp other.XXXXXX", [])


async def test_a_yes_counts_for_the_confinement_that_was_shown(
    asking: Bash, workspace: Path
) -> None:
    asked = await asking_agent(NacreToolset(asking, confinement="read-only"), run(ASKED)).run("go")
    requests = requests_of(asked)
    again = await asking_agent(NacreToolset(asking)).run(
        message_history=asked.all_messages(),
        deferred_tool_results=requests.build_results(approve_all=True, metadata=requests.metadata),
    )
    assert requests_of(again)
    assert os.listdir(workspace) == []


@pytest.mark.parametrize("returned", [False, True])
async def test_an_answer_may_come_to_another_process(
    asking: Bash, workspace: Path, *, returned: bool
) -> None:
    asked = await asking_agent(NacreToolset(asking), run(ASKED)).run("go")
    requests = requests_of(asked)
    metadata = json.loads(json.dumps(requests.metadata)) if returned else None
    done = await asking_agent(NacreToolset(asking)).run(
        message_history=asked.all_messages(),
        deferred_tool_results=requests.build_results(approve_all=True, metadata=metadata),
    )
    assert (done.output, len(runs(workspace))) == ("done", 1)


async def test_an_approver_may_put_another_script_in_its_place(
    asking: Bash, workspace: Path
) -> None:
    toolset = NacreToolset[object](asking)
    asked = await asking_agent(toolset, run(ASKED)).run("go")
    [call] = requests_of(asked).approvals
    edited = ToolApproved(override_args={"command": "mktemp -d edited.XXXXXX"})
    done = await asking_agent(toolset).run(
        message_history=asked.all_messages(),
        deferred_tool_results=DeferredToolResults(approvals={call.tool_call_id: edited}),
    )
    [made] = workspace.iterdir()
    assert (done.output, made.name.partition(".")[0], made.is_dir()) == ("done", "edited", True)


async def test_an_approved_call_that_a_guard_refuses_is_refused(
    asking: Bash, workspace: Path
) -> None:
    toolset = NacreToolset[object](asking)
    asked = await asking_agent(toolset, run(ASKED)).run("go")
    done = await asking_agent(toolset).run(
        message_history=with_arguments(asked.all_messages(), {"command": "sudo touch file"}),
        deferred_tool_results=requests_of(asked).build_results(approve_all=True),
    )
    [returned] = returns(done.new_messages())
    assert returned.metadata["details"]["outcome"] == "denied"
    assert os.listdir(workspace) == []


async def test_a_handler_may_answer_within_the_run(asking: Bash, workspace: Path) -> None:
    handler = HandleDeferredToolCalls[object](
        lambda ctx, requests: requests.build_results(approve_all=bool(ctx))
    )
    asked = Agent(scripted(run(ASKED)), toolsets=[NacreToolset(asking)], capabilities=[handler])
    done = await asked.run("go")
    assert (done.output, len(runs(workspace))) == ("done", 1)


async def test_questions_may_be_left_to_the_tools_own_approver(
    workspace: Path, state: Path
) -> None:
    approved: list[Question] = []

    def approve(question: Question) -> Consent:
        approved.append(question)
        return Consent.ONCE

    async with Bash(workspace=workspace, state=state, rules=ASK, approver=approve) as tool:
        done = await agent(NacreToolset(tool, defers=False), run(ASKED)).run("go")
    assert (done.output, len(runs(workspace))) == ("done", 1)


async def test_with_nobody_to_ask_the_model_is_told(asking: Bash, workspace: Path) -> None:
    done = await agent(NacreToolset(asking, defers=False), run(ASKED)).run("go")
    [returned] = returns(done.all_messages())
    assert (returned.metadata["details"]["outcome"], os.listdir(workspace)) == ("denied", [])


async def test_questions_that_nobody_answers_are_forgotten(asking: Bash) -> None:
    toolset = NacreToolset[object](asking)
    for number in range(1200):
        toolset._asked.put((None, str(number)), b"")
    assert [toolset._asked.get((None, str(each))) for each in (199, 200)] == [None, b""]


def test_without_the_framework_the_import_says_what_to_install() -> None:
    code = "import sys; sys.modules['pydantic_ai'] = None; import nacre.adapters.pydantic_ai"
    done = subprocess.run([sys.executable, "-c", code], check=False, capture_output=True, text=True)
    assert "ConfigError: Pydantic AI cannot be imported" in done.stderr
    assert "pip install 'nacre[pydantic-ai]'" in done.stderr
