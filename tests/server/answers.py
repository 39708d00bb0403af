"""People who are asked, played by a list of answers."""

from collections.abc import Iterable

from mcp.types import ElicitRequestParams, ElicitResult

__all__ = ("Asked", "text_of")


class Asked:
    """A client's elicitation callback: keeps what it was asked, and gives the next answer."""

    def __init__(self, answers: Iterable[str | ElicitResult]) -> None:
        self._answers = list(answers)
        self.questions: list[str] = []
        self.choices: list[object] = []

    async def __call__(self, context: object, params: ElicitRequestParams) -> ElicitResult:
        """Answer one question."""
        del context
        self.questions.append(params.message)
        schema: dict[str, dict[str, dict[str, object]]] = getattr(params, "requested_schema", {})
        self.choices.append(schema["properties"]["answer"]["enum"])
        answer = self._answers.pop(0)
        if isinstance(answer, ElicitResult):
            return answer
        return ElicitResult(action="accept", content={"answer": answer})


def text_of(result: object) -> str:
    """What a model would read of a result."""
    content = getattr(result, "content", [])
    assert [part.type for part in content] == ["text"]
    return str(content[0].text)
