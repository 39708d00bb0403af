"""A process of this machine that stands for a job in a container.

A job is known by a process and a mark, so that anybody can end it later: `nacre kill`, a tool that
closes, another host. In a container nobody here could signal it. So it has a stand-in with a mark:
its SIGTERM is passed on, and its death is the end of the job.
"""

from __future__ import annotations

import os
import subprocess
from contextlib import suppress

from nacre.process.inside import STAND_IN
from nacre.process.marks import Marks

__all__ = ("StandIn",)

# It ends with whoever holds the other end of its input.
_CODE = "trap 'echo asked' TERM; while read -r _ || [[ $? -gt 128 ]]; do :; done"


class StandIn:
    """One stand-in; `fileno` is readable when it was asked to end, or is gone."""

    def __init__(self, marks: Marks, bash: str, first: int) -> None:
        """Start it; `first` is the container's first process, if that is on this machine."""
        with marks.spawning() as mark:
            self._process = subprocess.Popen(
                [bash, "-c", _CODE, STAND_IN.decode(), str(first)],
                env={},
                cwd="/",
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                start_new_session=True,
            )
        self.mark = mark
        self.pid = self._process.pid

    def fileno(self) -> int:
        """The descriptor to wait for; -1 once it is closed."""
        said = self._process.stdout
        return -1 if said is None or said.closed else said.fileno()

    def asked(self) -> bool:
        """Whether it was asked to end; if not, it is gone."""
        return bool(os.read(self.fileno(), 64))

    def close(self) -> None:
        """Let it end, and reap it."""
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe is not None:
                with suppress(OSError):
                    pipe.close()
        self._process.kill()
        self._process.wait()
