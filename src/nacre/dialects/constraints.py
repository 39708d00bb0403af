"""A confinement in words, for the description of a tool."""

from nacre.model.confinement import Confinement, Network

__all__ = ("constraints",)

_MOST_FOLDERS = 4


def constraints(confinement: Confinement) -> str:
    """What scripts can and cannot do, in sentences to a model; nothing if all is open."""
    said: list[str] = []
    if confinement.writable is not None:
        said.append(_writing(confinement))
    if confinement.network is Network.DENY:
        said.append("There is no network.")
    if confinement.denied:
        said.append("Credential stores and other private paths cannot be read.")
    if not said:
        return ""
    rest = (
        "What the kernel refuses stays refused: do not retry it, and do not look for a way around."
    )
    return " ".join(["Scripts run in a sandbox.", *said, rest])


def _writing(confinement: Confinement) -> str:
    folders = [str(path) for path in confinement.writable or ()]
    if not folders:
        return "Nothing can be written but /dev/null, /dev/zero and /dev/full."
    more = len(folders) - _MOST_FOLDERS
    named = ", ".join(folders[:_MOST_FOLDERS]) + (f" and {more} more" if more > 0 else "")
    private = " and $TMPDIR, which is private" if confinement.private_tmp else ""
    return f"Only {named} can be written{private}; git hooks and other settings there stay as they are."
