"""nacre as the sandbox of an Inspect evaluation: `sandbox="nacre"`."""

import errno
import os
import posixpath
import pwd
import tempfile
from contextlib import AbstractAsyncContextManager, nullcontext
from datetime import timedelta
from secrets import token_hex
from typing import Any, Literal, overload

import anyio
import anyio.to_thread

from nacre.adapters.files import Operation, carry_out, perform, reading, writing
from nacre.adapters.inspect_ai_command import Command, require_text
from nacre.adapters.inspect_ai_config import NacreConfig, NacreRules, config_of, tool_for
from nacre.errors import ConfigError, NacreError
from nacre.sandbox.trees import remove_tree
from nacre.tool import ToolContext

try:
    from inspect_ai.util import (
        ExecResult,
        OutputLimitExceededError,
        SandboxEnvironment,
        SandboxEnvironmentConfigType,
        SandboxEnvironmentLimits,
        SandboxUnavailableError,
        SandboxUserUnsupportedError,
        sandboxenv,
    )
    from inspect_ai.util import concurrency as throttled
    from inspect_ai.util._subprocess import max_subprocesses_context_var
    from pydantic import BaseModel
    from typing_extensions import override
except ImportError as error:
    raise ConfigError(
        f"Inspect cannot be imported ({error}); pip install 'nacre[inspect-ai]'"
    ) from error

__all__ = ("NacreConfig", "NacreRules", "NacreSandboxEnvironment")


class NacreSandboxEnvironment(SandboxEnvironment):
    """A folder of its own for each sample, with all that is done in it held by nacre.

    Commands are checked like an agent's scripts. One that is refused, or that rules leave to a
    person, has exit code 126 and the reason in its standard error; nobody is there to be asked.
    What it started ends with it. Files are read and written by programs under the same
    confinement, which guards and rules do not judge: they are the evaluation's own doing.
    """

    def __init__(self, config: NacreConfig, name: str = "") -> None:
        super().__init__()
        self._folder = os.path.realpath(tempfile.mkdtemp(prefix="nacre-inspect-"))
        try:
            self._tool = tool_for(config, self._folder)
        except BaseException:
            os.rmdir(self._folder)
            raise
        self._context = ToolContext(
            working_dir=self._folder, conversation=f"inspect {name} {token_hex(8)}"
        )

    @override
    @classmethod
    async def sample_init(
        cls,
        task_name: str,
        config: SandboxEnvironmentConfigType | None,
        metadata: dict[str, str],
    ) -> dict[str, SandboxEnvironment]:
        """Make a folder for a sample; nothing is started yet."""
        del metadata
        return {"default": cls(config_of(config), task_name)}

    @override
    @classmethod
    async def sample_cleanup(
        cls,
        task_name: str,
        config: SandboxEnvironmentConfigType | None,
        environments: dict[str, SandboxEnvironment],
        interrupted: bool,
    ) -> None:
        """Remove what a sample has left, its processes first."""
        del task_name, config, interrupted
        for environment in environments.values():
            await environment.as_type(cls).aclose()

    @override
    @classmethod
    def config_deserialize(cls, config: dict[str, Any]) -> BaseModel:
        """A configuration, from the log that it was written to."""
        return NacreConfig.model_validate(config)

    async def aclose(self) -> None:
        """End all that runs here, and remove the folder."""
        with anyio.CancelScope(shield=True):
            await self._tool.aclose()
            await anyio.to_thread.run_sync(remove_tree, self._folder)

    @override
    async def exec(
        self,
        cmd: list[str],
        input: str | bytes | None = None,
        cwd: str | None = None,
        env: dict[str, str] | None = None,
        user: str | None = None,
        timeout: int | None = None,
        timeout_retry: bool = True,
        concurrency: bool = True,
    ) -> ExecResult[str]:
        """Run a command to its end; one that runs out of time is not run again.

        Raises:
            SandboxUserUnsupportedError: If `user` is another one than the host's.
            SandboxUnavailableError: If nothing could be run.
            TimeoutError: If the time is up.
            PermissionError: If the program may not be executed.
            OutputLimitExceededError: If it says more than Inspect takes.
        """
        del timeout_retry
        _require_user(user)
        command = Command(
            words=cmd,
            folder=None if cwd is None else posixpath.join(self._folder, cwd),
            stdin=input.encode("utf-8", "replace") if isinstance(input, str) else input,
            environ=env or {},
            timeout=None if timeout is None else timedelta(seconds=timeout),
        )
        if why_not := command.unpassable():
            return command.refused(why_not)
        async with _turn(taken=concurrency):
            try:
                result = await carry_out(self._tool, command.run(), self._context, raw=True)
            except NacreError as error:
                raise SandboxUnavailableError(str(error)) from error
        return command.result(result)

    @override
    async def write_file(self, file: str, contents: str | bytes) -> None:
        """Write a file, with the folders it needs."""
        data = contents.encode() if isinstance(contents, str) else contents
        await self._perform(writing(self._path(file), data))

    @overload
    async def read_file(self, file: str, text: Literal[True] = True) -> str: ...  # noqa: FBT002

    @overload
    async def read_file(self, file: str, text: Literal[False]) -> bytes: ...

    @override
    async def read_file(
        self,
        file: str,
        text: bool = True,
    ) -> str | bytes:
        """Read a file.

        Raises:
            OutputLimitExceededError: If it holds more than Inspect takes.
        """
        most = SandboxEnvironmentLimits.MAX_READ_FILE_SIZE
        data = await self._perform(reading(self._path(file), most=most))
        if len(data) > most:
            raise OutputLimitExceededError(SandboxEnvironmentLimits.MAX_READ_FILE_SIZE_STR, None)
        return data.decode() if text else data

    @override
    def default_polling_interval(self) -> float:
        """How often a service in the sandbox is asked for news: it is near."""
        return 0.2

    def _path(self, file: str) -> str:
        require_text(file)
        try:
            file.encode("utf-8", "surrogateescape")
        except UnicodeEncodeError:
            raise FileNotFoundError(errno.ENOENT, "no file has such a name", file) from None
        return posixpath.join(self._folder, file)

    async def _perform(self, operation: Operation) -> bytes:
        try:
            return await perform(self._tool, operation, self._context, judged=False)
        except NacreError as error:
            raise SandboxUnavailableError(str(error)) from error


# Its name for tasks. As a decorator, it would hide from type checkers what it decorates.
sandboxenv(name="nacre")(NacreSandboxEnvironment)


def _require_user(user: str | None) -> None:
    """Refuse another user than the host's: to become one takes privileges, and they are dropped."""
    if user is None:
        return
    try:
        uid = int(user) if user.isdecimal() else pwd.getpwnam(user).pw_uid
    except (KeyError, ValueError):
        uid = None
    if uid != os.geteuid():
        raise SandboxUserUnsupportedError(
            f"nacre runs nothing as {user!r}, only as the user of this evaluation"
        )


def _turn(*, taken: bool) -> AbstractAsyncContextManager[object]:
    """One of the places that Inspect has for commands that run at the same time."""
    if not taken:
        return nullcontext()
    return throttled("subprocesses", max_subprocesses_context_var.get(), resizable=True)
