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
from nacre.model.value import dataclass
from nacre.render.underline import characters, one_line, underlined, visible
from nacre.tool import Answered, Memory

__all__ = ("Asker", "OpenQuestions", "can_ask", "can_show")

_BY = "the MCP client"
_NOBODY = "This MCP client cannot ask its user (it declares no elicitation)."
_CLOSED = "The user closed the question without an answer."
_NO_ANSWER = "What the MCP client sent is no answer to the question."
_KEY = "approval"
_FIELD, _WORD = "answer", "word"
_ONCE, _ALWAYS, _NO = "yes, once", "yes, always", "no"
_CONSENTS = {_ONCE: Consent.ONCE, _ALWAYS: Consent.ALWAYS, _NO: Consent.NO}
# A longer script is not read to its end by whoever answers: then nothing is remembered.
_MOST_REMEMBERED = 4_000
# And one that is longer than this is not asked about: what is not shown is not approved.
_MOST_CHARACTERS = 20_000
_MOST_WORD = 500
_MOST_PATH = 4_096
_MOST_OPEN = 100
_MOST_ASKERS = 1_000
_WIDTH = 100

_Context = ServerRequestContext[object, object]


def can_ask(session: ServerSession) -> bool:
    """Whether the client says that it can put a form before somebody."""
    declared = session.client_capabilities
    asking = declared.elicitation if declared else None
    # Before there were two modes, the form was meant by nothing at all.
    return asking is not None and (asking.form is not None or asking.url is None)


class Asker:
    """An approver for a call of the handshake era, or for a client that cannot ask."""

    def __init__(self, ctx: _Context, *, lasts: bool) -> None:
        self._ctx = ctx
        self._lasts = lasts

    async def __call__(self, question: Question) -> Answer:
        """Ask, if there is somebody who can be shown it all."""
        session = self._ctx.session
        if can_ask(session) and (why := _unshowable(question)):
            return Answer(consent=Consent.UNANSWERED, said=why, by=_BY)
        if not can_ask(session) or not session.can_send_request:
            return Answer(consent=Consent.UNANSWERED, said=_NOBODY, by=_BY)
        asked = _form(question, lasts=self._lasts)
        try:
            result = await session.elicit_form(
                asked.message, asked.requested_schema, related_request_id=self._ctx.request_id
            )
        except MCPError as error:
            why = f"The MCP client did not ask its user: {_brief(error)}."
            return Answer(consent=Consent.UNANSWERED, said=why, by=_BY)
        except ValidationError:
            return Answer(consent=Consent.UNANSWERED, said=_NO_ANSWER, by=_BY)
        return _answer(result, always=_offers_always(question, lasts=self._lasts))


@dataclass(frozen=True, slots=True)
class _Open:
    """A question that waits for its answer: what it was about, and whether always was offered."""

    fingerprint: bytes
    always: bool


class OpenQuestions:
    """What was asked by results, and waits for calls that bring the answer; of each client some."""

    def __init__(self) -> None:
        self._open: Memory[str | None, Memory[str, _Open]] = Memory(_MOST_ASKERS)

    def ask(self, question: Question, asker: str | None, *, lasts: bool) -> InputRequiredResult:
        """A result that asks."""
        number = token_hex(16)
        always = _offers_always(question, lasts=lasts)
        waiting = self._open.claim(asker, Memory(_MOST_OPEN))
        waiting.put(number, _Open(question.fingerprint, always))
        form = ElicitRequest(params=_form(question, lasts=lasts))
        return InputRequiredResult(input_requests={_KEY: form}, request_state=number)

    def answered(
        self, number: str | None, responses: Mapping[str, object] | None, asker: str | None
    ) -> Answered | None:
        """The answer that a call brings; None if it brings none to a question that is open."""
        response = (responses or {}).get(_KEY)
        if number is None or not isinstance(response, ElicitResult):
            return None
        waiting = self._open.get(asker)
        question = waiting.pop(number) if waiting else None
        if question is None:
            return None
        return Answered(question.fingerprint, _answer(response, always=question.always))


def can_show(question: Question) -> bool:
    """Whether a person can be shown all that they would approve."""
    return not _unshowable(question)


def _unshowable(question: Question) -> str:
    if len(question.script) <= _MOST_CHARACTERS:
        return ""
    return (
        f"The script has {len(question.script)} characters, too many for the user to be asked"
        f" about ({_MOST_CHARACTERS} at most): make it shorter, or several."
    )


def _offers_always(question: Question, *, lasts: bool) -> bool:
    """Whether the answer can be remembered: for a client that is known again, and has seen it all."""
    return bool(question.grants) and lasts and len(question.script) <= _MOST_REMEMBERED


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
    lines = ["May this script run?", ""]
    lines += [f"    {line}" for line in visible(question.script).split("\n")]
    # Nothing else that an agent wrote begins a line, or it could pass for one of ours.
    lines += ["", f"Asked because: {one_line(verdict.reason, _MOST_WORD)}"]
    if verdict.span is not None:
        start, end = (characters(question.script, at) for at in verdict.span)
        lines += underlined(question.script, start, end, _WIDTH)
    if question.description:
        lines.append(f"The agent says: {one_line(question.description, _MOST_WORD)}")
    where = one_line(str(question.cwd), _MOST_PATH)
    lines.append(f"It would run in {where}, held to: {one_line(question.held, _MOST_PATH)}")
    if always:
        lines += [
            f"Always would allow {one_line(rule, _MOST_PATH)} here." for rule in question.grants
        ]
    return lines


def _answer(result: ElicitResult, *, always: bool) -> Answer:
    """What somebody chose; whatever is no answer of the form, is none."""
    content = result.content or {}
    word = content.get(_WORD)
    said = str(word)[:_MOST_WORD] if word else ""
    match result.action:
        case "cancel":
            return Answer(consent=Consent.UNANSWERED, said=_CLOSED, by=_BY)
        case "decline":
            return Answer(consent=Consent.NO, said=said, by=_BY)
        case "accept":
            chosen = content.get(_FIELD)
    consent = _CONSENTS.get(chosen) if isinstance(chosen, str) else None
    if consent is None:
        return Answer(consent=Consent.UNANSWERED, said=_NO_ANSWER, by=_BY)
    if consent is Consent.ALWAYS and not always:
        consent = Consent.ONCE
    return Answer(consent=consent, said=said, by=_BY)


def _brief(error: Exception) -> str:
    return visible(" ".join(str(error).split()))[:200]
