"""What a call brings along, from a tool's stance and what its host gave with the call."""

from collections.abc import Callable
from functools import partial

from nacre.engine.occasion import Occasion
from nacre.stance import Stance
from nacre.tool.context import Approver, ToolContext, answer_of

__all__ = ("DEFAULT_CONVERSATION", "occasion_of")

DEFAULT_CONVERSATION = "default"


def occasion_of(
    stance: Stance,
    context: ToolContext | None,
    listener: Callable[[bytes], None] | None,
    approver: Approver | None,
) -> Occasion:
    """The occasion of a call; `approver` is asked if the context names no other.

    Raises:
        ConfigError: If there is no confinement of the context's name.
    """
    cwd = stance.folder(context.working_dir if context else None)
    conversation = (context and context.conversation) or DEFAULT_CONVERSATION
    asked = context.confinement if context else None
    confinement = stance.confinement(cwd, asked)
    approver = (context and context.approver) or approver
    return Occasion(
        cwd=cwd,
        doorway=stance.doorway(cwd),
        conversation=_storable(stance.holder(conversation, cwd)),
        asker=_storable(conversation),
        environ=stance.environ(),
        confinement=confinement,
        sandbox=stance.sandbox_for(confinement, asked),
        cleared=stance.cleared,
        cancel=context.cancel if context else None,
        listener=listener,
        approve=partial(answer_of, approver) if approver else None,
        held=stance.in_words(confinement, asked),
        refusal=stance.refusal,
    )


def _storable(name: str) -> str:
    """A name as it is stored and compared: as text, whatever characters it is made of."""
    return name.encode("utf-8", "backslashreplace").decode()
