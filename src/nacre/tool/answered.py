"""The answer of a person who was asked before a call was made, or made again."""

from nacre.model.approval import Answer, Consent, Question

__all__ = ("Answered",)

_CHANGED = "What was asked about has changed meanwhile."


class Answered:
    """An approver that has asked already: it answers one question, and no other.

    `fingerprint` is that of the question that the person was shown.
    """

    def __init__(self, fingerprint: bytes | None, answer: Answer) -> None:
        self._fingerprint = fingerprint
        self._answer = answer

    def covers(self, question: Question) -> bool:
        """Whether a question is the one that was asked, as far as a person could tell."""
        return self._fingerprint == question.fingerprint

    def __call__(self, question: Question) -> Answer:
        """What the person said, if they said it of this."""
        if self.covers(question):
            return self._answer
        return Answer(consent=Consent.UNANSWERED, said=_CHANGED, by=self._answer.by)
