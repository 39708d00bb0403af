"""One container as the porter holds it: its residents, and the calls they attend to."""

from __future__ import annotations

import select
import threading
import time
from collections import deque
from typing import TYPE_CHECKING

from nacre.container.client import ContainerGoneError
from nacre.container.resident import Live, Others, Said, Word, wait_status
from nacre.errors import SandboxError
from nacre.process.porter.channel import new_word
from nacre.process.porter.numbers import Numbers
from nacre.process.porter.premises import LeftError, Premises

if TYPE_CHECKING:
    from collections.abc import Callable

    from nacre.model.launch import Container
    from nacre.process.porter.carried import Carried
    from nacre.process.porter.channel import Channel
    from nacre.process.porter.watching import Watching

__all__ = ("House",)

# Each is a process of the engine's; more calls than that wait for one another.
_MOST_CHANNELS = 64
# An engine that has much to do may fail to start a resident.
_TRIES = 3
# For a resident to kill what is left; then it is taken for dead.
_GONE_SECONDS, _HEIR_SECONDS = 5.0, 10.0
_LOST = "the container ended, or its engine did, while the script ran"
# To say that it has heard of a script: one that does not was stopped by a script before.
_BEGUN_SECONDS = 10.0
_DEAF = "the shell in the container that was to start the script does not answer"
# For one of the others to end; it is their callers who know when.
_QUEUED_SECONDS = 60.0
_FULL = (
    f"{_MOST_CHANNELS} scripts of this conversation run already, and none of them has ended for"
    " a minute; end a job, or wait for one"
)
_UNSEEN = "the script ended the shell in the container that attended to it"
# How a call ends that was never begun, as wait(2) has it.
_KILLED = 9


class House:
    """A container with its residents.

    Opening a channel takes the engine a while, so that is done on threads of their own; all
    else happens on the porter's. `later` has it do something, from any thread; `forget` is told
    of each call that is over, and whether its end was not seen.
    """

    def __init__(
        self,
        container: Container,
        owner: str,
        watching: Watching,
        later: Callable[[Callable[[], None]], None],
        forget: Callable[[Carried, bool], None],
    ) -> None:
        self.container = container
        self._premises = Premises(container, owner)
        self._watching = watching
        self._later = later
        self._forget = forget
        self._numbers = Numbers()
        self._opening = 0
        self._channels: set[Channel] = set()
        self._free: list[Channel] = []
        self._waiting: deque[Carried] = deque()
        self._attended: dict[Channel, Carried] = {}
        # Marks of what lost residents left, and who is about to end it, until when.
        self._orphans: list[int] = []
        self._heirs: dict[Channel, tuple[int, float]] = {}
        self._used = time.monotonic()

    @property
    def first(self) -> int:
        """The pid of its first process, if that is on this machine."""
        return self._premises.first

    # -- calls ------------------------------------------------------------

    def take(self, call: Carried) -> None:
        """Have a resident attend to a call, as soon as one is free."""
        self._used = time.monotonic()
        self._waiting.append(call)
        self._serve()
        if call.channel is None:
            call.queued = True
            call.queued_by = time.monotonic() + _QUEUED_SECONDS
            call.tell(waits=True)

    def signal(self, call: Carried, name: str) -> None:
        """Send a signal to all that a call started."""
        if call.channel is not None:
            call.channel.signal(name, self._live())
            self._watch(call.channel)

    def end(self, call: Carried) -> None:
        """Kill all there is of a call; one that has not begun never will."""
        if call.channel is None:
            if call in self._waiting:
                self._waiting.remove(call)
                call.status = _KILLED
                call.tell(exited=_KILLED, gone=True)
                self._forget(call, False)
        elif call.gone_by is None:
            call.insist_at = None
            call.gone_by = time.monotonic() + _GONE_SECONDS
            call.channel.end(self._live())
            self._watch(call.channel)

    def give_up(self, call: Carried) -> None:
        """Take the resident of a call for dead, which should have ended or begun it by now.

        One that waits for a resident is refused if there can be no more of them.
        """
        if call.channel is not None:
            self._lose(call.channel, _LOST if call.begun_by is None else _DEAF)
        elif len(self._attended) < _MOST_CHANNELS:
            call.queued_by = time.monotonic() + _QUEUED_SECONDS  # the engine is at it
        elif call in self._waiting:
            self._waiting.remove(call)
            self._refuse(call, _FULL)

    def beat(self) -> None:
        """Let the residents know that somebody is there; give up on heirs that are silent."""
        for channel in list(self._channels):
            channel.beat()
        now = time.monotonic()
        for channel in [each for each, (_, until) in self._heirs.items() if until < now]:
            self._lose(channel)

    def is_idle(self, now: float) -> bool:
        """Whether nothing has run in it for as long as it may be idle."""
        busy = self._attended or self._waiting or self._opening or not self._premises.stands
        return not busy and now - self._used > self.container.idle

    def rest(self) -> None:
        """Let go of a container that nobody uses, until somebody does."""
        self._drop_all()
        self._aside(self._premises.rest)

    def remove(self) -> None:
        """Let go of the container for good, and end it if that is ours to do; blocks a moment."""
        self._drop_all()
        self._premises.leave()

    def _live(self) -> Live:
        """The marks in use, as far as they are known."""
        if self.container.image is None:
            return Others.STRANGERS
        if self.container.kept:
            return Others.HOSTS
        return [call.mark for call in self._attended.values()]

    # -- channels ---------------------------------------------------------

    def _serve(self) -> None:
        """Give waiting calls the channels that are free, and have more opened."""
        while self._waiting and self._free:
            call, channel = self._waiting.popleft(), self._free.pop()
            call.channel, call.mark = channel, self._numbers.next()
            self._attended[channel] = call
            call.queued_by = None
            channel.begin(call.words(new_word(), self._live()))
            self._watch(channel)
            call.begun_by = time.monotonic() + _BEGUN_SECONDS + call.seconds_to_read
            if call.queued:
                call.tell(begun=True)
            call.on_begun()
        # One that is being cleaned up is free in a moment.
        cleaning = sum(call.gone_by is not None for call in self._attended.values())
        missing = len(self._waiting) - self._opening - cleaning
        for _ in range(min(missing, _MOST_CHANNELS - self._opening - len(self._channels))):
            self._open()

    def _open(self) -> None:
        self._opening += 1
        # For what was left behind alone, no container is made: it ended with the last one.
        make = bool(self._waiting)
        threading.Thread(target=self._open_channel, args=(make,), daemon=True).start()

    def _open_channel(self, make: bool) -> None:  # noqa: FBT001 (a thread's argument)
        """Start a resident, in the container; on a thread of its own."""
        try:
            channel = self._premises.enter(make=make)
        except LeftError:
            return
        except SandboxError as error:
            if not make and isinstance(error, ContainerGoneError):
                self._later(self._note_ended)
                return
            told = str(error)
            self._later(lambda: self._note_unopened(told))
        except Exception as error:  # noqa: BLE001 (the call that waits must hear of it)
            failed = f"no script can be started in the container: {error}"
            self._later(lambda: self._note_unopened(failed))
        else:
            self._later(lambda: self._note_opened(channel))

    def _note_opened(self, channel: Channel) -> None:
        self._opening -= 1
        self._channels.add(channel)
        self._free_up(channel)

    def _note_unopened(self, why: str) -> None:
        """Let the first that waits have another try, if only this one failed."""
        self._opening -= 1
        if self._orphans and not self._channels:
            # What is left ends whoever could end it, so it takes the container with it.
            self._orphans.clear()
            self._raze(None)
        if self._waiting:
            call = self._waiting[0]
            call.tries += 1
            if not self._channels or call.tries == _TRIES:
                self._waiting.popleft()
                self._refuse(call, why)
        self._serve()

    def _note_ended(self) -> None:
        """There is no container any more, and nothing is left in it."""
        self._opening -= 1
        self._orphans.clear()
        self._serve()

    def _refuse(self, call: Carried, why: str) -> None:
        call.tell(unstarted=0, why=why, unheld=True)
        self._forget(call, False)

    def _free_up(self, channel: Channel) -> None:
        if self._orphans:
            mark = self._orphans.pop()
            self._heirs[channel] = (mark, time.monotonic() + _HEIR_SECONDS)
            channel.take_over(mark, self._live())
        else:
            self._free.append(channel)
        self._watch(channel)
        self._serve()

    def _watch(self, channel: Channel) -> None:
        """Wait for what a channel says, unless the script has to wait for its readers."""
        if channel not in self._channels:
            return
        call = self._attended.get(channel)
        if call is not None and call.waits is not None:
            return
        events = select.EPOLLIN | (select.EPOLLOUT if channel.unsent else 0)
        self._watching.watch(channel.fileno(), lambda: self._hear(channel), events)

    def _hear(self, channel: Channel) -> None:
        channel.flush()
        channel.read()
        self._pump(channel)
        self._watch(channel)

    def _pump(self, channel: Channel) -> None:
        """Pass on what was said, until a pipe is full."""
        while channel.events:
            event = channel.events.popleft()
            call = self._attended.get(channel)
            match event:
                case Word():
                    self._heed(channel, call, event)
                case Said(stream, data):
                    if call is not None:
                        call.begun_by = None
                        if not call.write(stream, data):
                            self._hold_back(channel, call)
                            return
        if channel.over and channel in self._channels:
            self._lose(channel)

    def _hold_back(self, channel: Channel, call: Carried) -> None:
        """Let the script wait for whoever reads its output."""
        pipe = call.waits
        if pipe is not None:
            self._watching.unwatch(channel.fileno())
            resume = lambda: self._resume(channel, call, pipe)  # noqa: E731 (it has no other name)
            self._watching.watch(pipe, resume, select.EPOLLOUT)

    def _resume(self, channel: Channel, call: Carried, pipe: int) -> None:
        self._watching.unwatch(pipe)
        call.flush()
        if call.waits is not None:
            self._hold_back(channel, call)
        elif channel in self._channels:
            self._pump(channel)
            self._watch(channel)

    def _heed(self, channel: Channel, call: Carried | None, word: Word) -> None:
        """Do what follows from what a resident says."""
        if word.kind == "state":
            if call is not None:
                call.state = word.rest
        elif channel.heard_on_all(word):
            if word.kind == "gone":
                left, _, status = word.rest.partition(" ")
                if call is not None and status.isdecimal():
                    call.status = wait_status(int(status), call.state)
                self._note_gone(channel, call, left=left != "0")
            elif call is not None:
                self._heed_of(call, word)

    def _heed_of(self, call: Carried, word: Word) -> None:
        """Do what follows for a call that is not gone."""
        if word.kind == "begun":
            call.begun_by = None
        elif word.kind == "starved":
            call.tell(starved=True)
        elif word.kind == "exited" and word.rest.isdecimal():
            call.begun_by = None
            call.status = wait_status(int(word.rest), call.state)
            call.tell(exited=call.status)
            call.told = True
            if call.keeper or call.abandoned:
                self.end(call)
        elif word.kind == "unseen":
            call.gone_by = time.monotonic() + _GONE_SECONDS
            call.tell(lost=_UNSEEN)
        elif word.kind == "unstarted":
            call.status, call.told = 0, True
            call.tell(unstarted=0, why=word.rest, unheld=False)
            self.end(call)

    def _note_gone(self, channel: Channel, call: Carried | None, *, left: bool) -> None:
        self._used = time.monotonic()
        self._attended.pop(channel, None)
        self._heirs.pop(channel, None)
        if left:
            self._drop(channel)  # what cannot be killed may still speak there
            if call is not None:
                call.channel = call.gone_by = None
            self._raze(call)
            return
        if call is not None:
            self._part_with(call)
        self._free_up(channel)

    def _part_with(self, call: Carried) -> None:
        """Nothing is left of a call."""
        if call.status is None or call.told:
            call.tell(gone=True)
        else:
            call.tell(exited=call.status, gone=True)
        self._forget(call, call.status is None)

    def _raze(self, call: Carried | None) -> None:
        """End the whole container: something in it always escapes."""
        self._aside(self._premises.remove, lambda: self._part_with(call) if call else None)

    def _aside(self, do: Callable[[], None], then: Callable[[], object] = lambda: None) -> None:
        """Have the engine do what takes a while; who calls meanwhile waits."""

        def done() -> None:
            then()
            self._opening -= 1
            self._serve()

        def work() -> None:
            do()
            self._later(done)

        self._opening += 1
        threading.Thread(target=work, daemon=True).start()

    def _lose(self, channel: Channel, why: str = _LOST) -> None:
        """A channel broke: its call is lost, and another resident ends what is left of it."""
        self._drop(channel)
        if channel in self._heirs:
            self._orphans.append(self._heirs.pop(channel)[0])
        call = self._attended.pop(channel, None)
        if call is not None:
            call.tell(lost=why)
            self._orphans.append(call.mark)
            self._forget(call, call.status is None)
        if self._orphans and not self._opening:
            self._open()
        self._serve()

    def _drop_all(self) -> None:
        for channel in list(self._channels):
            self._drop(channel)

    def _drop(self, channel: Channel) -> None:
        self._watching.unwatch(channel.fileno())
        self._channels.discard(channel)
        if channel in self._free:
            self._free.remove(channel)
        channel.close()
