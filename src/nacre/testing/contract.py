"""What every way of running scripts must do, as checks that anyone can run.

A check drives a tool of the default dialect through its public door, and looks
at the workspace for what happened: so the same suite judges this machine, a
container or a cluster. It raises `AssertionError` if the promise is broken.

    @pytest.mark.parametrize("check", CONTRACT, ids=lambda check: check.__name__)
    async def test_the_contract_holds(check: Check, tmp_path: Path) -> None:
        async with Bash(workspace=tmp_path) as tool:
            await check(Subject(tool=tool, workspace=tmp_path))
"""

from collections.abc import Awaitable, Callable
from pathlib import Path

import anyio

from nacre.model.reply import Reply
from nacre.model.value import dataclass
from nacre.process.cancel import CancelToken
from nacre.tool import Bash, ToolContext

__all__ = ("CONTRACT", "Check", "Subject")

# Within this after the end of a call, nothing of it may be alive.
GONE_SECONDS = 2.0
_PATIENCE_SECONDS = 20.0
_LOOK_SECONDS = 0.02
# The pattern opens the folder to read it, so each name is asked for once more.
_OPEN_DESCRIPTORS = "for fd in /proc/$$/fd/*; do if [ -e $fd ]; then echo ${fd##*/}; fi; done"
# A daemon that does everything to be forgotten, and shows that it lives.
_DAEMON = (
    "env -i setsid bash -c"
    " '(trap \"\" TERM HUP; while :; do echo beat >> {0}; sleep 0.05; done) & disown'"
    " >/dev/null 2>&1 </dev/null"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Subject:
    """A tool under test, and its workspace as this process sees it."""

    tool: Bash
    workspace: Path
    working_dir: str | None = None

    async def bash(self, command: str, **arguments: object) -> Reply:
        """Run a script in the workspace."""
        return await self.call("Bash", command=command, **arguments)

    async def call(self, tool: str, **arguments: object) -> Reply:
        """Call a tool."""
        return await self.tool.call(tool, arguments, self.context())

    def context(
        self, cancel: CancelToken | None = None, conversation: str | None = None
    ) -> ToolContext:
        """The workspace as working directory."""
        where = self.working_dir or str(self.workspace)
        return ToolContext(working_dir=where, cancel=cancel, conversation=conversation)


Check = Callable[[Subject], Awaitable[None]]


def detail(reply: Reply, key: str) -> object:
    """One of a reply's details."""
    return (reply.details or {}).get(key)


async def _appears(path: Path) -> None:
    with anyio.fail_after(_PATIENCE_SECONDS):
        while not path.exists():
            await anyio.sleep(_LOOK_SECONDS)


async def _falls_silent(path: Path) -> None:
    """Wait until a file has stopped growing; a beat comes every 50 ms."""
    with anyio.fail_after(GONE_SECONDS):
        while True:
            before = path.stat().st_size
            await anyio.sleep(0.3)
            if path.stat().st_size == before:
                return


async def output_comes_back_in_its_real_order(subject: Subject) -> None:
    """Merged streams keep their interleaving."""
    reply = await subject.bash("for i in 1 2 3; do echo out$i; echo err$i >&2; done")
    assert reply.text == "out1\nerr1\nout2\nerr2\nout3\nerr3"
    assert not reply.is_error


async def an_exit_code_is_reported(subject: Subject) -> None:
    """A failing script is told from a successful one."""
    reply = await subject.bash("echo before; exit 7")
    assert (detail(reply, "outcome"), detail(reply, "exit_code")) == ("exited", 7)
    assert reply.text == "before\n[exit code 7]"


async def a_signal_is_not_an_exit_code(subject: Subject) -> None:
    """Death by signal is an outcome of its own."""
    reply = await subject.bash("echo before; kill -KILL $$")
    assert (detail(reply, "outcome"), detail(reply, "signal")) == ("signaled", 9)
    assert reply.text.startswith("before\n")


async def a_missing_folder_is_not_a_failing_script(subject: Subject) -> None:
    """What did not start is not reported as having failed."""
    reply = await subject.bash("echo hi", working_directory="no/such/folder")
    assert detail(reply, "outcome") == "unstarted"
    assert "no/such/folder" in reply.text


async def standard_input_is_empty_and_there_is_no_terminal(subject: Subject) -> None:
    """Nothing waits for a person who is not there."""
    reply = await subject.bash("cat; [ -t 0 ] || [ -t 1 ] || [ -t 2 ] || echo none; tty")
    assert reply.text.splitlines()[:2] == ["none", "not a tty"]


async def only_three_descriptors_are_open(subject: Subject) -> None:
    """Nothing of the host's is inherited."""
    reply = await subject.bash(_OPEN_DESCRIPTORS)
    assert reply.text.split() == ["0", "1", "2"]


async def a_script_leads_its_own_session(subject: Subject) -> None:
    """Its session and process group are its own."""
    reply = await subject.bash(
        "read -r _ _ _ _ group session _ </proc/$$/stat; echo $$ $group $session"
    )
    pid, group, session = reply.text.split()
    assert pid == group == session


async def a_script_of_a_megabyte_runs(subject: Subject) -> None:
    """A script longer than one argument may be is passed another way."""
    lines = "\n".join(f"{'x' * 90} {number}" for number in range(11_000))
    script = f": <<'END'\n{lines}\nEND\necho line $LINENO; cat; {_OPEN_DESCRIPTORS}; exit 5"
    reply = await subject.bash(script)
    assert reply.text.splitlines() == ["line 11003", "0", "1", "2", "[exit code 5]"]


async def a_denied_script_does_not_begin(subject: Subject) -> None:
    """What a guard refuses starts nothing, not even what stands before it."""
    reply = await subject.bash("touch begun; git add -A")
    assert (detail(reply, "outcome"), detail(reply, "part")) == ("denied", "git add -A")
    assert reply.text.startswith("[denied: ")
    assert not (subject.workspace / "begun").exists()


async def a_background_child_does_not_hold_the_call(subject: Subject) -> None:
    """A call ends when its shell does, whoever holds the pipe."""
    with anyio.fail_after(5):
        reply = await subject.bash("sleep 60 & echo hi")
    assert reply.text == "hi"


async def nothing_survives_the_end_of_the_shell(subject: Subject) -> None:
    """A daemon that hides is found."""
    beats = subject.workspace / "beats"
    await subject.bash(f"{_DAEMON.format('beats')}; until [ -s beats ]; do sleep 0.01; done")
    await _falls_silent(beats)


async def nothing_survives_the_end_of_a_job(subject: Subject) -> None:
    """The end of a job is the end of all it started."""
    beats = subject.workspace / "beats"
    reply = await subject.bash(
        f"{_DAEMON.format('beats')}; until [ -s beats ]; do sleep 0.01; done; sleep 60",
        background=True,
    )
    await _appears(beats)
    await subject.call("KillBash", id=detail(reply, "id"))
    await _falls_silent(beats)


async def nothing_survives_a_cancelled_call(subject: Subject) -> None:
    """A token cancelled elsewhere ends the tree and keeps the output so far."""
    beats = subject.workspace / "beats"
    token = CancelToken()
    replies: list[Reply] = []

    async def run() -> None:
        script = f"echo begun; {_DAEMON.format('beats')}; sleep 60"
        context = subject.context(cancel=token)
        replies.append(await subject.tool.call("Bash", {"command": script}, context))

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(run)
        await _appears(beats)
        token.cancel()
    assert detail(replies[0], "outcome") == "stopped"
    assert replies[0].text.startswith("begun\n")
    await _falls_silent(beats)


async def nothing_survives_a_cancelled_task(subject: Subject) -> None:
    """Cancellation by the event loop leaves nothing behind either."""
    beats = subject.workspace / "beats"
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(subject.bash, f"{_DAEMON.format('beats')}; sleep 60")
        await _appears(beats)
        tasks.cancel_scope.cancel()
    await _falls_silent(beats)


async def a_call_never_ends_the_processes_of_another(subject: Subject) -> None:
    """While one call lives, others end without touching its daemon."""
    beats = subject.workspace / "beats"
    reply = await subject.bash(f"{_DAEMON.format('beats')}; sleep 60", background=True)
    await _appears(beats)
    for _ in range(20):
        await subject.bash("setsid sleep 60 & true")
    before = beats.stat().st_size
    with anyio.fail_after(_PATIENCE_SECONDS):
        while beats.stat().st_size == before:
            await anyio.sleep(_LOOK_SECONDS)
    await subject.call("KillBash", id=detail(reply, "id"))
    await _falls_silent(beats)


async def a_timeout_becomes_a_job_without_losing_a_byte(subject: Subject) -> None:
    """What was said before, during and after the change adds up."""
    script = "for i in $(seq 40); do echo line $i; sleep 0.02; done; echo end; exit 3"
    reply = await subject.bash(script, timeout=0.3)
    assert detail(reply, "outcome") == "running"
    lines = _said(reply)
    while detail(reply, "outcome") == "running":
        reply = await subject.call(
            "BashOutput", id=detail(reply, "id"), wait_for={"exit": True}, timeout=0.2
        )
        lines += _said(reply)
    assert lines == [*(f"line {number}" for number in range(1, 41)), "end"]
    assert detail(reply, "exit_code") == 3


async def a_poll_tells_only_what_is_new(subject: Subject) -> None:
    """Each reader has a cursor of its own."""
    script = "echo one; until [ -e go ]; do sleep 0.01; done; echo two; sleep 60"
    job = detail(await subject.bash(script, background=True), "id")
    first = await subject.call("BashOutput", id=job, wait_for={"regex": "one"})
    nothing = await subject.call("BashOutput", id=job)
    (subject.workspace / "go").touch()
    second = await subject.call("BashOutput", id=job, wait_for={"regex": "two"})
    assert [_said(reply) for reply in (first, nothing, second)] == [["one"], [], ["two"]]
    await subject.call("KillBash", id=job)


async def a_wait_says_which_condition_came_true(subject: Subject) -> None:
    """Until the server is ready, in one call."""
    script = "echo starting; sleep 0.3; touch made; echo ready on port 1; sleep 60"
    reply = await subject.bash(script, background=True)
    job = detail(reply, "id")
    ready = await subject.call("BashOutput", id=job, wait_for={"regex": "read[y]", "exit": True})
    assert "[the output matches 'read[y]']" in ready.text
    made = await subject.call("BashOutput", id=job, wait_for={"file": "made"})
    assert "[made exists]" in made.text
    silent = await subject.call("BashOutput", id=job, wait_for={"silence": 0.3})
    assert "[nothing was printed for 0.3 s]" in silent.text
    await subject.call("KillBash", id=job)


async def a_filter_shows_only_matching_lines(subject: Subject) -> None:
    """The rest counts as seen."""
    job = detail(await subject.bash("seq 1 20", background=True), "id")
    found = await subject.call("BashOutput", id=job, filter="^.5$", wait_for={"exit": True})
    later = await subject.call("BashOutput", id=job)
    assert [_said(reply) for reply in (found, later)] == [["15"], []]


async def a_flood_is_cut_in_the_middle_and_spilled(subject: Subject) -> None:
    """First and last lines are shown; the middle is in a file, raw."""
    reply = await subject.bash("seq 1 300000")
    lines = reply.text.splitlines()
    assert (lines[0], lines[-1]) == ("1", "300000")
    spill = Path(str(detail(reply, "spill")))
    assert spill.read_bytes() == b"".join(b"%d\n" % n for n in range(1, 300_001))
    assert spill.stat().st_mode & 0o777 == 0o600


async def binary_output_is_summarised(subject: Subject) -> None:
    """Bytes that are no text do not reach the model."""
    reply = await subject.bash("head -c 5000 /dev/zero")
    assert reply.text.startswith("[binary output: 5,000 bytes")


async def many_calls_run_at_once(subject: Subject) -> None:
    """One tool serves many callers, each with its own output."""
    replies: dict[int, str] = {}

    async def run(number: int) -> None:
        replies[number] = (await subject.bash(f"echo {number}; sleep 0.2; echo {number}")).text

    async with anyio.create_task_group() as tasks:
        for number in range(40):
            tasks.start_soon(run, number)
    assert replies == {number: f"{number}\n{number}" for number in range(40)}


async def a_job_belongs_to_its_conversation(subject: Subject) -> None:
    """Another conversation can neither see nor end it."""
    mine, other = subject.context(conversation="mine"), subject.context(conversation="other")
    started = await subject.tool.call("Bash", {"command": "sleep 60", "background": True}, mine)
    job = {"id": detail(started, "id")}
    assert (await subject.tool.call("Jobs", {}, other)).text == "[no jobs]"
    for tool in ("BashOutput", "KillBash"):
        refused = await subject.tool.call(tool, job, other)
        assert refused.is_error
        assert "there is no job" in refused.text
    ended = await subject.tool.call("KillBash", job, mine)
    assert detail(ended, "outcome") == "stopped"


async def output_is_heard_as_it_comes(subject: Subject) -> None:
    """A listener hears every byte, before the script ends."""
    heard: list[bytes] = []
    token = CancelToken()

    def listen(data: bytes) -> None:
        heard.append(data)
        if b"two" in b"".join(heard):
            token.cancel()  # proof that the script was still running

    script = "echo one; echo two; sleep 60"
    reply = await subject.tool.call(
        "Bash", {"command": script}, subject.context(cancel=token), on_output=listen
    )
    assert b"".join(heard) == b"one\ntwo\n"
    assert detail(reply, "outcome") == "stopped"


def _said(reply: Reply) -> list[str]:
    """The lines a script printed, without nacre's own."""
    return [line for line in reply.text.splitlines() if not line.startswith("[")]


CONTRACT: tuple[Check, ...] = (
    a_background_child_does_not_hold_the_call,
    a_call_never_ends_the_processes_of_another,
    a_denied_script_does_not_begin,
    a_filter_shows_only_matching_lines,
    a_flood_is_cut_in_the_middle_and_spilled,
    a_job_belongs_to_its_conversation,
    a_missing_folder_is_not_a_failing_script,
    a_poll_tells_only_what_is_new,
    a_script_leads_its_own_session,
    a_script_of_a_megabyte_runs,
    a_signal_is_not_an_exit_code,
    a_timeout_becomes_a_job_without_losing_a_byte,
    a_wait_says_which_condition_came_true,
    an_exit_code_is_reported,
    binary_output_is_summarised,
    many_calls_run_at_once,
    nothing_survives_a_cancelled_call,
    nothing_survives_a_cancelled_task,
    nothing_survives_the_end_of_a_job,
    nothing_survives_the_end_of_the_shell,
    only_three_descriptors_are_open,
    output_comes_back_in_its_real_order,
    output_is_heard_as_it_comes,
    standard_input_is_empty_and_there_is_no_terminal,
)
