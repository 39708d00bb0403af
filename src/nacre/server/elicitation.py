"""Ask the person behind a client, in both eras of the protocol.

In the handshake era the server asks while the call waits. Since 2026-07-28 it cannot: the call
is answered with the question, and the client makes it again with the answer. What was asked is
remembered here under a number that counts once, and the SDK seals that number to
the client and to the call's arguments.
"""

from collections.abc import Mapping
from secrets import token_hex

from mcp.server.context import ServerRequestContext
from mcp.server.session import ServerSession
from mcp.shared.exceptions import MCPError
from mcp.types import (
    ElicitRequest,
    ElicitRequestFormParams,
    ElicitResult,
    InputRequiredResult,
)
from pydantic import ValidationError

from nacre.model.approval import Answer, Consent, Question
from nacre.render.underline import underlined, visible

__all__ = ("OpenQuestions", "asker", "can_ask")

_BY = "the MCP client"
_NOBODY = "This MCP client cannot ask its user (it declares no elicitation)."
_KEY = "approval"
_FIELD, _WORD = "answer", "word"
_ONCE, _ALWAYS, _NO = "yes, once", "yes, always", "no"
_CONSENTS = {_ONCE: Consent.ONCE, _ALWAYS: Consent.ALWAYS, _NO: Consent.NO}
# A longer script is not read to its end by whoever answers: then nothing is remembered.
_MOST_CHARACTERS = 4_000
_MOST_WORD = 500
_MOST_OPEN = 1_000
_WIDTH = 100

_Context = ServerRequestContext[object, object]


def can_ask(session: ServerSession) -> bool:
    """Whether the client says that it can put a form before somebody."""
    declared = session.client_capabilities
    asking = declared.elicitation if declared else None
    # Before there were two modes, the form was meant by nothing at all.
    return asking is not None and (asking.form is not None or asking.url is None)


def asker(ctx: _Context, *, lasts: bool) -> "_Asker":
    """An approver for a call of the handshake era, or for a client that cannot ask."""
    return _Asker(ctx, lasts=lasts)


class _Asker:
    def __init__(self, ctx: _Context, *, lasts: bool) -> None:
        self._ctx = ctx
        self._lasts = lasts

    async def __call__(self, question: Question) -> Answer:
        session = self._ctx.session
        if not can_ask(session) or not session.can_send_request:
            return Answer(consent=Consent.UNANSWERED, said=_NOBODY, by=_BY)
        asked = _form(question, lasts=self._lasts)
        try:
            result = await session.elicit_form(
                asked.message, asked.requested_schema, related_request_id=self._ctx.request_id
            )
        except (MCPError, ValidationError) as error:
            why = f"The MCP client did not ask its user: {_brief(error)}."
            return Answer(consent=Consent.UNANSWERED, said=why, by=_BY)
        return _answer(result, question, lasts=self._lasts)


class OpenQuestions:
    """What was asked by results, and waits for calls that bring the answer."""

    def __init__(self) -> None:
        self._open: dict[str, Question] = {}

    def ask(self, question: Question, *, lasts: bool) -> InputRequiredResult:
        """A result that asks."""
        while len(self._open) >= _MOST_OPEN:
            del self._open[next(iter(self._open))]
        number = token_hex(16)
        self._open[number] = question
        form = ElicitRequest(params=_form(question, lasts=lasts))
        return InputRequiredResult(input_requests={_KEY: form}, request_state=number)

    def answered(
        self, number: str | None, responses: Mapping[str, object] | None, *, lasts: bool
    ) -> "Answered | None":
        """The answer that a call brings; None if it brings none to a question that is open."""
        response = (responses or {}).get(_KEY)
        if number is None or not isinstance(response, ElicitResult):
            return None
        question = self._open.pop(number, None)
        if question is None:
            return None
        return Answered(question, _answer(response, question, lasts=lasts))


class Answered:
    """An approver that has asked already: it answers one question, and no other."""

    def __init__(self, asked: Question, answer: Answer) -> None:
        self._asked = asked
        self._answer = answer

    def covers(self, question: Question) -> bool:
        """Whether a question is the one that was asked, as far as a person could tell."""
        return _shown(self._asked) == _shown(question)

    def __call__(self, question: Question) -> Answer:
        if self.covers(question):
            return self._answer
        why = "What was asked about has changed meanwhile."
        return Answer(consent=Consent.UNANSWERED, said=why, by=_BY)


def _shown(question: Question) -> tuple[object, ...]:
    return question.script, question.cwd, question.held, question.verdict


def _offers_always(question: Question, *, lasts: bool) -> bool:
    """Whether the answer can be remembered: for a client that is known again, and has seen it all."""
    return bool(question.grants) and lasts and len(question.script) <= _MOST_CHARACTERS


def _form(question: Question, *, lasts: bool) -> ElicitRequestFormParams:
    always = _offers_always(question, lasts=lasts)
    answers = [_ONCE, _ALWAYS, _NO] if always else [_ONCE, _NO]
    schema: dict[str, object] = {
        "type": "object",
        "properties": {
            _FIELD: {"type": "string", "title": "May this run?", "enum": answers},
            _WORD: {
                "type": "string",
                "title": "A word to the agent",
                "description": "Optional: why not, or what to do instead.",
            },
        },
        "required": [_FIELD],
    }
    return ElicitRequestFormParams(
        message="\n".join(_lines(question, always=always)), requested_schema=schema
    )


def _lines(question: Question, *, always: bool) -> list[str]:
    """What a person has to know, with everything visible that a terminal would hide or obey."""
    verdict = question.verdict
    lines = ["May this script run?", "", *_script(question.script), ""]
    lines.append(f"Asked because: {visible(verdict.reason)}")
    if verdict.span is not None:
        text = question.script.encode("utf-8", "replace")
        start, end = (len(text[:at].decode("utf-8", "ignore")) for at in verdict.span)
        lines += underlined(question.script, start, end, _WIDTH)
    if verdict.suggestion:
        lines.append(f"Instead: {visible(verdict.suggestion)}")
    if question.description:
        lines.append(f"The agent says: {visible(question.description)[:_MOST_WORD]}")
    lines.append(f"It would run in {visible(str(question.cwd))}, held to: {visible(question.held)}")
    if always:
        lines += [f"Always would allow {visible(rule)} here." for rule in question.grants]
    return lines


def _script(script: str) -> list[str]:
    if len(script) <= _MOST_CHARACTERS:
        return [f"    {line}" for line in visible(script).split("\n")]
    half = _MOST_CHARACTERS // 2
    left_out = len(script) - 2 * half
    return [
        *(f"    {line}" for line in visible(script[:half]).split("\n")),
        f"  ... {left_out} characters of it are not shown here ...",
        *(f"    {line}" for line in visible(script[-half:]).split("\n")),
    ]


def _answer(result: ElicitResult, question: Question, *, lasts: bool) -> Answer:
    """What somebody chose; whatever is no answer of the form, is no yes."""
    if result.action == "cancel":
        return Answer(
            consent=Consent.UNANSWERED,
            said="The user closed the question without an answer.",
            by=_BY,
        )
    content = result.content or {}
    chosen = content.get(_FIELD) if result.action == "accept" else _NO
    consent = _CONSENTS.get(chosen, Consent.NO) if isinstance(chosen, str) else Consent.NO
    if consent is Consent.ALWAYS and not _offers_always(question, lasts=lasts):
        consent = Consent.ONCE
    word = content.get(_WORD)
    return Answer(consent=consent, said=str(word)[:_MOST_WORD] if word else "", by=_BY)


def _brief(error: Exception) -> str:
    return visible(" ".join(str(error).split()))[:200]
