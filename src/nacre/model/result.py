"""Everything a call produced, in no dialect's words."""

from dataclasses import field
from datetime import datetime
from pathlib import PurePath

from nacre.model.approval import Answer
from nacre.model.call import Condition
from nacre.model.confinement import Confinement, Enforcement
from nacre.model.job import Job
from nacre.model.outcome import Outcome
from nacre.model.transcript import Transcript
from nacre.model.value import dataclass
from nacre.model.verdict import Verdict
from nacre.model.violation import Violation

__all__ = ("JobList", "Result")


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """How a run, poll or stop ended, and what was said.

    `errors` is standard error when the streams were kept separate. `came_true`
    is the condition that ended a wait, None if the time was up first. `notices`
    are sentences of ours about what could not be done beside the run itself;
    `violations` say what the sandbox stopped. `conversation` is who asked, `cwd` where a script was to start,
    `home` what it takes for the home directory, and `confinement` what it was to be
    held to, whether it ran or not. `verdict` is what the policy said of it, `answer`
    what a person said, if one was asked, now or before.
    """

    outcome: Outcome
    transcript: Transcript = field(default_factory=Transcript)
    errors: Transcript | None = None
    seconds: float = 0.0
    enforcement: Enforcement = field(default_factory=Enforcement)
    job: Job | None = None
    came_true: Condition | None = None
    notices: tuple[str, ...] = ()
    violations: tuple[Violation, ...] = ()
    conversation: str = ""
    cwd: PurePath | None = None
    home: str | None = None
    confinement: Confinement | None = None
    verdict: Verdict | None = None
    answer: Answer | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class JobList:
    """The jobs of a conversation, oldest first, as they were at one moment."""

    at: datetime
    jobs: tuple[Job, ...]
    notices: tuple[str, ...] = ()
