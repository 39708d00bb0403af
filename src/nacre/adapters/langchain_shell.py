"""The process behind a shell of LangChain's: it holds one run, and ends with it.

`nacre.adapters.langchain_policy` starts it. LangChain talks to the shell through three FIFOs,
and to this process only to see whether it lives, and to kill it. Whatever ends this process,
its warden then ends the shell with all that it started.
"""

import json
import os
import select
import socket
import sys
import threading
from collections.abc import Callable
from contextlib import suppress
from shlex import join, quote
from typing import Any, cast

import anyio

from nacre.errors import NacreError
from nacre.model.call import Run
from nacre.model.outcome import Denied, Exited, Signaled, Stopped, Unstarted
from nacre.model.result import Result
from nacre.model.transcript import Limit
from nacre.model.value import dataclass
from nacre.process.cancel import CancelToken
from nacre.tool import Bash, ToolContext

__all__ = ("ERRORS", "INPUT", "OUTPUT", "READY", "main")

INPUT, OUTPUT, ERRORS = "in", "out", "err"
READY = b"ready"
_OWN_ERROR, _DENIED, _SIGNALED = 125, 126, 128
_MOST_SAID = 4096
_UNREAD = "the commands of a live shell cannot be read before they run; use nacre_tools, which can"


@dataclass(frozen=True, slots=True, kw_only=True)
class _Order:
    """What the host asked for: a shell, with which variables, through which FIFOs, held how."""

    command: list[str]
    folder: str
    environ: dict[str, str]
    settings: dict[str, Any]

    def run(self) -> Run:
        """The run: what is judged is that a shell reads commands, whatever they will be."""
        in_, out, err = (quote(os.path.join(self.folder, n)) for n in (INPUT, OUTPUT, ERRORS))
        words = join(self.command)
        return Run(
            script=f"{words} < {in_}",
            program=f"exec 3>&1 <{in_} >{out} 2>{err}; echo {READY.decode()} >&3; exec 3>&-; "
            f"exec -- {words}",
            limit=Limit(head=_MOST_SAID, tail=0),
            environ=self.environ,
        )


def main(channel: int, host: int) -> None:
    """Hold a shell for the host at the other end of a socket, known by its pidfd."""
    with socket.socket(fileno=channel) as link:
        told = bytearray()
        while data := link.recv(1 << 16):
            told += data

        def tell(answer: bytes) -> None:
            with suppress(OSError):  # it has heard what it waited for, or is gone
                link.sendall(answer)

        try:
            status = anyio.run(_hold, _Order(**json.loads(told)), host, tell)
        except NacreError as error:
            tell(str(error).encode("utf-8", "replace"))
            status = _OWN_ERROR
    sys.exit(status)


async def _hold(order: _Order, host: int, tell: Callable[[bytes], None]) -> int:
    """Run the shell to its end, or to the host's; return its exit code."""
    cancel = CancelToken()
    threading.Thread(target=_cancel_with, args=(host, cancel), daemon=True).start()

    def hear(data: bytes) -> None:
        del data  # it says nothing else here
        tell(READY)

    async with Bash(**order.settings) as tool:
        context = ToolContext(working_dir=".", cancel=cancel)
        result = await tool.carry_out(order.run(), context, on_output=hear, raw=True)
    return _status(cast("Result", result), tell)


def _cancel_with(host: int, cancel: CancelToken) -> None:
    """Wait for the end of a process, and cancel what was done for it."""
    poll = select.poll()
    poll.register(host, select.POLLIN)
    poll.poll()
    cancel.cancel()


def _status(result: Result, tell: Callable[[bytes], None]) -> int:
    match result.outcome:
        case Exited(code):
            tell(result.transcript.head)
            return code
        case Signaled(number):
            return _SIGNALED + number
        case Denied(verdict):
            tell(f"{verdict.reason} ({_UNREAD})".encode())
            return _DENIED
        case Unstarted(reason):
            tell(reason.encode())
        case Stopped():
            pass
        case outcome:
            tell(str(outcome).encode())
    return _OWN_ERROR
