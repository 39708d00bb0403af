"""Anthropic's tool runner against an endpoint that plays the model, with nacre behind its bash tool."""

import json
import math
import subprocess
import sys
from pathlib import Path
from shlex import quote
from typing import Any

import anyio
import httpx2
import pytest
from anthropic import Anthropic, AsyncAnthropic
from anthropic.lib.tools import ToolError

from nacre import Bash, ConfigError, Consent, Question
from nacre.adapters.anthropic import NacreAsyncBashTool, NacreBashTool
from nacre.engine.journal import JOURNAL, read_journal
from processes import alive, gone, tag

MESSAGES: Any = [{"role": "user", "content": "go"}]


class Model:
    """Answers each request with the next call of the bash tool, and ends when there is none."""

    def __init__(self, *inputs: object) -> None:
        self._inputs = iter(inputs)
        self.requests: list[dict[str, Any]] = []

    def __call__(self, request: httpx2.Request) -> httpx2.Response:
        self.requests.append(json.loads(request.read()))
        given = next(self._inputs, None)
        used = {"type": "tool_use", "id": f"call_{len(self.requests)}", "name": "bash"}
        said = {"type": "text", "text": "done"} if given is None else {**used, "input": given}
        return httpx2.Response(
            200,
            json={
                "id": "message",
                "type": "message",
                "role": "assistant",
                "model": "scripted",
                "content": [said],
                "stop_reason": "end_turn" if given is None else "tool_use",
                "stop_sequence": None,
                "usage": {"input_tokens": 1, "output_tokens": 1},
            },
        )

    @property
    def results(self) -> list[tuple[str, bool]]:
        """What the model was told about each of its calls, and whether as an error."""
        blocks = [request["messages"][-1]["content"][0] for request in self.requests[1:]]
        return [(block["content"], block.get("is_error", False)) for block in blocks]


async def converse(tool: NacreAsyncBashTool, *inputs: object) -> list[tuple[str, bool]]:
    """Run the whole loop; return what the model was told about each of its calls."""
    model = Model(*inputs)
    transport = httpx2.MockTransport(model)
    async with AsyncAnthropic(
        api_key="none", http_client=httpx2.AsyncClient(transport=transport)
    ) as client:
        runner = client.beta.messages.tool_runner(
            model="scripted", max_tokens=100, messages=MESSAGES, tools=[tool]
        )
        message = await runner.until_done()
    assert message.stop_reason == "end_turn"
    assert model.requests[0]["tools"] == [{"type": "bash_20250124", "name": "bash"}]
    return model.results


async def said(tool: NacreAsyncBashTool, command: str) -> str:
    """What the model reads of one command, whether it ended well or not."""
    try:
        return await tool.call({"command": command})
    except ToolError as error:
        return str(error)


@pytest.fixture
def bash(tool: Bash) -> NacreAsyncBashTool:
    return NacreAsyncBashTool(tool)


async def test_a_conversation_goes_on_in_the_folder_and_with_the_variables_of_the_last_command(
    bash: NacreAsyncBashTool, workspace: Path
) -> None:
    commands = (
        "pwd",
        "mkdir sub && cd sub && export GREETING='hello there'",
        'pwd; echo "$GREETING"; cd ..; unset GREETING; exit 3',
        'pwd; echo "${GREETING-gone}"; echo to stderr >&2',
    )
    assert await converse(bash, *({"command": each} for each in commands)) == [
        (str(workspace), False),
        ("[no output]", False),
        (f"{workspace}/sub\nhello there\n[exit code 3]", True),
        (f"{workspace}\ngone\nto stderr", False),
    ]


async def test_nothing_else_is_carried_over(bash: NacreAsyncBashTool) -> None:
    await said(bash, "plain=1; f() { echo f; }; export -f f; shopt -s expand_aliases; alias g=f")
    text = await said(bash, "echo ${plain-unset}; type f g 2>/dev/null; set -o | grep posix")
    assert text.split() == ["unset", "posix", "off"]


async def test_a_program_is_found_by_the_path_of_the_last_command(
    bash: NacreAsyncBashTool, workspace: Path
) -> None:
    program = workspace / "bin" / "greet"
    program.parent.mkdir()
    program.write_text("#!/bin/sh\necho hello\n")
    program.chmod(0o755)
    await said(bash, "export PATH=$PWD/bin:$PATH")
    assert await said(bash, "cd /; greet") == "hello"


NASTY = (
    "",
    " ",
    "a\nb\n",
    "tab\t\x1b[0m\x01\x7f",
    "\"'`$(id)\\\\n${HOME}",
    "é€😀",
    "\udcff",
    "-n",
    "*",
)


async def test_values_are_carried_to_the_byte(bash: NacreAsyncBashTool) -> None:
    names = [f"V{at}" for at in range(len(NASTY))]
    words = (f"{name}={quote(value)}" for name, value in zip(names, NASTY, strict=True))
    assert await said(bash, f"export {' '.join(words)}") == "[no output]"
    quoted = " ".join(f'"${name}"' for name in names)
    shown = await said(bash, f"printf '%s|' {quoted} | od -An -tx1 -v")
    expected = "".join(f"{value}|" for value in NASTY)
    assert bytes.fromhex(shown) == expected.encode("utf-8", "surrogateescape")


async def test_a_restart_forgets_what_was_carried(
    bash: NacreAsyncBashTool, workspace: Path
) -> None:
    first, again, after = await converse(
        bash,
        {"command": "cd /usr; export A=1"},
        {"restart": True},
        {"command": "pwd; echo ${A-unset}"},
    )
    assert first == ("[no output]", False)
    assert again == (
        "[restarted: the next command starts in the first folder, without what was exported]",
        False,
    )
    assert after == (f"{workspace}\nunset", False)


async def test_a_restart_does_not_run_a_command_that_comes_with_it(
    bash: NacreAsyncBashTool, workspace: Path
) -> None:
    ((text, is_error),) = await converse(bash, {"command": "touch file", "restart": True})
    assert is_error
    assert text.endswith("[the command was not run; send it without 'restart']")
    assert not (workspace / "file").exists()


async def test_a_command_out_of_time_is_ended_and_leaves_the_shell_as_it_was(tool: Bash) -> None:
    mark = tag()
    bash = NacreAsyncBashTool(tool, timeout=0.3)
    _, ended, after = await converse(
        bash,
        {"command": "export A=before"},
        {"command": f"export A=late; echo begun; setsid sleep {mark} & sleep {mark}"},
        {"command": "echo $A"},
    )
    await gone(mark)
    text = "begun\n[timed out after 0.3 s; it was ended with all it started]"
    assert ended == (text, True)
    assert after == ("before", False)


async def test_what_outlives_its_command_is_ended(bash: NacreAsyncBashTool) -> None:
    mark = tag()
    assert await said(bash, f"setsid sleep {mark} & echo $?") == "0"
    await gone(mark)


async def test_a_denial_says_why_and_reaches_the_model_as_an_error(
    bash: NacreAsyncBashTool,
) -> None:
    ((text, is_error),) = await converse(bash, {"command": "sudo -n true"})
    assert is_error
    assert text.startswith("[denied: The script would run something as another user.]")


async def test_a_long_output_is_cut_in_the_middle(bash: NacreAsyncBashTool) -> None:
    ((text, is_error),) = await converse(bash, {"command": "seq 200000; echo last >&2"})
    assert not is_error
    assert len(text) < 30_500
    assert text.startswith("1\n2\n")
    assert text.endswith("200000\nlast")
    assert "bytes not shown" in text


async def test_a_call_that_is_cancelled_leaves_no_process_and_the_shell_as_it_was(
    bash: NacreAsyncBashTool,
) -> None:
    mark = tag()
    await said(bash, "export A=before")
    with anyio.fail_after(20):
        async with anyio.create_task_group() as tasks:
            script = f"export A=late; setsid sleep {mark} & sleep {mark}"
            tasks.start_soon(converse, bash, {"command": script})
            while len(alive(mark)) < 3:  # the shell, and two that sleep
                await anyio.sleep(0.01)
            tasks.cancel_scope.cancel()
    await gone(mark)
    assert await said(bash, "echo $A") == "before"


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ({}, "bash needs 'command', a string"),
        ({"command": None}, "bash needs 'command', a string"),
        ({"command": 5}, "'command' must be a string, not 5"),
        ({"command": ["ls"]}, "'command' must be a string, not ['ls']"),
        ({"command": "ls", "timeout": 5}, "bash has no argument 'timeout'"),
        ({"restart": "perhaps"}, "'restart' must be true or false, not 'perhaps'"),
        ({"command": "echo \0"}, "holds a NUL character"),
        ({"command": "true " + "#" * 140_000}, "use a file"),
    ],
)
async def test_a_malformed_call_is_answered_with_what_would_do(
    bash: NacreAsyncBashTool, given: object, sentence: str
) -> None:
    bad, after = await converse(bash, given, {"command": "echo next"})
    assert bad[1]
    assert sentence in bad[0]
    assert after == ("next", False)


@pytest.mark.parametrize("given", [None, "ls", ["ls"], 5, {"command": "echo \ud800"}])
async def test_what_no_json_object_holds_is_answered_too(
    bash: NacreAsyncBashTool, given: object
) -> None:
    with pytest.raises(ToolError, match=r"must be an object|which is no character"):
        await bash.call(given)


async def test_a_script_and_its_messages_are_what_plain_bash_makes_of_them(
    state: Path, workspace: Path
) -> None:
    # A dialect in which bash reports syntax errors itself.
    async with Bash(workspace=workspace, state=state, dialect="codegen") as tool:
        bash = NacreAsyncBashTool(tool)
        script = "export A=1; cat; echo $LINENO $BASH_EXECUTION_STRING"
        assert await said(bash, script) == f"1 {script}"
        text = await said(bash, "true\nif ; then")
    assert text.startswith("bash: -c: line 2: syntax error near unexpected token `;'")
    assert "`if ; then'" in text


async def test_a_link_that_was_taken_is_still_the_way(
    bash: NacreAsyncBashTool, workspace: Path
) -> None:
    (workspace / "a" / "b").mkdir(parents=True)
    (workspace / "link").symlink_to("a/b")
    await said(bash, "cd link")
    assert await said(bash, "pwd; cd ..; pwd") == f"{workspace}/link\n{workspace}"


async def test_a_folder_that_only_the_sandbox_knows_is_carried_over(
    bash: NacreAsyncBashTool,
) -> None:
    folder = await said(bash, "cd $(mktemp -d) && echo kept > file && pwd")
    assert await said(bash, "pwd; cat file") == f"{folder}\nkept"


async def test_in_a_folder_that_is_gone_nothing_runs_and_the_next_starts_in_the_first(
    bash: NacreAsyncBashTool, workspace: Path
) -> None:
    (workspace / "sub").mkdir()
    await said(bash, "cd sub; rmdir ../sub")
    text = await said(bash, "echo ran")
    assert text.startswith(f"[not run: the folder {workspace}/sub is not there any more; the next")
    assert "\nran" not in text
    assert await said(bash, "pwd") == str(workspace)


@pytest.mark.parametrize("command", ["exec true", "trap 'echo mine' EXIT", r"printf '\0\n' >&63"])
async def test_a_command_that_does_not_say_how_it_ended_changes_nothing(
    bash: NacreAsyncBashTool, command: str
) -> None:
    await said(bash, "export A=before")
    text = await said(bash, f"export A=late; {command}")
    assert text.endswith("is not known; the next command starts as this one did]")
    assert await said(bash, "echo $A") == "before"


async def test_what_a_script_says_in_the_place_of_bash_does_not_become_code(
    bash: NacreAsyncBashTool, workspace: Path
) -> None:
    lie = r"""\0\n%s\n\0\ndeclare -x A="$(touch run)`touch run`"\ndeclare -x B%%="x"\n"""
    await said(bash, f"printf '{lie}' \"$PWD; touch run\" >&63; exec 63>&-")
    assert "not there any more" in await said(bash, "true")
    await said(bash, f"printf '{lie}' \"$PWD\" >&63; exec 63>&-")
    assert await said(bash, 'echo "$A"') == "$(touch run)`touch run`"
    assert list(workspace.iterdir()) == []


async def test_what_would_change_the_next_bash_or_looks_like_a_secret_is_not_kept_and_told(
    bash: NacreAsyncBashTool, workspace: Path
) -> None:
    (workspace / "env").write_text("export DEPLOY_TOKEN=q8Zr5tXw2LmN7vKp\n")
    exports = "BASH_ENV=$PWD/evil HOME=/nowhere LD_PRELOAD= KEPT=1"
    text = await said(bash, f"export {exports}; . ./env; echo 'echo evil' > evil")
    assert text == "[note: not kept for the next command: BASH_ENV, DEPLOY_TOKEN, HOME, LD_PRELOAD]"
    shown = "echo $KEPT ${BASH_ENV-unset} ${LD_PRELOAD-unset} ${DEPLOY_TOKEN:+set}"
    assert await said(bash, shown) == "1 unset unset"


async def test_no_more_is_kept_than_a_program_can_be_given(bash: NacreAsyncBashTool) -> None:
    await said(bash, "export FIRST=1")
    text = await said(bash, "export BIG=$(printf %070000d 0) SMALL=1")
    assert text == "[note: not kept for the next command: BIG]"
    many = await said(bash, "export M{1..400}=x")
    assert many.startswith("[note: not kept for the next command: M")
    assert len(many) < 300
    assert await said(bash, "echo $FIRST $SMALL ${BIG-unset}") == "1 1 unset"


def rules(*allowed: str) -> dict[str, object]:
    return {"permissions": {"allow": list(allowed), "default": "ask"}}


class Person:
    """Says yes to the first question, and no to those after it."""

    def __init__(self, first: Consent = Consent.ONCE) -> None:
        self._first = first
        self.asked: list[Question] = []

    def __call__(self, question: Question) -> Consent:
        self.asked.append(question)
        return self._first if len(self.asked) == 1 else Consent.NO


async def test_a_variable_that_rules_take_for_harmless_asks_nobody(
    workspace: Path, state: Path
) -> None:
    person = Person()
    allowed = rules("Bash(echo:*)")
    async with Bash(workspace=workspace, state=state, rules=allowed, approver=person) as tool:
        bash = NacreAsyncBashTool(tool)
        assert await said(bash, "export CI=true; touch file") == "[no output]"
        assert await said(bash, "echo $CI") == "true"
    assert len(person.asked) == 1


async def test_a_path_that_was_changed_keeps_allowed_commands_from_running_unasked(
    workspace: Path, state: Path
) -> None:
    person = Person()
    async with Bash(
        workspace=workspace, state=state, rules=rules("Bash(ls:*)"), approver=person
    ) as tool:
        bash = NacreAsyncBashTool(tool)
        await said(bash, "export PATH=$PWD:$PATH")
        denied = await said(bash, "ls")
        await bash.call({"restart": True})
        assert await said(bash, "ls") == "[no output]"
    note, reason = denied.splitlines()[:2]
    assert note == "[note: it is about what the commands before left; 'restart' forgets that]"
    assert reason.startswith("[denied: the user was asked, and said no: `PATH=$PATH` needs")
    assert person.asked[1].script == "PATH=$PATH # as the commands before left them\nls"


async def test_a_yes_for_always_is_good_for_once(workspace: Path, state: Path) -> None:
    person = Person(Consent.ALWAYS)
    async with Bash(workspace=workspace, state=state, rules=rules(), approver=person) as tool:
        bash = NacreAsyncBashTool(tool)
        assert await said(bash, "touch file") == "[no output]"
        assert "said no" in await said(bash, "touch file")
    assert [each.grants for each in person.asked] == [(), ()]


async def test_a_folder_outside_is_judged_as_one_that_the_script_goes_to(
    workspace: Path, state: Path
) -> None:
    person = Person()
    (workspace / "sub").mkdir()
    async with Bash(
        workspace=workspace, state=state, rules=rules("Bash(ls:*)"), approver=person
    ) as tool:
        bash = NacreAsyncBashTool(tool)
        assert await said(bash, "cd sub") == "[no output]"
        assert await said(bash, "ls") == "[no output]"
        await said(bash, "cd /usr")
        denied = await said(bash, "ls")
    assert "`cd -- /usr` needs approval" in denied
    assert [each.script for each in person.asked] == ["cd /usr", "cd -- /usr || exit\nls"]


async def test_without_an_approver_what_is_asked_is_denied(workspace: Path, state: Path) -> None:
    async with Bash(workspace=workspace, state=state, rules=rules()) as tool:
        ((text, is_error),) = await converse(NacreAsyncBashTool(tool), {"command": "ls"})
    assert is_error
    assert "it needs approval, and nobody is here to give it" in text


async def test_the_journal_has_the_names_of_what_is_carried_and_no_values(
    workspace: Path, state: Path
) -> None:
    (workspace / "env").write_text("export COLOUR=ultramarine\n")
    async with Bash(workspace=workspace, state=state) as tool:
        bash = NacreAsyncBashTool(tool)
        await said(bash, ". ./env")
        assert await said(bash, "echo $COLOUR") == "ultramarine"
    text = str(list(read_journal(state / JOURNAL)))
    assert "COLOUR=$COLOUR" in text
    assert "ultramarine" not in text


async def test_two_conversations_carry_nothing_to_each_other(tool: Bash, workspace: Path) -> None:
    one, other = NacreAsyncBashTool(tool), NacreAsyncBashTool(tool)
    await said(one, "export A=1; cd /")
    assert await said(other, "pwd; echo ${A-unset}") == f"{workspace}\nunset"


async def test_calls_at_once_take_turns(bash: NacreAsyncBashTool) -> None:
    async with anyio.create_task_group() as tasks:
        for _ in range(5):
            tasks.start_soon(said, bash, "export N=$((${N:-0} + 1))")
    assert await said(bash, "echo $N") == "5"


def test_a_client_that_waits_has_a_tool_of_its_own(workspace: Path, state: Path) -> None:
    inputs = ({"command": "cd /; export A=1"}, {"command": "pwd; echo $A"}, {"command": "false"})
    model = Model(*inputs)
    transport = httpx2.MockTransport(model)
    with (
        Bash(workspace=workspace, state=state) as tool,
        Anthropic(api_key="none", http_client=httpx2.Client(transport=transport)) as client,
    ):
        runner = client.beta.messages.tool_runner(
            model="scripted", max_tokens=100, messages=MESSAGES, tools=[NacreBashTool(tool)]
        )
        runner.until_done()
    assert model.results == [("[no output]", False), ("/\n1", False), ("[exit code 1]", True)]


async def test_a_tool_that_was_closed_is_told_to_the_model(tool: Bash) -> None:
    await tool.aclose()
    ((text, is_error),) = await converse(NacreAsyncBashTool(tool), {"command": "ls"})
    assert (text, is_error) == ("[error: this tool was closed; make another]", True)


@pytest.mark.parametrize("seconds", [0.0, -1.0, math.nan])
async def test_a_timeout_that_is_none_is_refused(tool: Bash, seconds: float) -> None:
    with pytest.raises(ConfigError, match="is not a positive number of seconds"):
        NacreAsyncBashTool(tool, timeout=seconds)


def test_without_the_sdk_the_adapter_names_what_to_install() -> None:
    code = (
        "import sys; sys.modules['anthropic'] = None\n"
        "from nacre import Bash, ConfigError\n"
        "try: import nacre.adapters.anthropic\n"
        "except ConfigError as error: print(error)"
    )
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert done.stdout.strip().endswith("pip install 'nacre[anthropic]'")
