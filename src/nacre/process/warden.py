"""The process that spawns, reaps, and ends what outlives its call.

One per host, started on first need by `nacre.process.link`. It imports nothing
but the standard library and siblings that do the same, so that it starts in
little more time than Python itself.

**What it promises.** When a lifeline closes, or the host dies, every process of
that call is killed, whatever it did to hide; no process of another call is
touched. A kept call lives on: an owned one until the link closes, a detached one
until it ends by itself. The warden exits when the link is closed and no call is
left.

**How.** As a subreaper it becomes the parent of every orphan below it, so a call has left
something behind exactly if the warden has a child that is no shell and carries the call's mark
(`nacre.process.marks`). /proc is searched only when something is there to be ended.
"""

from __future__ import annotations

import json
import os
import select
import socket
import time
from contextlib import suppress
from functools import partial

from nacre.process.afresh import child_wakeup, require_files, start_afresh
from nacre.process.census import Census
from nacre.process.children import children, kill_child, kill_shell
from nacre.process.descriptors import SpareDescriptors
from nacre.process.held import RETRY_SECONDS, Held
from nacre.process.keeper import Keeper
from nacre.process.marks import Marks, kill_marked, mark_of, stray_marks
from nacre.process.reserve import Reserve
from nacre.process.spawner import Spawner
from nacre.process.wire import close_all, decode, error_number, error_reason, receive, refuse

TYPE_CHECKING = False  # importing typing would cost a tenth of the start
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

__all__ = ("main",)

_KILL_SECONDS = 1.0  # then it is given up: an ordinary user may not kill a setuid program


class Warden:
    """The event loop; every method runs on its one thread."""

    def __init__(self, link: socket.socket, host: int) -> None:
        self._link = link
        self._host = host
        self._orphaned = False
        self._retiring = False
        self._look_due = False
        self._look_after = 0.0
        self._marks = Marks()
        self._calls: dict[int, Held] = {}
        self._shells: dict[int, Held] = {}
        self._epoll = select.epoll()
        self._lifelines: dict[int, Held] = {}
        self._pipes: dict[int, Held] = {}
        # To be killed after this turn, all at once: a search of /proc takes its time.
        self._abandoned: list[Held] = []
        self._ended: list[Held] = []
        self._null = os.open(os.devnull, os.O_RDWR)
        self._descriptors = SpareDescriptors(self._null)
        self._spawner = Spawner(self._descriptors, self._null, self._marks)
        self._reserve = Reserve(self._spawner, self._null)
        self._census = Census()
        self._woken = child_wakeup()
        self._epoll.register(link.fileno(), select.EPOLLIN)
        self._epoll.register(self._woken, select.EPOLLIN)
        self._epoll.register(host, select.EPOLLIN)

    def run(self) -> None:
        """Serve until the host is gone and nothing is left to hold."""
        while self._calls or self._reserve or not (self._orphaned or self._retiring):
            ready = self._epoll.poll(self._patience())
            for fd, _ in ready:
                # No more descriptors or no memory: that is one event's misfortune.
                with suppress(OSError):
                    self._serve(fd)
            with suppress(OSError):
                self._look()
            while self._ended:
                self._ended.pop().tell_exit()
            with suppress(OSError):
                self._insist()
            if not ready:
                self._reserve.tend()
            if self._orphaned and not any(call.owned for call in self._calls.values()):
                self._let_go()
        self.abandon()

    def _serve(self, fd: int) -> None:
        if fd == self._woken:
            with suppress(BlockingIOError):
                os.read(fd, 4096)
            self._reap()
        elif fd in self._pipes:
            self._drain(self._pipes[fd], fd)
        elif fd == self._host:
            self._epoll.unregister(fd)
            self._end_link()
        else:
            # Nothing to read: a descriptor closed a moment ago has its number again.
            with suppress(BlockingIOError):
                if fd == self._link.fileno():
                    self._hear_host()
                elif fd in self._lifelines:
                    self._hear(self._lifelines[fd])

    def abandon(self) -> None:
        """Leave nothing running, also if this process ends by a mistake of its own."""
        self._reserve.close()
        with self._descriptors.freed():
            for pid in self._shells:
                kill_shell(pid)
            if self._calls:
                kill_marked(self._calls)
            deadline = time.monotonic() + _KILL_SECONDS
            while self._kill_strangers() and time.monotonic() < deadline:
                # Those that die leave us their children.
                time.sleep(RETRY_SECONDS)
                with suppress(ChildProcessError):
                    while os.waitpid(-1, os.WNOHANG) != (0, 0):
                        pass

    # -- the host ---------------------------------------------------------

    def _hear_host(self) -> None:
        data, fds = receive(self._link)
        if not data:
            self._end_link()
            return
        request = decode(data, fds)
        if "sweep" in request:
            kill_marked(stray_marks(self._marks.inherited))
        elif "retire" in request:
            self._retiring = True
            self._dismiss()
        elif "restriction" in request:
            self._spawner.restrict(request)
        elif "room" in request:
            if room := self._spawner.room(request["room"], fds):
                self._calls[room.mark] = self._shells[room.pid] = room
        elif len(fds) == request["fds"]:
            self._run(request, fds)
        else:
            refuse(fds)

    def _end_link(self) -> None:
        """End what the host owns.

        The link may be held open by a process that the host forked, so its end is
        also the end of the host's own process.
        """
        if self._orphaned:
            return
        self._orphaned = True
        self._epoll.unregister(self._link.fileno())
        self._dismiss()
        owned = [call for call in self._calls.values() if call.owned]
        for call in owned:
            call.stopped = True
        self._abandoned += owned

    def _dismiss(self) -> None:
        """Let go of what waits for a script that will not come."""
        # What the host said last on a lifeline may not be read yet: keep this, or this script.
        for call in list(self._lifelines.values()):
            with suppress(BlockingIOError):
                while call.lifeline.fileno() >= 0:
                    self._hear(call)
            if self._reserve.awaits(call):
                self._hang_up(call)

    def _let_go(self) -> None:
        """Tell a host that waits for us to exit that detached jobs remain."""
        if self._calls and self._link.fileno() >= 0:
            with suppress(OSError):
                self._link.send(b"stay")
            self._link.close()

    def _run(self, request: dict[str, Any], fds: list[int]) -> None:
        if fds[0] > self._descriptors.most:
            refuse(fds)
            return
        call = Held(socket.socket(fileno=fds.pop(0)))
        call.lifeline.setblocking(False)
        stdin = fds.pop() if request["stdin"] else self._null
        if self._start(call, partial(self._epoll.register, call.lifeline, select.EPOLLIN)):
            self._lifelines[call.lifeline.fileno()] = call
            if "ttl" in request:
                self._reserve.admit(call, request, fds)
                return
            self._begin(call, partial(self._spawner.launch, call, request, stdin, fds))
        for fd in {stdin, *fds} - {self._null}:
            os.close(fd)

    def _begin(self, call: Held, launch: Callable[[], None]) -> None:
        if self._start(call, launch):
            self._calls[call.mark] = self._shells[call.pid] = call
            self._reserve.note_begin()
            self._census.watch(call)

    def _start(self, call: Held, step: Callable[[], None]) -> bool:
        """Take a step towards the start of a call, or tell why it cannot be started."""
        try:
            step()
        except (OSError, ValueError) as error:
            call.tell(unstarted=error_number(error), why=error_reason(error))
            call.close_outputs()
            self._hang_up(call)
            return False
        return True

    # -- a call -----------------------------------------------------------

    def _hear(self, call: Held) -> None:
        data, fds = receive(call.lifeline)
        if not data:
            self._hang_up(call)
            if call.keeper is None and call.mark in self._calls:
                self._abandoned.append(call)
            return
        message = json.loads(data)
        if "script" in message:
            if self._reserve.awaits(call):
                self._begin(call, partial(self._reserve.begin, call, message["script"]))
        elif "keep" in message:
            if len(fds) == message["keep"]["fds"]:
                call.tell(kept=True)
                self._keep(call, message["keep"], fds)
            else:
                close_all(fds)  # no room for them here
                call.tell(kept=False)
        elif "who" in message:
            call.tell(started=call.pid, mark=call.mark)
        elif call.mark in self._calls:  # it may have ended while this was on its way
            self._end(call, message["end"])

    def _hang_up(self, call: Held) -> None:
        if self._lifelines.pop(call.lifeline.fileno(), None):
            self._epoll.unregister(call.lifeline.fileno())
        call.lifeline.close()
        self._reserve.drop(call)

    def _reap(self) -> None:
        ended: list[Held] = []
        while True:
            try:
                pid, status = os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                break
            if pid == 0:
                break
            if call := self._shells.pop(pid, None):
                call.status = status
                ended.append(call)
            else:
                self._reserve.forget(pid)
        self._look_due = True
        self._ended += ended
        self._kill([call for call in ended if call.keeper and call.mark in self._calls])

    def _look(self) -> None:
        """See what is gone, after some child has died.

        When hundreds die, a look for each would take longer: so their time is bounded.
        """
        began = time.monotonic()
        if self._look_due and began >= self._look_after:
            self._look_due = False
            self._forget_gone()
            if not self._calls:
                self._kill_strangers()
            now = time.monotonic()
            self._look_after = now + 4 * (now - began)

    def _forget_gone(self) -> None:
        """Let go of the calls whose last process is gone."""
        ended = [call for call in self._calls.values() if call.status is not None]
        if not ended:
            return
        owners = {pid: self._marks.owner(mark_of(pid)) for pid in self._strangers()}
        for pid, owner in owners.items():
            if owner not in self._calls:
                kill_child(pid)  # it shed its mark: nobody lowers that limit by accident
        left = set(owners.values())
        for call in ended:
            if call.mark not in left:
                self._forget(call)

    def _forget(self, call: Held) -> None:
        del self._calls[call.mark]
        self._census.forget(call)
        call.tell_exit(gone=True)
        if call.keeper:
            for fd in call.keeper.pipes:
                if self._pipes.pop(fd, None):
                    self._epoll.unregister(fd)
            call.keeper.finish(call.status or 0, stopped=call.stopped)

    def _strangers(self) -> list[int]:
        """Our children that are no shells: orphans that a call left behind."""
        try:
            found = children()
        except OSError:  # all descriptors are in use
            with self._descriptors.freed():
                found = children()
        return [pid for pid in found if pid not in self._shells and not self._reserve.holds(pid)]

    def _kill_strangers(self) -> bool:
        """Kill orphans, whatever their mark, when no call can own them."""
        strangers = self._strangers()
        for pid in strangers:
            kill_child(pid)
        return bool(strangers)

    def _end(self, call: Held, grace: float) -> None:
        if grace <= 0 or call.insist_at is not None:
            self._kill([call])
        else:
            call.ask_to_end(grace)

    def _kill(self, calls: list[Held]) -> None:
        """Kill all processes of some calls, and again soon if any are left by then.

        Nothing is searched for where nothing can be: a shell that has ended and
        left no orphan is the usual case.
        """
        if any(call.status is not None for call in calls):
            self._forget_gone()
        calls = [call for call in calls if call.mark in self._calls]
        for call in calls:
            if call.status is None:
                kill_shell(call.pid)
        if calls:
            with self._descriptors.freed():
                kill_marked([call.mark for call in calls])
        now = time.monotonic()
        for call in calls:
            call.patience = min(2 * call.patience, _KILL_SECONDS)
            call.insist_at = now + call.patience
            if call.status is not None and call.patience == _KILL_SECONDS:
                self._forget(call)  # what is left does not let itself be killed by us

    def _insist(self) -> None:
        """Kill what was let go of just now, and again what did not end."""
        self._abandoned += self._census.crowded()
        now = time.monotonic()
        due = [c for c in self._calls.values() if c.insist_at is not None and c.insist_at <= now]
        self._kill([*self._abandoned, *due])
        self._abandoned.clear()

    def _patience(self) -> float | None:
        times = [call.insist_at for call in self._calls.values() if call.insist_at is not None]
        if self._look_due:
            times.append(self._look_after)
        own = (self._census.patience(), self._reserve.patience(busy=bool(self._shells)))
        times += [due for due in own if due is not None]
        return max(0.0, min(times) - time.monotonic()) if times else None

    # -- a job ------------------------------------------------------------

    def _keep(self, call: Held, request: dict[str, Any], fds: list[int]) -> None:
        call.close_outputs()
        call.keeper = Keeper(request, fds)
        call.owned = request["owned"]
        if call.status is not None and call.mark not in self._calls:
            call.keeper.finish(call.status, stopped=False)  # it ended meanwhile
            return
        for fd in call.keeper.pipes:
            self._pipes[fd] = call
            self._epoll.register(fd, select.EPOLLIN)
        if call.status is not None:
            self._kill([call])

    def _drain(self, call: Held, fd: int) -> None:
        if call.keeper and not call.keeper.drain(fd):
            self._epoll.unregister(fd)
            del self._pipes[fd]


def main(link_fd: int, host_fd: int, expected: list[str]) -> None:
    """Run as the warden of the host at the other end of a link, known by its pidfd."""
    start_afresh({link_fd, host_fd})
    require_files(expected)
    link = socket.socket(fileno=link_fd)
    link.setblocking(False)
    warden = Warden(link, host_fd)
    try:
        warden.run()
    except BaseException:
        warden.abandon()
        raise
