"""From a run to what is executed, or why it cannot be."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import PurePath

from nacre.engine.ending import unusable_folder
from nacre.model.call import Run
from nacre.model.launch import Launch
from nacre.model.outcome import Unstarted
from nacre.process.bash import bash_launch, find_bash

__all__ = ("UnstartableError", "launch_of", "unpassable")


class UnstartableError(Exception):
    """A reason not even to try, found before anything was started."""


def launch_of(run: Run, cwd: PurePath, environ: Mapping[str, str]) -> Launch:
    """What is to be executed for a run.

    Raises:
        UnstartableError: If that can be known to fail.
    """
    if reason := unusable_folder(cwd):
        raise UnstartableError(reason)
    bash = find_bash()
    if bash is None:
        raise UnstartableError("there is no bash on this machine; install it")
    program = run.script if run.program is None else run.program
    launch = bash_launch(bash, program, cwd, {**environ, **run.environ})
    if run.stdin is None:
        return launch
    if launch.stdin is not None:
        raise UnstartableError("so long a script cannot be given an input as well; use a file")
    return replace(launch, stdin=run.stdin)


def unpassable(script: str) -> Unstarted | None:
    """Why bash could not be given a script, whatever the policy makes of it."""
    if "\0" in script:
        return Unstarted("the script holds a NUL character, which bash cannot be given")
    try:
        script.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError as error:
        return Unstarted(f"the script holds {script[error.start]!r}, which is no character")
    return None
