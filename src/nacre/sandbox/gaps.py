"""What a sandbox does not hold, in words: the published list.

A gap is either a protection that nothing enforces, or a corner of one that is
enforced otherwise. Whoever chooses a sandbox by name accepts its gaps.
"""

from nacre.model.confinement import Protection
from nacre.model.value import dataclass

__all__ = ("GAPS", "Gap", "gaps", "left_out")

_ROOM, _LANDLOCK, _CONTAINER = "bubblewrap", "landlock", "container"


@dataclass(frozen=True, slots=True, kw_only=True)
class Gap:
    """Something that scripts can do under the named sandboxes.

    `protection` is the one that is missing as a whole; None where a protection that is
    enforced has this one corner left. `short` is what a sentence can list.
    """

    id: str
    short: str
    sentence: str
    sandboxes: tuple[str, ...]
    protection: Protection | None = None


GAPS = (
    Gap(
        id="metadata",
        short="modes, times and attributes of files outside",
        sentence=(
            "The mode, group, times and extended attributes of files outside the writable folders"
            " can be changed where the user may: Landlock has no right for it."
        ),
        sandboxes=(_LANDLOCK,),
        protection=Protection.METADATA,
    ),
    Gap(
        id="names",
        short="names in denied folders",
        sentence=(
            "The names in a denied folder can be listed, though no file in it can be read:"
            " the right to list the folders around it has no end downwards."
        ),
        sandboxes=(_LANDLOCK,),
    ),
    Gap(
        id="processes",
        short="the view of other processes",
        sentence=(
            "Which processes run, and their command lines, can be read in /proc:"
            " that takes a pid namespace to hide."
        ),
        sandboxes=(_LANDLOCK,),
        protection=Protection.VIEW_OF_OTHERS,
    ),
    Gap(
        id="segments",
        short="the list of shared memory",
        sentence=(
            "Which System V segments, queues and semaphores there are can be read in"
            " /proc/sysvipc, though none can be opened: that takes an ipc namespace to hide."
        ),
        sandboxes=(_LANDLOCK,),
    ),
    Gap(
        id="hard-link",
        short="hard links that were there before",
        sentence=(
            "A file outside that had a second name in the workspace before the script ran can be"
            " written by that name: it is a file of the workspace."
        ),
        sandboxes=(_ROOM, _LANDLOCK, _CONTAINER),
    ),
    Gap(
        id="locks",
        short="locks on files that can be read",
        sentence="A file that may be read may be locked, and its other users then wait.",
        sandboxes=(_ROOM, _LANDLOCK),
    ),
    Gap(
        id="limits",
        short="limits that the engine does not have",
        sentence=(
            "A rootless engine without the second version of control groups limits neither memory"
            " nor processors nor how many processes there are."
        ),
        sandboxes=(_CONTAINER,),
    ),
    Gap(
        id="resident",
        short="the shell that starts scripts",
        sentence=(
            "The shell in the container that starts a script runs as the same user, so that a"
            " script can end, stop and read it, and make its own call end late or as lost."
        ),
        sandboxes=(_CONTAINER,),
    ),
    Gap(
        id="address-space",
        short="memory that is asked for and not used",
        sentence=(
            "A process can ask for any amount of memory; what it uses is limited, where the engine"
            " has control groups."
        ),
        sandboxes=(_CONTAINER,),
    ),
)


def gaps(sandbox: str) -> tuple[Gap, ...]:
    """What a sandbox of this name does not hold."""
    return tuple(gap for gap in GAPS if sandbox in gap.sandboxes)


def left_out(sandbox: str, than: str) -> str:
    """What one sandbox leaves out that another holds, as a list for a sentence."""
    return ", ".join(gap.short for gap in gaps(sandbox) if than not in gap.sandboxes)
