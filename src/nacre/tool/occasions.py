"""What a call brings along, from a tool's stance and what its host gave with the call."""

from collections.abc import Callable
from functools import partial

from nacre.engine.occasion import Occasion, Sofar
from nacre.stance import Stance
from nacre.tool.context import Approver, ToolContext, answer_of

__all__ = ("DEFAULT_CONVERSATION", "occasion_of")

DEFAULT_CONVERSATION = "default"
_NOWHERE = ToolContext(working_dir="")


def occasion_of(
    stance: Stance,
    context: ToolContext | None,
    listener: Callable[[bytes], None] | None,
    approver: Approver | None,
    witness: Callable[[Sofar], None] | None = None,
) -> Occasion:
    """The occasion of a call; `approver` is asked if the context names no other.

    Raises:
        ConfigError: If there is no confinement of the context's name.
    """
    context = context or _NOWHERE
    ground = stance.ground(context.working_dir, context.confinement)
    conversation = context.conversation or DEFAULT_CONVERSATION
    approver = context.approver or approver
    return Occasion(
        cwd=ground.cwd,
        doorway=ground.doorway,
        conversation=_storable(stance.holder(conversation, ground.cwd)),
        asker=_storable(conversation),
        environ=stance.environ(),
        confinement=ground.confinement,
        sandbox=ground.sandbox,
        cleared=stance.cleared,
        cancel=context.cancel,
        listener=listener,
        approve=partial(answer_of, approver) if approver else None,
        held=ground.held,
        refusal=stance.refusal,
        witness=witness,
    )


def _storable(name: str) -> str:
    """A name as it is stored and compared: as text, whatever characters it is made of."""
    return name.encode("utf-8", "backslashreplace").decode()
