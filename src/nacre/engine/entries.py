"""What the journal says of a call: everything but values of variables and the output itself."""

import hashlib
import os
import time
from collections.abc import Mapping
from pathlib import PurePath
from typing import NamedTuple, Self

from nacre.engine.journal import Journal, moment
from nacre.engine.occasion import Sofar
from nacre.errors import NacreError
from nacre.model.approval import Answer
from nacre.model.call import Call, ListJobs, Poll, Run, Stop
from nacre.model.confinement import Confinement, Enforcement
from nacre.model.outcome import Denied, Exited, Lost, Outcome, Running, Signaled, Unstarted
from nacre.model.result import JobList, Result
from nacre.model.transcript import Spill
from nacre.model.verdict import Verdict

__all__ = ("BEGAN", "Asked", "Noting")

# The outcome that is told of a call which is not over.
BEGAN = "began"
# Of a longer script, the beginning and a fingerprint of all of it; of other texts, the beginning.
_SCRIPT_CHARACTERS = 8_000
_CHARACTERS = 1_000
_MOST_PATHS = 20
_ID_BYTES = 6


class Asked(NamedTuple):
    """Who asked for what, in which words."""

    dialect: str
    tool: str
    conversation: str


class Noting:
    """Writes a call down: after the block it is in the journal, however the block ended.

    `call` is set in the block once it is known what was asked for, `came` when there is a
    result. A block that takes its time is written down before it ends, too, as begun. What is
    written is put into words by the journal's thread: nobody waits for that.
    """

    def __init__(self, journal: Journal, asked: Asked) -> None:
        self._journal = journal
        self._asked = asked
        self._began = time.time()
        self._ended = 0.0
        self._failure = ""
        self._id = ""
        self._facts: _Facts | None = None
        self._words: Mapping[str, object] | None = None
        self._number = -1
        self._sofar: Sofar = _nothing
        self.call: Call | None = None
        self.came: Result | JobList | None = None

    def __enter__(self) -> Self:
        self._number = self._journal.begin(self._told_begun)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: object
    ) -> None:
        del kind, trace
        self._ended = time.time()
        came = self.came if error is None else self._sofar()
        if error is not None:
            self._failure = _failure(error)
        # Output and long scripts are not to be kept until the disk is free.
        self._facts = _facts(came) if isinstance(came, Result) else None
        self.came, self._sofar = None, _nothing
        if isinstance(self.call, Run) and not _is_short(self.call):
            self._words, self.call = _call(self.call), None
        self._journal.end(self._number, self._told_ended)

    def watch(self, sofar: Sofar) -> None:
        """Know who tells what is known so far."""
        self._sofar = sofar

    def _told_begun(self) -> dict[str, object]:
        sofar = self._sofar()
        known = _result(_facts(sofar)) if sofar else {}
        return self._common() | known | {"outcome": BEGAN}

    def _told_ended(self) -> dict[str, object]:
        found = self._common()
        found["ended"] = moment(self._ended)
        if self._facts:
            found |= _result(self._facts)
        if self._failure:
            if self._facts:  # it was decided about, and may have run
                found["seconds"] = round(self._ended - self._began, 4)
            found["error"] = _cut(self._failure)
        return found

    def _common(self) -> dict[str, object]:
        asked = self._asked
        # One for both entries of a call.
        self._id = self._id or os.urandom(_ID_BYTES).hex()
        return {
            "at": moment(self._began),
            "call": self._id,
            "dialect": asked.dialect,
            "tool": _cut(asked.tool),
            "conversation": _cut(asked.conversation),
            **(_call(self.call) if self._words is None else self._words),
        }


def _nothing() -> None:
    """Nothing is known so far."""


def _cut(text: str) -> str:
    return text[:_CHARACTERS]


def _failure(error: BaseException) -> str:
    return str(error) if isinstance(error, NacreError) else f"given up: {type(error).__name__}"


def _call(call: Call | None) -> Mapping[str, object]:
    match call:
        case Run():
            return _run(call)
        case Poll() | Stop():
            return {"job": _cut(call.job_id)}
        case ListJobs() | None:
            return {}


def _run(run: Run) -> Mapping[str, object]:
    found: dict[str, object] = {
        "script": run.script[:_SCRIPT_CHARACTERS],
        "script_sha256": _fingerprint(run.script),
        "description": _cut(run.description),
        "background": run.background,
    }
    if run.program is not None:
        found["program_sha256"] = _fingerprint(run.program)
    if run.stdin is not None:
        found["stdin_bytes"] = len(run.stdin)
    if run.environ:
        found["variables"] = [_cut(name) for name in sorted(run.environ)[:_MOST_PATHS]]
    return found


def _is_short(run: Run) -> bool:
    """Whether a run is nothing much to remember."""
    beside = run.program, run.stdin
    return len(run.script) <= _SCRIPT_CHARACTERS and beside == (None, None) and not run.environ


class _Facts(NamedTuple):
    """What is written down of a result."""

    outcome: Outcome
    seconds: float
    said: int
    spill: Spill | None
    cwd: PurePath | None
    enforcement: Enforcement
    job: str | None
    confinement: Confinement | None
    verdict: Verdict | None
    answer: Answer | None


def _facts(result: Result) -> _Facts:
    said = result.transcript
    return _Facts(
        outcome=result.outcome,
        seconds=result.seconds,
        said=said.total + (result.errors.total if result.errors else 0),
        spill=said.spill,
        cwd=result.cwd,
        enforcement=result.enforcement,
        job=result.job.id if result.job else None,
        confinement=result.confinement,
        verdict=result.verdict,
        answer=result.answer,
    )


def _result(facts: _Facts) -> dict[str, object]:
    spill, verdict = facts.spill, facts.verdict
    found: dict[str, object] = {
        "outcome": type(facts.outcome).__name__.lower(),
        **_outcome(facts.outcome),
        "seconds": round(facts.seconds, 4),
        "said": facts.said,
        "output": str(spill.path) if spill and spill.path else None,
        "cwd": _cut(str(facts.cwd)) if facts.cwd else None,
        "enforced": dict(facts.enforcement.by),
    }
    if facts.job:
        found["job"] = facts.job
    if facts.confinement:
        found |= _held(facts.confinement)
    if verdict:
        found |= {
            "decision": verdict.decision.name.lower(),
            "rule": _cut(verdict.rule),
            "reason": _cut(verdict.reason),
            **_approval(facts.answer),
        }
    return found


def _held(confinement: Confinement) -> Mapping[str, object]:
    folders = confinement.writable
    return {
        "confinement": confinement.name,
        "network": confinement.network.value,
        "writable": None if folders is None else [str(each) for each in folders[:_MOST_PATHS]],
    }


def _outcome(outcome: Outcome) -> Mapping[str, object]:
    match outcome:
        case Exited(code):
            return {"exit_code": code}
        case Signaled(number):
            return {"signal": number}
        case Unstarted(reason) | Lost(reason):
            return {"why": _cut(reason)}
        case Running(job_id):
            return {"job": job_id}
        case Denied(_, answered, said):
            return {"answered": answered, "said_to_agent": _cut(said)}
        case _:
            return {}


def _approval(answer: Answer | None) -> Mapping[str, object]:
    if answer is None:
        return {"approved": None}
    found: dict[str, object] = {
        "approved": answer.consent.allows,
        "consent": answer.consent.value,
        "approver": _cut(answer.by),
    }
    return found | ({"grant": _cut(answer.grant)} if answer.grant else {})


def _fingerprint(script: str) -> str:
    return hashlib.sha256(script.encode("utf-8", "surrogatepass")).hexdigest()
