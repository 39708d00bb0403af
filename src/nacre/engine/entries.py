"""What the journal says of a call: everything but values of variables and the output itself."""

import hashlib
import os
import time
from collections.abc import Mapping
from dataclasses import replace
from typing import Self

from nacre.engine.journal import Journal, moment
from nacre.errors import NacreError
from nacre.model.approval import Answer
from nacre.model.call import Call, ListJobs, Poll, Run, Stop
from nacre.model.confinement import Confinement
from nacre.model.outcome import Denied, Exited, Lost, Outcome, Running, Signaled, Unstarted
from nacre.model.result import JobList, Result
from nacre.model.value import dataclass

__all__ = ("BEGAN", "Asked", "Noting")

# The outcome that is told of a call which is not over.
BEGAN = "began"
# Of a longer script, the beginning and a fingerprint of all of it; of other texts, the beginning.
_SCRIPT_CHARACTERS = 8_000
_CHARACTERS = 1_000
_MOST_PATHS = 20
_ID_BYTES = 6


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """Who asked for what, in which words."""

    dialect: str
    tool: str
    conversation: str


class Noting:
    """Writes a call down: after the block it is in the journal, however the block ended.

    `call` is set in the block once it is known what was asked for, `came` when there is a
    result, `sofar` what was known of it before. A block that takes its time is written down before it ends, too, as begun.
    """

    def __init__(self, journal: Journal, asked: Asked) -> None:
        self._journal = journal
        self._asked = asked
        self._id = os.urandom(_ID_BYTES).hex()
        self._began = time.time()
        self._number = -1
        self.call: Call | None = None
        self.came: Result | JobList | None = None
        self.sofar: Result | None = None

    def __enter__(self) -> Self:
        self._number = self._journal.begin(self._begun)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: object
    ) -> None:
        del kind, trace
        found, now = self._common(), time.time()
        found["ended"] = moment(now)
        if error is not None:
            if self.sofar is not None:  # it was decided about, and may have run
                found |= _result(replace(self.sofar, seconds=now - self._began))
            found["error"] = _cut(_failure(error))
        elif isinstance(self.came, Result):
            found |= _result(self.came)
        self._journal.end(self._number, found)

    def _begun(self) -> dict[str, object]:
        found = self._common()
        if self.sofar is not None:
            found |= _result(self.sofar)
        return found | {"outcome": BEGAN}

    def watch(self, sofar: Result) -> None:
        """Take note of what is known so far."""
        self.sofar = sofar

    def _common(self) -> dict[str, object]:
        asked = self._asked
        return {
            "at": moment(self._began),
            "call": self._id,
            "dialect": asked.dialect,
            "tool": _cut(asked.tool),
            "conversation": _cut(asked.conversation),
            **_call(self.call),
        }


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


def _result(result: Result) -> dict[str, object]:
    spill, verdict = result.transcript.spill, result.verdict
    found: dict[str, object] = {
        "outcome": type(result.outcome).__name__.lower(),
        **_outcome(result.outcome),
        "seconds": round(result.seconds, 4),
        "said": result.transcript.total + (result.errors.total if result.errors else 0),
        "output": str(spill.path) if spill and spill.path else None,
        "cwd": _cut(str(result.cwd)) if result.cwd else None,
        "enforced": dict(result.enforcement.by),
    }
    if result.job:
        found["job"] = result.job.id
    if result.confinement:
        found |= _held(result.confinement)
    if verdict:
        found |= {
            "decision": verdict.decision.name.lower(),
            "rule": _cut(verdict.rule),
            "reason": _cut(verdict.reason),
            **_approval(result.answer),
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
