"""What runs a command, and in what state: a fresh bash, a group, nothing kept and nothing left."""

import socket
import subprocess
from collections.abc import Awaitable, Callable
from pathlib import Path

import anyio
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nacre import Bash, Reply, ToolContext
from nacre.dialects.yoi.dialect import YoiDialect
from nacre.dialects.yoi.wrapper import program
from nacre.model.call import OnTimeout, Run
from nacre.model.outcome import Lost
from nacre.model.result import Result
from nacre.model.transcript import Transcript
from processes import gone, tag

Ask = Callable[..., Awaitable[Reply]]


def said(summary: str, content: str | None = None) -> Reply:
    return Reply(
        text=summary if content is None else f"{summary}\n{content}",
        details={"summary": summary, "content": content, "kind": "output"},
    )


@pytest.mark.requirement("yoi.name", "yoi.summary", "yoi.reply")
async def test_a_command_is_answered_with_its_summary_and_its_output(ask: Ask) -> None:
    assert await ask("echo hello") == said("$ echo hello", "hello\n")


@pytest.mark.requirement("yoi.bash")
async def test_the_shell_is_bash(ask: Ask) -> None:
    reply = await ask('a=(x y); [[ $BASH_VERSION && ${a[1]} == y ]] && echo "$0"')
    assert (reply.details or {})["content"] == "bash\n"


@pytest.mark.requirement("yoi.full-shell")
async def test_pipes_redirects_substitutions_and_lists_work(ask: Ask, workspace: Path) -> None:
    reply = await ask('printf "b\\na\\n" | sort > f && false || echo "$(head -1 f)"')
    assert (reply.details or {})["content"] == "a\n"
    assert (workspace / "f").read_text() == "a\nb\n"


@pytest.mark.requirement("yoi.verbatim")
async def test_a_command_reaches_bash_as_it_is(ask: Ask) -> None:
    reply = await ask("cat <<'E'\n'\"$x\" \\ é\n  }\nE\n")
    assert (reply.details or {})["content"] == '\'"$x" \\ é\n  }\n'


@pytest.mark.requirement("yoi.fresh-shell", "yoi.cd")
async def test_nothing_of_a_call_is_left_for_the_next(ask: Ask, workspace: Path) -> None:
    await ask("mkdir nested; cd nested; x=1; export y=1; f() { :; }; set -e; umask 000")
    reply = await ask('pwd; echo "[$x$y]"; type f; false; umask')
    lines = str((reply.details or {})["content"]).splitlines()
    assert Path(lines[0]).resolve() == workspace.resolve()
    assert lines[1] == "[]"
    assert "not found" in lines[2]
    assert lines[3] != "0000"


@pytest.mark.requirement("yoi.cwd")
async def test_a_call_starts_at_the_workspace_and_can_go_elsewhere(
    ask: Ask, yoi: Bash, workspace: Path
) -> None:
    (workspace / "sub").mkdir()
    there = str(workspace / "sub")
    assert (await ask("cd sub && pwd")).details == {
        "summary": "$ cd sub && pwd",
        "content": f"{there}\n",
        "kind": "output",
    }
    reply = await yoi.call("Bash", {"command": "pwd"}, ToolContext(working_dir=there))
    assert (reply.details or {})["content"] == f"{there}\n"


@pytest.mark.requirement("yoi.merged")
async def test_both_streams_come_back_in_their_order(ask: Ask) -> None:
    reply = await ask("echo out; echo err 1>&2; echo out again")
    assert (reply.details or {})["content"] == "out\nerr\nout again\n"


@pytest.mark.requirement("yoi.stdin")
async def test_there_is_nothing_to_read(ask: Ask) -> None:
    assert await ask("cat; echo done") == said("$ cat; echo done", "done\n")


@pytest.mark.requirement("yoi.exit-code", "yoi.not-an-error", "yoi.silent")
@pytest.mark.parametrize(
    ("command", "code"),
    [("exit 7", 7), ("false", 1), ("(exit 3) # comment", 3), ("exit 300", 44), ("true; exit 2", 2)],
)
async def test_an_exit_code_is_in_the_summary_and_no_error(
    ask: Ask, output: Path, command: str, code: int
) -> None:
    assert await ask(command) == said(f"$ {command} (exit {code})")
    assert list(output.iterdir()) == []


@pytest.mark.requirement("yoi.signal")
async def test_a_shell_that_was_killed_says_so(ask: Ask) -> None:
    assert await ask("kill -9 $$") == said("$ kill -9 $$ (terminated by signal)")


async def test_a_program_that_was_killed_is_an_exit_code_of_its_shell(ask: Ask) -> None:
    reply = await ask("sh -c 'kill -9 $$'")
    assert (reply.details or {})["summary"] == "$ sh -c 'kill -9 $$' (exit 137)"


@pytest.mark.requirement("yoi.group")
async def test_a_group_is_no_subshell_and_is_read_before_it_runs(ask: Ask, workspace: Path) -> None:
    assert await ask("trap 'echo bye $?' EXIT; false") == said(
        "$ trap 'echo bye $?' EXIT; false (exit 1)", "bye 1\n"
    )
    assert (await ask("[ $$ = $BASHPID ]")).text == "$ [ $$ = $BASHPID ]"
    reply = await ask("touch ran\n)")
    assert (reply.details or {})["summary"] == "$ touch ran (exit 2)"
    assert not (workspace / "ran").exists()


@pytest.mark.requirement("yoi.nothing-to-run")
@pytest.mark.parametrize("command", ["", "  \n ", "# only a comment", "echo a \\", "cat <<E\nhi"])
async def test_what_is_no_whole_command_is_a_syntax_error(ask: Ask, command: str) -> None:
    details = (await ask(command)).details or {}
    assert str(details["summary"]).endswith(" (exit 2)")
    assert "syntax error" in str(details["content"])


@pytest.mark.requirement("yoi.contained")
@pytest.mark.parametrize(
    "command",
    [
        "}",
        "echo a; }; touch out; { echo b",
        "echo a\n}\ntouch out\n{ echo b",
        "echo a;}\\\n;touch out;{ echo b",
        "'}\ntouch out\n{ '",
        "- }; touch out; {",
    ],
)
async def test_a_brace_does_not_leave_the_group(ask: Ask, workspace: Path, command: str) -> None:
    summary = str(((await ask(command)).details or {})["summary"])
    assert summary.endswith(")")
    assert "(exit 0)" not in summary
    assert not (workspace / "out").exists()


async def test_a_command_with_groups_of_its_own_runs(ask: Ask) -> None:
    reply = await ask('f() { echo "it\'s $1"; return 3; }\n{ f a; }')
    assert reply == said('$ f() { echo "it\'s $1"; return 3; } (exit 3)', "it's a\n")


WORDS = st.sampled_from(
    ["}", "}", "{ ", "echo a;", "\n", ";", " ", "\\", "'", '"', "(", ")", "<<}", "<", "#", "&", "`"]
)
PIECES = st.lists(WORDS, max_size=10).map("".join)
LEAVING = st.tuples(PIECES, PIECES, PIECES).map(
    lambda each: "{}echo a;{}}}\necho a\n{{ {}".format(*each)
)


def run_as_body(framed: str) -> bytes:
    """What is printed if the group is the body of a function that nobody calls."""
    return subprocess.run(
        ["bash", "-c", framed.replace("{ ", "f() { ", 1)],
        capture_output=True,
        stdin=subprocess.DEVNULL,
        check=False,
    ).stdout


def test_an_unguarded_group_can_be_left() -> None:
    assert run_as_body("{ echo a;}\necho a\n{ echo a\n}") == b"a\na\n"


@settings(max_examples=200)
@given(PIECES | LEAVING)
def test_no_arrangement_of_braces_leaves_the_group(command: str) -> None:
    assert run_as_body(program(command)) == b""


@pytest.mark.requirement("yoi.waits")
async def test_jobs_are_waited_for_and_their_output_comes_back(ask: Ask) -> None:
    reply = await ask("(sleep 0.3; echo bg; exit 9) & echo fg", timeout=20)
    assert reply == said("$ (sleep 0.3; echo bg; exit 9) & echo fg", "fg\nbg\n")


@pytest.mark.requirement("yoi.no-hang", "yoi.nothing-left")
@pytest.mark.parametrize(
    "command", ["sleep {0} & exit 0", "sleep {0} & disown", "(setsid sleep {0} &)"]
)
async def test_what_nobody_waits_for_ends_with_the_call(ask: Ask, command: str) -> None:
    mark = tag()
    with anyio.fail_after(10):
        assert await ask(command.format(mark)) == said(f"$ {command.format(mark)}")
    await gone(mark)


@pytest.mark.requirement("yoi.unconfined")
async def test_any_path_and_the_network_can_be_reached(ask: Ask, tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        reply = await ask(f"echo x > {tmp_path}/outside && : < /dev/tcp/127.0.0.1/{port}")
    assert (tmp_path / "outside").read_text() == "x\n"
    assert "(exit" not in reply.text


@pytest.mark.requirement("yoi.environment")
async def test_the_environment_is_the_host_s(ask: Ask, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MY_SECRET_TOKEN", "shown")
    assert ((await ask('echo "$MY_SECRET_TOKEN"')).details or {})["content"] == "shown\n"


@pytest.mark.requirement("yoi.spawn-failure")
async def test_a_shell_that_cannot_be_started_is_an_execution_failure(
    yoi: Bash, workspace: Path
) -> None:
    nowhere = ToolContext(working_dir=workspace / "nowhere")
    reply = await yoi.call("Bash", {"command": "ls"}, nowhere)
    assert reply.is_error
    assert reply.text.startswith("Execution failed: spawn bash: ")
    assert reply.details == {"summary": reply.text, "content": None, "kind": "ExecutionFailed"}


@pytest.mark.requirement("yoi.wait-failure")
def test_a_shell_whose_end_nobody_saw_is_an_execution_failure() -> None:
    dialect = YoiDialect()
    run = dialect.parse("Bash", {"command": "ls"}, OnTimeout.KILL)
    assert isinstance(run, Run)
    lost = Result(outcome=Lost("it is gone"), transcript=Transcript(tail=b"half\n"))
    summary = "Execution failed: bash wait: it is gone"
    assert dialect.render(run, lost) == Reply(
        text=f"{summary}\nhalf\n",
        is_error=True,
        details={"summary": summary, "content": "half\n", "kind": "ExecutionFailed"},
    )
