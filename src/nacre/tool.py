"""One dialect joined to one engine: the object a host holds."""

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from pathlib import Path
from typing import Self, cast

import anyio
import anyio.to_thread
from anyio.lowlevel import current_token

from nacre.config.confinement import Confinements
from nacre.config.layers import gather
from nacre.config.policy import ScriptChecker
from nacre.config.rules import Rules
from nacre.config.state import state_folder
from nacre.dialects.base import Dialect
from nacre.dialects.select import select as select_dialect
from nacre.engine.assemble import Settings, assemble
from nacre.engine.engine import Engine, Occasion
from nacre.errors import CallError, ConfigError, NacreError
from nacre.model.call import Call, ListJobs, OnTimeout, Poll, Run, Stop
from nacre.model.confinement import Confinement, Environment
from nacre.model.reply import Reply
from nacre.model.result import JobList, Result
from nacre.process.cancel import CancelToken
from nacre.process.environ import environ_of, scrubbed
from nacre.render.redaction import Redaction

__all__ = ("Bash", "ToolContext")

DEFAULT_CONVERSATION = "default"
_JOBS = ("owned", "detached")
_LONGEST_SECONDS = 10.0 * 365 * 24 * 3600


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolContext:
    """Everything a call needs to know that is not in its arguments.

    Cursors and jobs belong to a `conversation`; without one, to a common one.
    `confinement` is the name of a confinement that holds for this call only.
    """

    working_dir: str | os.PathLike[str]
    cancel: CancelToken | None = None
    conversation: str | None = None
    confinement: str | None = None


class Bash:
    """The tools of one dialect, ready to be called.

    One object serves many conversations at once, from any task or thread, and
    stores none of them: what differs comes in the `ToolContext`. Close it, or
    use it in a `with` or `async with` block, to end every job it owns.

    Settings left out come from variables, the project's and the user's file, or
    are the dialect's. `rules` is a file of rules, what such a file holds, or
    several; each is one more layer, and the strictest decides. `timeout` is the
    time in seconds that a script gets when the agent names none, `math.inf` for
    no limit. `jobs` is "owned", to end with this tool, or "detached", to survive it.

    What scripts may touch follows from `workspace` (where none is given, the working
    directory of a call's context), `confinement` and `network`, with `write`, `deny_read`
    and `protect` added; a working directory that the agent names adds nothing. `limits`
    are words such as "memory=32G" or "processes=none". What
    `sandbox` cannot enforce here is refused when the first script comes.

    Raises:
        ConfigError: If a setting cannot be used as given.
    """

    def __init__(  # noqa: PLR0913 (settings, all by keyword)
        self,
        *,
        dialect: str | None = "nacre",
        workspace: str | os.PathLike[str] | None = None,
        sandbox: str | None = None,
        confinement: str | None = None,
        network: str | None = None,
        write: Sequence[str | os.PathLike[str]] = (),
        deny_read: Sequence[str | os.PathLike[str]] = (),
        protect: Sequence[str | os.PathLike[str]] = (),
        limits: Sequence[str] = (),
        rules: Rules | Sequence[Rules] | None = None,
        timeout: float | None = None,
        on_timeout: str | None = None,
        pass_env: Sequence[str] = (),
        state: str | os.PathLike[str] | None = None,
        jobs: str = "owned",
    ) -> None:
        if jobs not in _JOBS:
            raise ConfigError(f"jobs={jobs!r} is not known; use 'owned' or 'detached'")
        self._workspace = _folder(workspace)
        self._given_workspace = workspace is not None
        given = {
            "dialect": dialect,
            "sandbox": sandbox,
            "confinement": confinement,
            "network": network,
            "write": tuple(write) or None,
            "deny_read": tuple(deny_read) or None,
            "protect": tuple(protect) or None,
            "limits": tuple(limits) or None,
            "timeout": timeout,
            "on_timeout": on_timeout,
            "pass_env": tuple(pass_env) or None,
            "state": None if state is None else os.fspath(state),
        }
        config = gather(self._workspace, given, rules)
        self._dialect: Dialect = select_dialect(config.dialect)
        posture = self._dialect.posture
        self._on_timeout = OnTimeout(config.text("on_timeout") or posture.on_timeout)
        self._timeout = _timeout(config.number("timeout"))
        self._redacts = posture.redacts
        self._environment = Environment(
            inherit=posture.environment.inherit,
            passed=config.names("pass_env"),
            fixed=posture.environment.fixed,
        )
        self._sandbox = config.text("sandbox") or posture.sandbox
        self._confinements = Confinements(
            config, usual=posture.confinement, network=posture.network, home=_home()
        )
        self._engine: Engine = assemble(
            Settings(
                state=state_folder(config),
                sandbox=self._sandbox,
                workspace=self._workspace,
                detached=jobs == "detached",
            ),
            ScriptChecker(config.dialect, config.layers),
        )

    def specs(self, context: ToolContext | None = None) -> list[dict[str, object]]:
        """The tool definitions, as a host would send them to a model.

        Raises:
            ConfigError: If there is no confinement of the context's name.
        """
        cwd = Path(context.working_dir) if context else None
        confinement = self._confinement(context) if context else None
        return [
            {
                "name": spec.name,
                "description": spec.description,
                "input_schema": dict(spec.input_schema),
            }
            for spec in self._dialect.specs(cwd, confinement)
        ]

    async def call(
        self,
        tool: str,
        arguments: Mapping[str, object],
        context: ToolContext | None = None,
        *,
        on_output: Callable[[bytes], None] | None = None,
    ) -> Reply:
        """Carry out one tool call and put its result into the dialect's words.

        `on_output` is called with each piece of a script's output as it comes.
        Whatever the agent sent is answered with a reply. A caller that is
        cancelled leaves nothing running.

        Raises:
            ConfigError: If the tool was closed.
        """
        if self._engine.closed:
            raise ConfigError("this tool was closed; make another")
        redaction = Redaction(self._secrets, on_output) if self._redacts else None
        try:
            call = self._parse(tool, arguments)
            listener = redaction.listener if redaction else on_output
            result = await self._carry_out(call, self._occasion(context, listener))
        except NacreError as error:
            return self._dialect.refuse(tool, error)
        if redaction and isinstance(result, Result):
            result = redaction.result(result)
        return self._dialect.render(call, result)

    def call_sync(
        self,
        tool: str,
        arguments: Mapping[str, object],
        context: ToolContext | None = None,
        *,
        on_output: Callable[[bytes], None] | None = None,
    ) -> Reply:
        """Do what `call` does, for a caller that has no event loop.

        Raises:
            ConfigError: If there is one running on this thread.
        """
        if _in_event_loop():
            raise ConfigError("call_sync was called inside an event loop; await call(...) there")

        async def call() -> Reply:
            return await self.call(tool, arguments, context, on_output=on_output)

        return anyio.run(call)

    def close(self) -> None:
        """End every job this tool owns, and let go of its files. Safe to call again."""
        self._engine.close()

    async def aclose(self) -> None:
        """Do what `close` does without blocking the event loop."""
        with anyio.CancelScope(shield=True):
            await anyio.to_thread.run_sync(self._engine.close)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()

    def _parse(self, tool: str, arguments: object) -> Call:
        """Read a call; arguments come from a model, and may be anything."""
        if not isinstance(arguments, Mapping):
            raise CallError(f"the arguments of {tool} must be an object, not {arguments!r:.60}")
        given = cast("Mapping[str, object]", arguments)
        call = self._dialect.parse(tool, given, self._on_timeout)
        if isinstance(call, Run) and self._timeout and given.get("timeout") is None:
            return replace(call, timeout=self._timeout)
        return call

    def _confinement(self, context: ToolContext | None) -> Confinement:
        """What confines a call: a working directory the host names may be seen, or written."""
        if context is None:
            return self._confinements.named(None, self._workspace)
        folder = Path(os.path.normpath(self._workspace / context.working_dir))
        if not self._given_workspace:
            return self._confinements.named(context.confinement, folder)
        outside = None if folder.is_relative_to(self._workspace) else folder
        return self._confinements.named(context.confinement, self._workspace, outside)

    def _stand_in(self, context: ToolContext | None) -> str | None:
        """What holds a call to a confinement that is named for it, where nothing does usually."""
        confines = context and context.confinement not in {None, "open"}
        return "auto" if confines and self._sandbox == "none" else None

    def _occasion(
        self, context: ToolContext | None, listener: Callable[[bytes], None] | None
    ) -> Occasion:
        conversation = (context and context.conversation) or DEFAULT_CONVERSATION
        return Occasion(
            cwd=self._workspace / context.working_dir if context else self._workspace,
            # A name is stored and compared as text, whatever characters it is made of.
            conversation=conversation.encode("utf-8", "backslashreplace").decode(),
            environ=environ_of(self._environment, os.environ),
            confinement=self._confinement(context),
            sandbox=self._stand_in(context),
            cleared=not self._environment.inherit,
            cancel=context.cancel if context else None,
            listener=listener,
        )

    def _secrets(self) -> Mapping[str, str]:
        return scrubbed(self._environment, os.environ)

    async def _carry_out(self, call: Call, occasion: Occasion) -> Result | JobList:
        match call:
            case Run():
                return await self._engine.run(call, occasion)
            case Poll():
                return await self._engine.poll(call, occasion)
            case Stop():
                return await self._engine.stop(call, occasion)
            case ListJobs():
                return await self._engine.jobs(occasion)


def _folder(given: str | os.PathLike[str] | None) -> Path:
    try:
        return Path(given or ".").absolute()
    except FileNotFoundError:
        raise ConfigError("the current directory is gone; give workspace=...") from None


def _home() -> str | None:
    home = os.path.expanduser("~")
    return home if os.path.isabs(home) else None


def _in_event_loop() -> bool:
    try:
        current_token()
    except RuntimeError:
        return False
    return True


def _timeout(given: float | None) -> timedelta | None:
    return None if given is None else timedelta(seconds=min(given, _LONGEST_SECONDS))
