"""Our own lines between a command's lines."""

from nacre.model.transcript import Spill

__all__ = ("kept_in", "notice", "omitted")


def notice(text: str) -> str:
    """Return a line that is recognisably ours: in square brackets, and only one line."""
    return f"[{' '.join(text.splitlines())}]"


def omitted(first: int, end: int, *, total: int, spill: Spill | None) -> str:
    """Say which bytes of an output of `total` bytes are not shown, and where they are.

    The range is [first, end), so that its length is what is said to be hidden.
    """
    return notice(
        f"{end - first:,} bytes not shown: bytes {first:,} to {end:,} of the output; "
        + ("they were not kept" if spill is None else kept_in(spill, total))
    )


def kept_in(spill: Spill, total: int) -> str:
    """Say, as part of a sentence, what of `total` bytes is in the spill file."""
    whole = spill.path is not None and spill.failure is None and spill.kept >= total
    if whole:
        return f"all of it is in {spill.path} (raw)"
    why = f": {spill.failure}" if spill.failure else ""
    if spill.path is None or not spill.kept:
        return f"the full text could not be kept{why}"
    return f"only its first {spill.kept:,} bytes are in {spill.path} (raw)" + (
        f", the rest could not be kept{why}" if why else ""
    )
