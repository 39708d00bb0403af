import json
from datetime import UTC, datetime, timedelta
from pathlib import PurePath
from typing import cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nacre.dialects.base import Scene
from nacre.dialects.nacre.dialect import NacreDialect
from nacre.errors import CallError
from nacre.model.call import (
    Condition,
    FileAppears,
    JobEnds,
    ListJobs,
    OnTimeout,
    OutputMatches,
    Poll,
    PortOpens,
    Run,
    Silence,
    Stop,
)
from nacre.model.job import Job, Ownership
from nacre.model.outcome import (
    Denied,
    Exited,
    Lost,
    Outcome,
    Running,
    Signaled,
    Stopped,
    TimedOut,
    Unstarted,
)
from nacre.model.result import JobList, Result
from nacre.model.transcript import Spill, Transcript
from nacre.model.verdict import Decision, Verdict

DIALECT = NacreDialect()
MOMENT = datetime(2026, 1, 1, tzinfo=UTC)


def parse(tool: str, **arguments: object) -> object:
    return DIALECT.parse(tool, arguments, OnTimeout.BACKGROUND)


def _run(**changes: object) -> Run:
    call = parse("Bash", command="ls", **changes)
    assert isinstance(call, Run)
    return call


def _poll(**changes: object) -> Poll:
    call = parse("BashOutput", id="j", **changes)
    assert isinstance(call, Poll)
    return call


def _job(outcome: Outcome, script: str = "make serve") -> Job:
    return Job(
        id="bk7wq2x", conversation="c", script=script, description="", cwd=PurePath("/w"),
        ownership=Ownership.OWNED, pid=7, started=MOMENT, ended=None, outcome=outcome,
        output=PurePath("/state/jobs/bk7wq2x.out"), said=0,
    )  # fmt: skip


def test_a_run_has_the_defaults_of_the_dialect() -> None:
    run = _run()
    assert (run.script, run.timeout, run.background, run.cwd) == (
        "ls",
        timedelta(seconds=120),
        False,
        None,
    )
    assert run.on_timeout is OnTimeout.BACKGROUND


def test_every_argument_of_a_run_is_read() -> None:
    run = _run(timeout=5, background=True, description="d", working_directory="web")
    assert (run.timeout, run.background, run.description, run.cwd) == (
        timedelta(seconds=5),
        True,
        "d",
        PurePath("web"),
    )


def test_milliseconds_taken_for_seconds_are_cut_to_the_most() -> None:
    assert _run(timeout=100_000).timeout == timedelta(seconds=600)


@pytest.mark.parametrize(
    ("wanted", "conditions"),
    [
        ("ready", (OutputMatches("ready"),)),
        ("exit", (JobEnds(),)),
        ({"regex": "a"}, (OutputMatches("a"),)),
        ({"exit": True, "port": 80}, (JobEnds(), PortOpens(80))),
        ({"file": "x"}, (FileAppears(PurePath("x")),)),
        ({"silence": 2.5}, (Silence(timedelta(seconds=2.5)),)),
        (None, ()),
    ],
)
def test_conditions_are_read(wanted: object, conditions: tuple[Condition, ...]) -> None:
    assert _poll(wait_for=wanted).wait_for == conditions


def test_a_timeout_alone_waits_for_the_end() -> None:
    assert _poll(timeout=3).wait_for == (JobEnds(),)


@pytest.mark.parametrize(
    "wanted", [{}, {"exit": False}, {"prt": 1}, {"port": 0}, {"port": 70000}, [], 5, {"file": 3}]
)
def test_conditions_that_are_none_are_refused(wanted: object) -> None:
    with pytest.raises(CallError):
        _poll(wait_for=wanted)


def test_the_other_tools_are_read() -> None:
    stop = parse("KillBash", id="j")
    assert isinstance(stop, Stop)
    assert stop.job_id == "j"
    assert parse("Jobs") == ListJobs()
    with pytest.raises(CallError, match="there is no tool 'bash'; the tools are Bash, BashOutput"):
        parse("bash")


_json = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3)
    ),
    max_leaves=8,
)
_names = st.sampled_from([
    "command", "timeout", "background", "working_directory", "description", "id", "filter",
    "wait_for", "x",
])  # fmt: skip


@given(
    st.sampled_from(["Bash", "BashOutput", "KillBash", "Jobs", "", "x"]),
    st.dictionaries(_names, _json, max_size=5),
)
def test_whatever_an_agent_sends_is_a_call_or_a_call_error(
    tool: str, arguments: dict[str, object]
) -> None:
    try:
        call = DIALECT.parse(tool, arguments, OnTimeout.KILL)
    except CallError as error:
        reply = DIALECT.refuse(tool, error)
        assert reply.is_error
        assert reply.text
    else:
        assert isinstance(call, Run | Poll | Stop | ListJobs)


HOW_TO_GO_ON = "BashOutput shows what it prints next, KillBash ends it"
SAID = Transcript(head=b"hello\n")


@pytest.mark.parametrize(
    ("outcome", "text", "is_error"),
    [
        (Exited(0), "hello", False),
        (Exited(2), "hello\n[exit code 2]", True),
        (Signaled(9), "hello\n[ended by signal 9 (SIGKILL)]", True),
        (Signaled(200), "hello\n[ended by signal 200 (unknown)]", True),
        (
            TimedOut(timedelta(seconds=2)),
            "hello\n[timed out after 2 s; it was ended with all it started]",
            True,
        ),
        (
            Denied(Verdict(decision=Decision.DENY, reason="no")),
            "hello\n[denied: no]",
            True,
        ),
        (
            Denied(
                Verdict(
                    decision=Decision.DENY,
                    reason="Too much.",
                    rule="Bash(rm:*) (rules.yaml:3)",
                    part="rm \\\n -rf\n[exit code 0]",
                    suggestion="Name a file.",
                )
            ),
            (
                "hello\n[denied: Too much.]\n[part: rm \\ -rf [exit code 0]]"
                "\n[instead: Name a file.]\n[rule: Bash(rm:*) (rules.yaml:3)]"
            ),
            True,
        ),
        (
            Denied(Verdict(decision=Decision.ASK, reason="It could.", part="x\udcff")),
            (
                "hello\n[denied: it needs approval, and nobody is here to give it: It could.]"
                "\n[part: x\\udcff]"
                "\n[instead: Only the user can approve it, by running it or by changing the rule;"
                " or do it another way.]"
            ),
            True,
        ),
        (Unstarted("no bash"), "hello\n[not started: no bash]", True),
        (Stopped(), "hello\n[stopped]", True),
        (
            Running("bk7wq2x"),
            f"hello\n[still running after 2 min: it is job bk7wq2x now; {HOW_TO_GO_ON}]",
            False,
        ),
        (Lost("gone"), "hello\n[lost: gone]", True),
    ],
)
def test_the_sentences_about_a_run(outcome: Outcome, text: str, is_error: object) -> None:
    reply = DIALECT.render(_run(), Result(outcome=outcome, transcript=SAID))
    assert (reply.text, reply.is_error) == (text, is_error)
    json.dumps(reply.details)


def test_silence_and_success_are_said_to_be_so() -> None:
    assert DIALECT.render(_run(), Result(outcome=Exited(0))).text == "[no output]"


def test_a_background_run_names_its_job() -> None:
    result = Result(outcome=Running("bk7wq2x"), job=_job(Running("bk7wq2x")))
    assert DIALECT.render(_run(background=True), result).text == (
        f"[job bk7wq2x was started; {HOW_TO_GO_ON}]"
    )


def test_notices_come_between_the_output_and_the_ending() -> None:
    result = Result(outcome=Exited(1), transcript=SAID, notices=("something",))
    assert DIALECT.render(_run(), result).text == "hello\n[note: something]\n[exit code 1]"


@pytest.mark.parametrize(
    ("came_true", "outcome", "text"),
    [
        (None, Running("j"), "hello\n[job bk7wq2x is running]"),
        (OutputMatches("h.*"), Running("j"), "hello\n[the output matches 'h.*']\n[job bk7wq2x is running]"),
        (PortOpens(80), Running("j"), "hello\n[port 80 accepts connections]\n[job bk7wq2x is running]"),
        (JobEnds(), Exited(3), "hello\n[job bk7wq2x ended with exit code 3]"),
        (None, Stopped(), "hello\n[job bk7wq2x stopped]"),
    ],
)  # fmt: skip
def test_the_sentences_about_a_poll(
    came_true: Condition | None, outcome: Outcome, text: str
) -> None:
    result = Result(outcome=outcome, transcript=SAID, job=_job(outcome), came_true=came_true)
    reply = DIALECT.render(_poll(), result)
    assert (reply.text, reply.is_error) == (text, False)


def test_details_say_what_the_design_names() -> None:
    spill = Spill(path=PurePath("/s/f"), kept=200_005)
    said = Transcript(head=b"a\n", omitted=200_000, tail=b"b\n", spill=spill)
    reply = DIALECT.render(_run(), Result(outcome=Exited(0), transcript=said, seconds=1.23456))
    assert reply.details == {
        "outcome": "exited",
        "exit_code": 0,
        "signal": None,
        "id": None,
        "seconds": 1.235,
        "omitted_bytes": 200_000,
        "spill": "/s/f",
        "enforced": {},
    }


def test_jobs_are_listed_a_line_each() -> None:
    jobs = (_job(Running("x"), "make \\\n serve"), _job(Exited(0), "x" * 100))
    listed = JobList(at=MOMENT + timedelta(seconds=75), jobs=jobs)
    assert DIALECT.render(ListJobs(), listed).text == (
        "bk7wq2x  running  1 min 15 s  make \\...\n"
        f"bk7wq2x  ended with exit code 0  1 min 15 s  {'x' * 80}..."
    )
    assert DIALECT.render(ListJobs(), JobList(at=MOMENT, jobs=())).text == "[no jobs]"


def test_of_too_many_jobs_those_that_run_and_the_latest_are_listed() -> None:
    ended = tuple(_job(Exited(0), f"make {number:04}") for number in range(2000))
    running = tuple(_job(Running("x"), f"serve {number}") for number in range(3))
    listed = JobList(at=MOMENT, jobs=(*running, *ended))
    reply = DIALECT.render(ListJobs(), listed)
    notice, *lines = reply.text.splitlines()
    assert notice == f"[{2003 - len(lines):,} more jobs are not shown]"
    assert [line.split()[-1] for line in lines[:4]] == ["0", "1", "2", f"{2003 - len(lines):04}"]
    assert lines[-1].endswith("make 1999")
    assert 29_900 < len("\n".join(lines)) <= 30_000
    assert reply.details is not None
    assert len(cast("list[object]", reply.details["jobs"])) == 2003


def test_specs_are_json_and_name_the_folder_when_it_is_known() -> None:
    specs = DIALECT.specs(Scene(cwd=PurePath("/the/folder")))
    assert [spec.name for spec in specs] == ["Bash", "BashOutput", "KillBash", "Jobs"]
    assert specs[0].description.endswith("Scripts start in /the/folder.")
    assert "/the/folder" not in DIALECT.specs(Scene())[0].description
    for spec in specs:
        assert json.loads(json.dumps(spec.input_schema))["type"] == "object"
