"""An approver that answers from a list, to test what is asked, and what comes of it."""

from collections.abc import Iterable

from nacre.model.approval import Answer, Consent, Question

__all__ = ("ScriptedApprover",)


class ScriptedApprover:
    """Gives the next of the answers, and keeps the questions in `questions`.

    Raises:
        AssertionError: From a question for which no answer is left.
    """

    def __init__(self, *answers: bool | Consent | Answer) -> None:
        self._answers: Iterable[bool | Consent | Answer] = iter(answers)
        self.questions: list[Question] = []

    def __call__(self, question: Question) -> bool | Consent | Answer:
        """Answer a question."""
        self.questions.append(question)
        for answer in self._answers:
            return answer
        raise AssertionError(f"no answer is left for {question.script!r:.200}")
