"""nacre as the environment that a Pydantic AI agent works in."""

import errno
import os
import posixpath
import stat
from collections.abc import AsyncGenerator, Generator, Mapping, Sequence
from contextlib import asynccontextmanager, contextmanager
from dataclasses import replace
from datetime import timedelta
from math import inf
from shlex import join
from weakref import WeakValueDictionary

import anyio
import anyio.to_thread
from anyio.lowlevel import current_token

from nacre.adapters.files import (
    Operation,
    carry_out,
    listing,
    looking,
    making,
    perform,
    reading,
    refusal,
    removing,
    require_path,
    resolving,
    unfinished,
    writing,
)
from nacre.errors import ConfigError, NacreError
from nacre.model.call import Run, Streams
from nacre.model.outcome import (
    Denied,
    Exited,
    Lost,
    Running,
    Signaled,
    Stopped,
    TimedOut,
    Unstarted,
)
from nacre.model.transcript import Limit, Transcript
from nacre.process.cancel import CancelToken
from nacre.tool import Bash, ToolContext

try:
    from pydantic_ai.workspaces import (
        CommandResult,
        FileEntry,
        SupportsCommands,
        SupportsFilesystem,
        SupportsRealpath,
        WorkspaceBackend,
        WorkspaceCommand,
        WorkspaceError,
        WorkspaceOutputLimitError,
        WorkspaceRef,
        WorkspaceTimeoutError,
        WorkspaceUnavailableError,
    )
except ImportError as error:
    raise ConfigError(
        f"Pydantic AI cannot be imported ({error}); pip install 'nacre[pydantic-ai]'"
    ) from error

__all__ = ("NacreWorkspaceBackend",)

_PROVIDER = "nacre"
# What a command may say on each stream, and a file may hold, to be handed over in one piece.
_MOST_OUTPUT = 10 * 1024 * 1024
_MOST_OF_A_FILE = 100 * 1024 * 1024
_SHOWN_OF_TOO_MUCH = 64 * 1024
_GRACE = timedelta(seconds=1)
_LONGEST_SECONDS = 10.0 * 365 * 24 * 3600
_DENIED, _SIGNALED = 126, 128


class NacreWorkspaceBackend(
    WorkspaceBackend, SupportsCommands, SupportsFilesystem, SupportsRealpath
):
    """A folder, in which commands and file operations are held to a tool's confinement.

    The folder is the environment: its `ref` is there from the start, and to make and remove it is
    its owner's. The host owns `tool`, and closes it. To attach to a ref, give its id as the folder.

    A command is checked like an agent's script. One that is refused has exit code 126, and the
    reason in its standard error. What it started ends with it. Files are read and changed by
    programs under the same confinement: `< FILE`, `> FILE`, `mkdir -p` and `rm -rf` are what guards
    and rules judge, and a refusal is a PermissionError. Reads and writes of one file take turns.
    """

    def __init__(
        self,
        tool: Bash,
        folder: str | os.PathLike[str],
        *,
        conversation: str | None = None,
        confinement: str | None = None,
    ) -> None:
        self._tool = tool
        self._folder = os.path.abspath(folder)
        self._conversation = conversation
        self._confinement = confinement
        self._ref = WorkspaceRef(provider=_PROVIDER, id=self._folder)
        self._root: str | None = None
        self._turns: WeakValueDictionary[tuple[object, str], anyio.Lock] = WeakValueDictionary()

    @property
    def ref(self) -> WorkspaceRef:
        """Which folder it is."""
        return self._ref

    async def working_dir(self) -> str:
        """The folder, with its links resolved: the same one as long as this backend is used.

        Raises:
            WorkspaceUnavailableError: If it is not there, or another one is in its place.
        """
        return await anyio.to_thread.run_sync(self._found)

    async def run(
        self,
        command: WorkspaceCommand,
        *,
        shell: bool = False,
        env: Mapping[str, str] | None = None,
        timeout: float | None = None,  # noqa: ASYNC109 (the framework's word)
    ) -> CommandResult:
        """Run a command, or with `shell` a script of bash, to its end.

        Secrets in what it says are redacted where the tool does that. One that says more than
        can be handed over is ended.
        """
        script = _script(command, shell=shell)
        run = Run(
            script=script,
            # As a program: `echo` and `kill` would be words of bash's own.
            program=None if shell else f"exec -- {script}",
            limit=Limit(head=_MOST_OUTPUT, tail=0),
            timeout=_time(timeout),
            streams=Streams.SEPARATE,
            grace=_GRACE,
            environ=_variables(env),
        )
        ceiling = _Ceiling()
        context = replace(await self._context(), cancel=ceiling.reached)
        with _translated():
            result = await carry_out(self._tool, run, context, raw=False, on_output=ceiling)
        # A folder that went away meanwhile is no place where a command ends.
        await self.working_dir()
        said, errors = result.transcript, result.errors or Transcript()
        match result.outcome:
            case Exited(code):
                return _whole(code, said, errors)
            case Signaled(number):
                return _whole(_SIGNALED + number, said, errors)
            case Denied():
                text = f"nacre: denied: {refusal(result.outcome)}\n"
                return CommandResult(exit_code=_DENIED, stdout="", stderr=text)
            case TimedOut(after):
                raise WorkspaceTimeoutError(
                    f"the command was ended after {after.total_seconds():g} s, with all it started",
                    stdout=_text(said),
                    stderr=_text(errors),
                )
            case Stopped() if ceiling.reached.cancelled:
                raise _too_much(said, errors)
            case Unstarted() | Stopped() | Running() | Lost():
                raise WorkspaceError(str(unfinished(result.outcome)))

    async def read_bytes(self, path: str) -> bytes:
        """Read a file."""
        async with self._turn(path):
            data = await self._perform(reading(path, most=_MOST_OF_A_FILE))
        if len(data) > _MOST_OF_A_FILE:
            raise OSError(errno.EFBIG, f"it holds more than {_MOST_OF_A_FILE} bytes", path)
        return data

    async def write_bytes(self, path: str, data: bytes) -> None:
        """Write a file, with the folders it needs, through a link that is there."""
        async with self._turn(path):
            await self._perform(writing(path, data))

    async def stat(self, path: str) -> FileEntry:
        """Say what is at a path, at the end of its links."""
        mode, _, size = (await self._perform(looking(path))).decode().partition(" ")
        is_dir = stat.S_ISDIR(int(mode, 16))
        name = posixpath.basename(posixpath.normpath(path))
        return FileEntry(name=name, path=path, is_dir=is_dir, size=None if is_dir else int(size))

    async def list_dir(self, path: str) -> Sequence[FileEntry]:
        """List a folder, by name."""
        said = os.fsdecode(await self._perform(listing(path)))
        return sorted(
            (_entry(path, line) for line in said.split("\0") if line), key=lambda each: each.path
        )

    async def make_dir(self, path: str) -> None:
        """Make a folder, with those above it; one that is there will do."""
        await self._perform(making(path))

    async def remove(self, path: str) -> None:
        """Remove a file, a link, or a folder with all it holds.

        Raises:
            ValueError: If that would take the working directory along.
        """
        parent, name = posixpath.split(path.rstrip("/"))
        if name in {"", ".", ".."}:
            target = await self.realpath(path)
        else:
            target = posixpath.join(await self.realpath(parent or "/"), name)
        root = await self.working_dir()
        if f"{root}/".startswith(f"{target.rstrip('/')}/"):
            raise ValueError(f"{path!r} is the working directory, or above it; it stays")
        await self._perform(removing(path))

    async def exists(self, path: str) -> bool:
        """Whether there is something at a path, at the end of its links."""
        try:
            await self.stat(path)
        except (FileNotFoundError, NotADirectoryError):
            return False
        except OSError as error:
            if error.errno == errno.ELOOP:
                return False
            raise
        return True

    async def realpath(self, path: str) -> str:
        """Follow every link of a path, and keep what is missing as it is written."""
        return os.fsdecode((await self._perform(resolving(path))).removesuffix(b"\0"))

    async def _perform(self, operation: Operation) -> bytes:
        _require_absolute(operation.path)
        context = await self._context()
        with _translated():
            return await perform(self._tool, operation, context)

    async def _context(self) -> ToolContext:
        return ToolContext(
            working_dir=await self.working_dir(),
            conversation=self._conversation,
            confinement=self._confinement,
        )

    @asynccontextmanager
    async def _turn(self, path: str) -> AsyncGenerator[None]:
        """Have a path to oneself: two writes at once would leave a mixture of both.

        Where it leads is only asked to know whose turn it is. A lock is of one event loop.
        """
        _require_absolute(path)
        target = await anyio.to_thread.run_sync(os.path.realpath, path)
        turn = self._turns.setdefault((current_token(), target), anyio.Lock())
        async with turn:
            yield

    def _found(self) -> str:
        found = os.path.realpath(self._folder)
        if not os.path.isdir(found):
            raise WorkspaceUnavailableError(f"there is no folder {self._folder!r}; make it first")
        self._root = self._root or found
        if found != self._root:
            raise WorkspaceUnavailableError(
                f"{self._folder!r} leads to {found!r} now, and led to {self._root!r} before"
            )
        return found


class _Ceiling:
    """Hears what a command says, and ends it at more than two streams could hand over."""

    def __init__(self) -> None:
        self.reached = CancelToken()
        self._left = 2 * _MOST_OUTPUT

    def __call__(self, data: bytes) -> None:
        self._left -= len(data)
        if self._left < 0 and not self.reached.cancelled:
            self.reached.cancel()


def _require_absolute(path: str) -> None:
    if not posixpath.isabs(path):
        raise ValueError(f"{path!r:.100} is not absolute; a backend is given absolute paths")
    require_path(path)


@contextmanager
def _translated() -> Generator[None]:
    """Say in the framework's words that nothing could be run."""
    try:
        yield
    except ConfigError as error:  # closed, or never usable: trying again cannot help
        raise WorkspaceUnavailableError(str(error)) from error
    except NacreError as error:
        raise WorkspaceError(str(error)) from error


def _script(command: WorkspaceCommand, *, shell: bool) -> str:
    if isinstance(command, str):
        if not shell:
            raise TypeError("a script needs shell=True; a command is a list of words")
        return _passable(command)
    if shell:
        raise TypeError("a list of words is no script; leave shell=True out")
    if not command:
        raise ValueError("there is no command in an empty list")
    return _passable(join(command))


def _passable(text: str) -> str:
    """A text that a process can be given; a lone surrogate is no byte of one, and raises."""
    if "\0" in text:
        raise ValueError(f"there is a NUL character in {text!r:.100}; no process can be given one")
    os.fsencode(text)
    return text


def _time(timeout: float | None) -> timedelta | None:
    if timeout is None:
        return None
    if not 0 < timeout < inf:
        raise ValueError(f"timeout={timeout!r} is not a positive number of seconds")
    return timedelta(seconds=min(timeout, _LONGEST_SECONDS))


def _variables(env: Mapping[str, str] | None) -> dict[str, str]:
    for name, value in (env or {}).items():
        if not _passable(name) or "=" in name:
            raise ValueError(f"{name!r:.100} cannot be the name of a variable")
        _passable(value)
    return dict(env or {})


def _whole(code: int, said: Transcript, errors: Transcript) -> CommandResult:
    """A result with all that was said.

    Raises:
        WorkspaceOutputLimitError: If that was too much to be kept.
    """
    if said.omitted or errors.omitted:
        raise _too_much(said, errors)
    return CommandResult(exit_code=code, stdout=_text(said), stderr=_text(errors))


def _too_much(said: Transcript, errors: Transcript) -> WorkspaceOutputLimitError:
    return WorkspaceOutputLimitError(
        f"the command said more than {_MOST_OUTPUT} bytes; write them to a file, and read a part",
        limit=_MOST_OUTPUT,
        stdout=_text(said)[:_SHOWN_OF_TOO_MUCH],
        stderr=_text(errors)[:_SHOWN_OF_TOO_MUCH],
    )


def _text(said: Transcript) -> str:
    return said.head.decode("utf-8", "replace")


def _entry(folder: str, line: str) -> FileEntry:
    target, kind, size, name = line.split("/", 3)
    return FileEntry(
        name=name,
        path=posixpath.join(folder, name),
        is_dir=target == "d",
        size=int(size) if kind == "f" else None,
    )
