"""What the journal says of a call: everything but the environment and the output itself."""

import hashlib
import time
from collections.abc import Mapping
from dataclasses import dataclass

from nacre.model.approval import Answer
from nacre.model.call import Call, ListJobs, Poll, Run, Stop
from nacre.model.outcome import Denied, Exited, Lost, Outcome, Running, Signaled, Unstarted
from nacre.model.result import JobList, Result

__all__ = ("Asked", "entry_of")

# Of a longer script, the beginning and a fingerprint of all of it.
_SCRIPT_CHARACTERS = 8_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """Who asked for what, in which words, and since when by the clock on the wall."""

    dialect: str
    tool: str
    conversation: str
    began: float


def entry_of(asked: Asked, call: Call | None, came: Result | JobList | str) -> dict[str, object]:
    """An entry: a call, and its result or why there is none."""
    found: dict[str, object] = {
        "at": _moment(asked.began),
        "dialect": asked.dialect,
        "tool": asked.tool[:_SCRIPT_CHARACTERS],
        "conversation": asked.conversation,
        **_call(call),
    }
    if isinstance(came, Result):
        found |= _result(came)
    elif isinstance(came, str):
        found["error"] = came[:_SCRIPT_CHARACTERS]
    return found


def _call(call: Call | None) -> Mapping[str, object]:
    match call:
        case Run():
            return {
                "script": call.script[:_SCRIPT_CHARACTERS],
                "script_sha256": _fingerprint(call.script),
                "description": call.description,
                "background": call.background,
            }
        case Poll() | Stop():
            return {"job": call.job_id[:_SCRIPT_CHARACTERS]}
        case ListJobs() | None:
            return {}


def _result(result: Result) -> dict[str, object]:
    spill, verdict, confinement = result.transcript.spill, result.verdict, result.confinement
    found: dict[str, object] = {
        "outcome": type(result.outcome).__name__.lower(),
        **_outcome(result.outcome),
        "seconds": round(result.seconds, 4),
        "said": result.transcript.total + (result.errors.total if result.errors else 0),
        "output": str(spill.path) if spill and spill.path else None,
        "cwd": str(result.cwd) if result.cwd else None,
        "enforced": dict(result.enforcement.by),
    }
    if result.job:
        found["job"] = result.job.id
    if confinement:
        found |= {"confinement": confinement.name, "network": confinement.network.value}
    if verdict:
        found |= {
            "decision": verdict.decision.name.lower(),
            "rule": verdict.rule,
            "reason": verdict.reason[:_SCRIPT_CHARACTERS],
            **_approval(result.answer),
        }
    return found


def _outcome(outcome: Outcome) -> Mapping[str, object]:
    match outcome:
        case Exited(code):
            return {"exit_code": code}
        case Signaled(number):
            return {"signal": number}
        case Unstarted(reason) | Lost(reason):
            return {"why": reason}
        case Running(job_id):
            return {"job": job_id}
        case Denied(_, answered, said):
            return {"answered": answered, "said_to_agent": said[:_SCRIPT_CHARACTERS]}
        case _:
            return {}


def _approval(answer: Answer | None) -> Mapping[str, object]:
    if answer is None:
        return {"approved": None}
    found: dict[str, object] = {
        "approved": answer.consent.allows,
        "consent": answer.consent.value,
        "approver": answer.by[:_SCRIPT_CHARACTERS],
    }
    return found | ({"grant": answer.grant} if answer.grant else {})


def _fingerprint(script: str) -> str:
    return hashlib.sha256(script.encode("utf-8", "surrogatepass")).hexdigest()


def _moment(seconds: float) -> str:
    whole = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(seconds))
    return f"{whole}.{int(seconds % 1 * 1000):03d}Z"
