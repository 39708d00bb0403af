"""From a run to what is executed, or why it cannot be."""

from dataclasses import replace
from datetime import timedelta

from nacre.engine.ending import unusable_folder
from nacre.engine.occasion import Occasion
from nacre.model.call import Run
from nacre.model.doorway import WORKSPACE
from nacre.model.launch import Launch
from nacre.model.outcome import Unstarted
from nacre.process.bash import find_bash, script_words

__all__ = ("UnstartableError", "launch_of", "moved", "unpassable")

_NO_TIME = timedelta(0)


class UnstartableError(Exception):
    """A reason not even to try, found before anything was started."""


def launch_of(run: Run, occasion: Occasion) -> Launch:
    """What is to be executed for a run.

    Raises:
        UnstartableError: If that can be known to fail.
    """
    if reason := unusable_folder(occasion.cwd):
        raise UnstartableError(reason)
    bash = find_bash()
    if bash is None:
        raise UnstartableError("there is no bash on this machine; install it")
    words, stdin = script_words(run.script if run.program is None else run.program)
    if stdin is not None and run.stdin is not None:
        raise UnstartableError("so long a script cannot be given an input as well; use a file")
    return Launch(
        executable=bash,
        argv=words,
        cwd=occasion.cwd,
        environ={**occasion.environ, **run.environ} if run.environ else occasion.environ,
        stdin=run.stdin if stdin is None else stdin,
        lingers=run.linger > _NO_TIME,
        conversation=occasion.conversation,
        workspace=occasion.doorway.outside if occasion.doorway else None,
    )


def moved(run: Run, occasion: Occasion) -> Occasion:
    """The occasion in the folder that the call names.

    Raises:
        UnstartableError: If a container does not have that folder.
    """
    if run.cwd is None and occasion.doorway is None:
        return occasion
    cwd = occasion.cwd / run.cwd if run.cwd else occasion.cwd
    if occasion.doorway:
        found = occasion.doorway.outward(cwd)
        if found is None:
            raise UnstartableError(f"the working directory {str(cwd)!r} is not in {WORKSPACE}")
        cwd = found
    return replace(occasion, cwd=cwd)


def unpassable(script: str) -> Unstarted | None:
    """Why bash could not be given a script, whatever the policy makes of it."""
    if "\0" in script:
        return Unstarted("the script holds a NUL character, which bash cannot be given")
    try:
        script.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError as error:
        return Unstarted(f"the script holds {script[error.start]!r}, which is no character")
    return None
