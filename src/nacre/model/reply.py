"""What goes back to the model, in a dialect's words."""

from collections.abc import Mapping
from dataclasses import field

from nacre.model.value import dataclass

__all__ = ("Reply",)


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """`text` is what the model reads; `details` is for the host, and is JSON."""

    text: str
    is_error: bool = False
    details: Mapping[str, object] | None = field(default_factory=dict[str, object])
