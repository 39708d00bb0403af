"""How long what has ended stays readable."""

from datetime import timedelta

from nacre.model.value import dataclass

__all__ = ("Retention",)


@dataclass(frozen=True, slots=True, kw_only=True)
class Retention:
    """How long ended jobs, and spills kept for later calls, stay readable."""

    count: int = 500
    age: timedelta = timedelta(days=7)
