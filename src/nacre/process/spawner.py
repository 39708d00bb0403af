"""How a warden starts what it is asked to: freely, restricted, or as a room.

Part of the warden.
"""

from __future__ import annotations

import errno
import os
from contextlib import suppress

from nacre.process.held import Held, held_room
from nacre.process.limits import Limits
from nacre.process.restricted import RestrictedThread, spawn_room, spawn_shell
from nacre.process.wire import close_all, error_reason

TYPE_CHECKING = False  # importing typing would cost a tenth of the start
if TYPE_CHECKING:
    from typing import Any

    from nacre.process.descriptors import SpareDescriptors
    from nacre.process.marks import Marks

__all__ = ("Spawner",)

_FIRST_TO_GO = b"500"


class Spawner:
    """Starts shells and rooms, with threads at hand for the restrictions it was told of."""

    def __init__(self, descriptors: SpareDescriptors, null: int, marks: Marks) -> None:
        self._descriptors = descriptors
        self._marks = marks
        self._null = null
        self._limits = Limits()
        self._restricted: dict[str, RestrictedThread | OSError] = {}

    @property
    def scarce(self) -> bool:
        """Whether it can start few shells only."""
        return self._marks.scarce

    def restrict(self, request: dict[str, Any]) -> None:
        """Have a thread at hand that gave up its rights; a failure is told to each call."""
        try:
            self._restricted[request["key"]] = RestrictedThread(request["restriction"])
        except RuntimeError:  # no more threads can be started now
            self._restricted.pop(request["key"], None)
        except OSError as error:
            # Without its number: that of a failed spawn would mean something else.
            why = f"no thread could be restricted: {error_reason(error)}"
            self._restricted[request["key"]] = OSError(0, why)

    def launch(self, call: Held, request: dict[str, Any], stdin: int, outputs: list[int]) -> None:
        """Start what a call asks for.

        Raises:
            OSError: If it cannot be started, or not be held.
        """
        call.pid, call.mark = self.shell(request, stdin, outputs)
        call.most_tasks = request["most_tasks"]

    def shell(self, request: dict[str, Any], stdin: int, outputs: list[int]) -> tuple[int, int]:
        """Start the program of a request, held as it says; return its pid and its mark.

        Raises:
            OSError: If it cannot be started, or not be held.
        """
        with self._marks.spawning() as mark:
            return self._marked(request, stdin, outputs, mark), mark

    def _marked(self, request: dict[str, Any], stdin: int, outputs: list[int], mark: int) -> int:
        restricted = self._thread(request["held_by"])
        self._limits.lend(request["limits"])
        with self._descriptors.spawning():
            spawn = restricted.spawn if restricted else spawn_shell
            pid = spawn(request, stdin, outputs)
        self._limits.fix(pid, mark)
        if restricted:
            _offer_to_oom_killer(pid)
        return pid

    def _thread(self, key: str | None) -> RestrictedThread | None:
        if key is None:
            return None
        thread = self._restricted.get(key)
        if isinstance(thread, RestrictedThread):
            return thread
        raise thread or OSError(errno.EAGAIN, "no thread can be started to restrict it now")

    def room(self, argv: list[str], fds: list[int]) -> Held | None:
        """Start a room, which hears of the host's end by itself.

        A failure is written to the last of its descriptors.
        """
        self._limits.lend([])
        try:
            with self._marks.spawning() as mark, self._descriptors.spawning():
                return held_room(mark, spawn_room(argv, self._null, fds))
        except (OSError, ValueError) as error:
            os.write(fds[-1], error_reason(error).encode())
            return None
        finally:
            close_all(fds)


def _offer_to_oom_killer(pid: int) -> None:
    """Have a script ended before the rest of the machine, when memory runs out."""
    with suppress(OSError), open(f"/proc/{pid}/oom_score_adj", "wb", buffering=0) as file:
        file.write(_FIRST_TO_GO)
