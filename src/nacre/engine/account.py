"""What is known of a run, step by step, until it is its result."""

from nacre.engine.occasion import Occasion
from nacre.model.approval import Answer
from nacre.model.confinement import Enforcement
from nacre.model.outcome import Stopped
from nacre.model.result import Result
from nacre.model.verdict import Verdict
from nacre.model.violation import Violation

__all__ = ("Account",)

_NOTHING = Enforcement()


class Account:
    """Takes down what is found out on the way, so that the result is made once.

    `notices` are those that come before the run's own.
    """

    __slots__ = (
        "_occasion",
        "answer",
        "enforcement",
        "notices",
        "seconds",
        "verdict",
        "violations",
    )

    def __init__(self, occasion: Occasion) -> None:
        self._occasion = occasion
        self.verdict: Verdict | None = None
        self.answer: Answer | None = None
        self.notices: tuple[str, ...] = ()
        self.enforcement: Enforcement = _NOTHING
        self.violations: tuple[Violation, ...] = ()
        self.seconds = 0.0

    def sofar(self) -> Result | None:
        """What is known of a run that is not over; nothing, until it was judged."""
        return None if self.verdict is None else self.result(Result(outcome=Stopped()))

    def result(self, came: Result) -> Result:
        """All that is known of a run, with what came of it."""
        occasion = self._occasion
        return Result(
            outcome=came.outcome,
            transcript=came.transcript,
            errors=came.errors,
            seconds=self.seconds,
            enforcement=self.enforcement,
            job=came.job,
            notices=(*self.notices, *came.notices),
            violations=self.violations,
            conversation=occasion.asker or occasion.conversation,
            cwd=occasion.cwd,
            home=occasion.environ.get("HOME"),
            confinement=occasion.confinement,
            verdict=self.verdict,
            answer=self.answer,
        )
