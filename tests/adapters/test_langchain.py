"""LangChain's real agents, graphs and middleware, with a model that says what it was told to."""

# What LangGraph says of its own types is not complete.
# pyright: reportMissingTypeStubs=false, reportUnknownMemberType=false, reportUnknownVariableType=false

import asyncio
import json
import subprocess
import sys
import tempfile
from collections.abc import Generator, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any, Protocol, Self, cast
from uuid import uuid4

import anyio
import pytest
from langchain.agents import create_agent
from langchain.agents.middleware import ShellToolMiddleware
from langchain_core.language_models.fake_chat_models import GenericFakeChatModel
from langchain_core.messages import AIMessage, ToolMessage
from langchain_core.runnables import RunnableConfig
from langchain_core.tools import BaseTool
from langchain_core.tools import tool as as_tool
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import END, START, MessagesState, StateGraph
from langgraph.prebuilt import ToolNode
from langgraph.types import Command, interrupt

from hosts import finish, start_host
from nacre import Bash, Consent, Question, SandboxError
from nacre.adapters.langchain import NacreExecutionPolicy, nacre_tools
from processes import alive, gone, gone_blocking, kill_all, tag

# LangChain does not wait for a shell that it has killed.
pytestmark = pytest.mark.filterwarnings("ignore:subprocess .* is still running:ResourceWarning")

ASKS = {"ask": ["Bash(touch:*)"]}


@pytest.fixture
def anyio_backend() -> str:
    """LangGraph knows asyncio only."""
    return "asyncio"


class Scripted(GenericFakeChatModel):
    """A model that makes the calls it was given, in order."""

    def bind_tools(self, tools: object, **_: object) -> Self:
        del tools
        return self


class Graph(Protocol):
    """What agents and graphs have in common."""

    def invoke(self, given: object, config: object = None, /) -> dict[str, Any]: ...

    async def ainvoke(self, given: object, config: object = None, /) -> dict[str, Any]: ...


def calls(*made: dict[str, Any], tool: str = "Bash") -> AIMessage:
    numbered = [
        {"name": tool, "args": args, "id": f"{uuid4()}", "type": "tool_call"} for args in made
    ]
    return AIMessage("", tool_calls=numbered)


def agent(tools: Sequence[BaseTool], *turns: AIMessage, **more: object) -> Graph:
    model = Scripted(messages=iter([*turns, AIMessage("done")]))
    return cast("Graph", create_agent(model, tools=list(tools), **cast("dict[str, Any]", more)))


def graph(tools: Sequence[BaseTool], saver: InMemorySaver) -> Graph:
    """A node that makes all calls of a message, as one wires it up oneself."""
    made = StateGraph(MessagesState)
    made.add_node("tools", ToolNode(list(tools)))
    made.add_edge(START, "tools")
    made.add_edge("tools", END)
    return cast("Graph", made.compile(checkpointer=saver))


def thread(name: str) -> RunnableConfig:
    return {"configurable": {"thread_id": name}}


def go(*messages: AIMessage) -> dict[str, object]:
    return {"messages": [*messages] or [("user", "go")]}


def results(said: dict[str, Any]) -> list[ToolMessage]:
    return [each for each in said["messages"] if isinstance(each, ToolMessage)]


def asked(said: dict[str, Any]) -> list[Any]:
    return [each.value for each in said.get("__interrupt__", [])]


@pytest.fixture
def asking(workspace: Path, state: Path) -> Iterator[Bash]:
    with Bash(workspace=workspace, state=state, rules=ASKS) as tool:
        yield tool


async def test_every_tool_of_a_dialect_is_there_with_its_own_schema(tool: Bash) -> None:
    specs = {str(spec["name"]): spec for spec in tool.specs()}
    found = {each.name: each for each in nacre_tools(tool)}
    assert found.keys() == specs.keys()
    for name, each in found.items():
        assert each.args_schema == specs[name]["input_schema"]
        assert each.description.startswith(str(specs[name]["description"])[:40])


async def test_an_agent_reads_the_reply_and_the_host_its_details(
    tool: Bash, workspace: Path
) -> None:
    turn = calls({"command": "pwd"}, {"command": "echo no; exit 3"})
    first, second = results(await agent(nacre_tools(tool), turn).ainvoke(go()))
    assert (first.content, first.status) == (str(workspace), "success")
    assert (second.content, second.status) == ("no\n[exit code 3]", "error")
    assert second.artifact["is_error"]
    assert second.artifact["details"]["exit_code"] == 3
    assert json.loads(json.dumps(second.artifact)) == second.artifact


async def test_a_tool_can_be_invoked_with_and_without_an_event_loop(tool: Bash) -> None:
    bash = nacre_tools(tool)[0]
    made = {"command": "echo hi"}
    assert bash.invoke(made) == "hi"  # here: one is running on this thread
    assert await anyio.to_thread.run_sync(bash.invoke, made) == "hi"
    assert await bash.ainvoke(made) == "hi"


async def test_two_threads_do_not_see_each_others_jobs(tool: Bash) -> None:
    bash, *_, jobs = nacre_tools(tool)
    await bash.ainvoke({"command": "sleep 60", "background": True}, thread("one"))
    assert "sleep 60" in await jobs.ainvoke({}, thread("one"))
    assert await jobs.ainvoke({}, thread("two")) == "[no jobs]"
    assert await jobs.ainvoke({}) == "[no jobs]"


@pytest.mark.parametrize(
    "strange",
    [
        {"self": 1, "config": 2, "run_manager": 3, "arguments": 4, "call_id": 5},
        {"command": 7},
        {"command": "echo \0"},
        {"command": "echo \ud800"},
        {"command": None, "timeout": "soon"},
        {},
    ],
)
async def test_whatever_a_model_sends_is_answered(tool: Bash, strange: dict[str, Any]) -> None:
    [answer] = results(await agent(nacre_tools(tool), calls(strange)).ainvoke(go()))
    assert answer.status == "error"
    assert str(answer.content).startswith("[")


async def test_a_long_output_is_cut(tool: Bash) -> None:
    [answer] = results(
        await agent(nacre_tools(tool), calls({"command": "seq 100000"})).ainvoke(go())
    )
    assert len(str(answer.content)) < 40_000
    assert answer.artifact["details"]["omitted_bytes"] > 500_000


@pytest.mark.parametrize(
    ("answer", "runs"),
    [
        ("once", True),
        (True, True),
        ({"type": "approve"}, True),
        ("no", False),
        (False, False),
        ({"type": "reject", "message": "not today"}, False),
        ("yes, please", False),
        (1, False),
        ({"decisions": [{"type": "approve"}]}, False),
    ],
)
async def test_a_question_interrupts_the_agent_until_it_is_answered(
    asking: Bash, workspace: Path, answer: object, *, runs: bool
) -> None:
    made = agent(nacre_tools(asking), calls({"command": "touch a"}), checkpointer=InMemorySaver())
    [question] = asked(await made.ainvoke(go(), thread("t")))
    assert (question["script"], question["name"]) == ("touch a", "Bash")
    assert "needs approval" in question["description"]
    assert not (workspace / "a").exists()
    [reply] = results(await made.ainvoke(Command(resume=answer), thread("t")))
    assert (workspace / "a").exists() is runs
    assert reply.status == ("success" if runs else "error")
    if isinstance(answer, dict) and "message" in answer:
        assert "[the user says: not today]" in reply.content


def test_always_holds_for_the_thread_that_it_was_said_in(asking: Bash) -> None:
    turns = [calls({"command": "touch a"}) for _ in range(3)]
    made = agent(nacre_tools(asking), *turns, checkpointer=InMemorySaver())
    assert asked(made.invoke(go(), thread("one")))
    said = made.invoke(Command(resume="always"), thread("one"))
    assert [each.status for each in results(said)] == ["success"] * 3
    other = agent(nacre_tools(asking), *turns, checkpointer=InMemorySaver())
    assert asked(other.invoke(go(), thread("two")))


async def test_calls_of_an_agent_are_asked_about_and_answered_one_by_one(
    asking: Bash, workspace: Path
) -> None:
    turn = calls({"command": "touch a"}, {"command": "echo x >> log"}, {"command": "touch b"})
    made = agent(nacre_tools(asking), turn, checkpointer=InMemorySaver())
    said = await made.ainvoke(go(), thread("t"))
    answers = {
        each.id: "once" if each.value["script"] == "touch b" else "no"
        for each in said["__interrupt__"]
    }
    assert len(answers) == 2
    said = await made.ainvoke(Command(resume=answers), thread("t"))
    assert [each.status for each in results(said)] == ["error", "success", "success"]
    assert {path.name for path in workspace.iterdir()} == {"b", "log"}
    assert (workspace / "log").read_text() == "x\n"


def test_what_ran_beside_a_question_is_not_run_again(asking: Bash, workspace: Path) -> None:
    made = graph(nacre_tools(asking), InMemorySaver())
    turn = calls({"command": "echo x >> log; cat log"}, {"command": "touch a"})
    assert asked(made.invoke(go(turn), thread("t")))
    said = made.invoke(Command(resume="once"), thread("t"))
    assert [each.content for each in results(said)] == ["x", "[no output]"]
    assert (workspace / "log").read_text() == "x\n"


def test_what_was_cut_short_by_a_question_is_not_run_again(asking: Bash, workspace: Path) -> None:
    mark = tag()

    @as_tool
    async def ask() -> str:
        """Ask something when the other call has begun."""
        with anyio.fail_after(20):
            while not (workspace / "log").exists():
                await anyio.sleep(0.01)
        return str(interrupt("?"))

    made = graph([*nacre_tools(asking), ask], InMemorySaver())
    turn = calls({"command": f"echo x >> log; sleep {mark}"})
    turn.tool_calls += calls({}, tool="ask").tool_calls
    # Each has an event loop of its own, and with the first one the call ends.
    assert asked(asyncio.run(made.ainvoke(go(turn), thread("t")))) == ["?"]
    gone_blocking(mark)
    first, second = results(asyncio.run(made.ainvoke(Command(resume="fine"), thread("t"))))
    assert "see what it has done before you make it again" in first.content
    assert second.content == "fine"
    assert (workspace / "log").read_text() == "x\n"


def test_nothing_runs_twice_however_much_is_done_meanwhile(asking: Bash, workspace: Path) -> None:
    tools = nacre_tools(asking)
    made = graph(tools, InMemorySaver())
    turn = calls({"command": "touch a"}, {"command": "echo x >> log"})
    made.invoke(go(turn), thread("t"))
    for number in range(3):
        many = calls(*({"command": f"true {number} {at}"} for at in range(70)))
        made.invoke(go(many), thread(f"other {number}"))
    said = results(made.invoke(Command(resume="once"), thread("t")))
    assert "what it said is not known any more" in said[1].content
    assert (workspace / "log").read_text() == "x\n"


def test_a_node_asks_one_question_and_the_other_call_is_refused(
    asking: Bash, workspace: Path
) -> None:
    made = graph(nacre_tools(asking), InMemorySaver())
    turn = calls({"command": "touch a"}, {"command": "touch b"})
    [question] = asked(made.invoke(go(turn), thread("t")))
    said = results(made.invoke(Command(resume="once"), thread("t")))
    [yes] = [each for each in said if each.status == "success"]
    [no] = [each for each in said if each.status == "error"]
    assert yes.tool_call_id == question["tool_call_id"]
    assert "One question is asked at a time" in no.content
    assert [f"touch {path.name}" for path in workspace.iterdir()] == [question["script"]]


@pytest.mark.parametrize("anew", [False, True])
@pytest.mark.parametrize(
    ("answer", "counts"),
    [
        ("once", "here"),
        (True, "never"),  # it may be what another tool of the node is told
        ({"type": "approve"}, "never"),
        ({"type": "approve", "tool_call_id": "another"}, "never"),
        ({"type": "approve", "tool_call_id": "this"}, "anywhere"),
    ],
)
def test_in_a_node_of_several_calls_an_answer_must_say_what_it_is_about(
    asking: Bash, workspace: Path, answer: object, counts: str, *, anew: bool
) -> None:
    saver = InMemorySaver()
    tools = nacre_tools(asking)
    turn = calls({"command": "touch a"})
    turn.tool_calls[0]["id"] = "this"
    assert asked(graph(tools, saver).invoke(go(turn), thread("t")))
    # Tools that were made anew know as little as another process does.
    made = graph(nacre_tools(asking) if anew else tools, saver)
    [reply] = results(made.invoke(Command(resume=answer), thread("t")))
    runs = counts == "anywhere" or (counts == "here" and not anew)
    assert (workspace / "a").exists() is runs
    assert ("not certain that the answer was about this script" in reply.content) is not runs


@pytest.mark.parametrize(
    ("answer", "runs"), [("once", True), ({"type": "approve", "tool_call_id": "another"}, False)]
)
def test_an_agents_question_can_be_answered_in_another_process(
    asking: Bash, workspace: Path, answer: object, *, runs: bool
) -> None:
    saver = InMemorySaver()
    turn = calls({"command": "touch a"})
    assert asked(agent(nacre_tools(asking), turn, checkpointer=saver).invoke(go(), thread("t")))
    agent(nacre_tools(asking), checkpointer=saver).invoke(Command(resume=answer), thread("t"))
    assert (workspace / "a").exists() is runs


@pytest.mark.parametrize("saver", [None, InMemorySaver()])
async def test_the_tools_own_approver_is_asked_where_no_graph_can_be_interrupted(
    workspace: Path, state: Path, saver: InMemorySaver | None
) -> None:
    questions: list[str] = []

    async def approver(question: Question) -> Consent:
        questions.append(question.script)
        return Consent.ONCE

    async with Bash(workspace=workspace, state=state, rules=ASKS, approver=approver) as tool:
        tools = nacre_tools(tool, interrupts=saver is None)
        made = agent(tools, calls({"command": "touch a"}), checkpointer=saver)
        [reply] = results(await made.ainvoke(go(), thread("t")))
    assert questions == ["touch a"]
    assert reply.status == "success"


async def test_a_run_that_is_cancelled_leaves_no_process(tool: Bash) -> None:
    mark = tag()
    made = agent(nacre_tools(tool), calls({"command": f"setsid sleep {mark} & sleep {mark}"}))
    run = asyncio.ensure_future(made.ainvoke(go()))
    with anyio.fail_after(20):
        while not alive(mark):
            await anyio.sleep(0.01)
    run.cancel()
    with pytest.raises(asyncio.CancelledError):
        await run
    await gone(mark)


def test_without_langchain_the_extra_is_named() -> None:
    code = (
        "import sys; sys.modules['langchain_core'] = sys.modules['langchain'] = None\n"
        "import nacre.adapters.langchain"
    )
    done = subprocess.run([sys.executable, "-c", code], check=False, capture_output=True, text=True)
    assert "nacre.errors.ConfigError: LangChain cannot be imported" in done.stderr
    assert "pip install 'nacre[langchain]'" in done.stderr


@pytest.fixture
def policy(state: Path) -> NacreExecutionPolicy:
    return NacreExecutionPolicy(state=state)


def shell(policy: NacreExecutionPolicy, workspace: Path, *commands: str) -> list[ToolMessage]:
    """What an agent is told by the middleware's shell, command by command."""
    turns = [calls({"command": each}, tool="shell") for each in commands]
    middleware = ShellToolMiddleware(workspace_root=workspace, execution_policy=policy)
    return results(agent([], *turns, middleware=[middleware]).invoke(go()))


def test_a_shell_keeps_its_state_and_is_held(policy: NacreExecutionPolicy, workspace: Path) -> None:
    outside = Path.home() / f"nacre-{tag()}"
    told = shell(
        policy,
        workspace,
        "mkdir -p a && cd a && x=5",
        "echo $x > b; pwd; cat b",
        f"echo no > {outside}",
    )
    assert told[1].content == f"{workspace / 'a'}\n5\n"
    assert told[2].status == "error"
    assert not outside.exists()
    assert (workspace / "a" / "b").read_text() == "5\n"


def test_nothing_of_a_shell_outlives_the_agents_run(
    policy: NacreExecutionPolicy, workspace: Path
) -> None:
    mark = tag()
    [told] = shell(
        policy, workspace, f"setsid sleep {mark} & (nohup sleep {mark} &) 2>/dev/null; echo ok"
    )
    assert "ok" in told.content
    gone_blocking(mark)


def test_a_shell_that_langchain_kills_leaves_nothing_and_starts_again(
    workspace: Path, state: Path
) -> None:
    mark = tag()
    policy = NacreExecutionPolicy(state=state, command_timeout=2.0, termination_timeout=0.1)
    slow, after = shell(policy, workspace, f"setsid sleep {mark} & sleep {mark}", "echo again")
    assert "timed out" in slow.content
    assert after.content == "again\n"
    gone_blocking(mark)


def test_a_shell_does_not_outlive_its_host(workspace: Path, state: Path) -> None:
    mark = tag()
    host = start_host(
        f"""
        import sys
        from pathlib import Path
        from nacre.adapters.langchain import NacreExecutionPolicy

        shell = NacreExecutionPolicy().spawn(
            workspace=Path({str(workspace)!r}), env={{}}, command=["/bin/bash"]
        )
        shell.stdin.write("setsid sleep {mark} & sleep {mark} & echo up; sleep {mark}\\n")
        print(shell.stdout.readline(), flush=True)
        sys.stdin.read()
        """,
        state,
    )
    try:
        assert host.stdout is not None
        assert host.stdout.readline() == b"up\n"
        assert alive(mark)
        finish(host)
        gone_blocking(mark)
    finally:
        kill_all(mark)


@contextmanager
def spawned(
    policy: NacreExecutionPolicy, workspace: Path, **env: str
) -> Generator[tuple[subprocess.Popen[str], IO[str], IO[str], IO[str]]]:
    """A shell as LangChain is given it, with its three streams."""
    with policy.spawn(workspace=workspace, env=env, command=["/bin/bash"]) as process:
        assert process.stdin
        assert process.stdout
        assert process.stderr
        yield process, process.stdin, process.stdout, process.stderr


def test_a_shell_has_both_streams_and_the_variables_it_was_given_and_no_secret(
    policy: NacreExecutionPolicy, workspace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MY_TOKEN", "hunter2hunter2")
    mark = tag()
    with spawned(policy, workspace, COLOUR=mark) as (process, stdin, output, errors):
        assert not alive(mark)  # on no command line, where others could read it
        stdin.write("echo $COLOUR ${MY_TOKEN:-none}; echo oh >&2; exit 7\n")
        assert output.read() == f"{mark} none\n"
        assert errors.read() == "oh\n"
        assert process.wait(20) == 7


def test_a_line_without_an_end_comes_in_pieces(
    policy: NacreExecutionPolicy, workspace: Path
) -> None:
    with spawned(policy, workspace) as (_, stdin, output, _):
        stdin.write("head -c 1000000 /dev/zero | tr '\\0' x; echo; exit\n")
        pieces = list(iter(output.readline, ""))
        assert output.readline() == ""
    assert max(map(len, pieces)) <= 1 << 16
    assert "".join(pieces) == "x" * 1_000_000 + "\n"


def test_a_shell_is_not_held_by_modules_of_its_workspace(
    policy: NacreExecutionPolicy, workspace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("anyio", "json", "nacre"):
        (workspace / f"{name}.py").write_text(f"open({str(workspace / 'seen')!r}, 'w')")
    monkeypatch.chdir(workspace)
    monkeypatch.setenv("PYTHONPATH", str(workspace))
    monkeypatch.setattr(sys, "path", [str(workspace), "", *sys.path])
    with spawned(policy, workspace) as (process, stdin, *_):
        stdin.write("exit\n")
        assert process.wait(20) == 0
    assert not (workspace / "seen").exists()


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"sandbox": "paper"}, "'paper' is not known"),
        ({"write": ["/no/such/folder"]}, "there is no such folder"),
        ({"confinement": "read-only"}, "use confinement='workspace'"),
    ],
)
def test_a_shell_that_cannot_be_held_as_asked_is_not_started(
    workspace: Path, monkeypatch: pytest.MonkeyPatch, settings: dict[str, Any], words: str
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(workspace.parent))
    policy = NacreExecutionPolicy(state=workspace.parent / "state", **settings)
    with pytest.raises(SandboxError, match="the shell was not started") as raised:
        policy.spawn(workspace=workspace, env={}, command=["/bin/bash"])
    assert words in str(raised.value)
    assert not list(workspace.parent.glob("nacre-shell-*"))


def test_where_there_are_rules_no_shell_goes_around_them(
    policy: NacreExecutionPolicy, workspace: Path
) -> None:
    (workspace / "nacre.toml").write_text("[permissions]\ndeny = ['Bash(curl:*)']\n")
    with pytest.raises(SandboxError, match="cannot be read before they run; use nacre_tools"):
        policy.spawn(workspace=workspace, env={}, command=["/bin/bash"])
