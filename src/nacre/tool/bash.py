"""The object a host holds: one dialect joined to one engine."""

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Self

from nacre.config.layers import gather
from nacre.config.policy import ScriptChecker
from nacre.config.rules import Rules
from nacre.config.state import state_folder
from nacre.dialects.arguments import from_json
from nacre.dialects.base import Dialect
from nacre.dialects.select import select as select_dialect
from nacre.engine.assemble import Settings, assemble
from nacre.engine.engine import Engine
from nacre.engine.entries import Asked, Noting
from nacre.engine.journal import JOURNAL, Journal
from nacre.engine.occasion import Occasion, Sofar
from nacre.errors import ConfigError, NacreError
from nacre.model.approval import Question
from nacre.model.call import Call, ListJobs, OnTimeout, Poll, Run, Stop
from nacre.model.job import JobOutput, Naming
from nacre.model.reply import Reply
from nacre.model.result import JobList, Result
from nacre.process.waits import loop_runs, run_alone, wholly
from nacre.render.redaction import Redaction
from nacre.stance import Stance
from nacre.tool.context import Approver, Ran, ToolContext
from nacre.tool.described import described
from nacre.tool.given import folder_of, spares_of, time_of, wanted_of
from nacre.tool.occasions import DEFAULT_CONVERSATION, occasion_of
from nacre.tool.own_loop import run_here
from nacre.tool.redacting import redacted

__all__ = ("Bash",)

_JOBS = ("owned", "detached")


class Bash:
    """The tools of one dialect, ready to be called.

    One object serves many conversations at once, from any task or thread, and
    stores none of them: what differs comes in the `ToolContext`. Close it, or
    use it in a `with` or `async with` block, to end every job it owns.

    Settings left out come from variables, the project's and the user's file, or
    are the dialect's. `rules` is a file of rules, what such a file holds, or
    several; each is one more layer, and the strictest decides. `approver` is asked
    about a script that they leave to a person, and answers true, false or a `Consent`, at
    once or when awaited. `timeout` is the time in seconds that a script gets when the agent
    names none, `math.inf` for no limit. `jobs` is "owned", to end with this tool, or
    "detached", to survive it. `spares` is how many shells of a kind wait for their script, so that
    it starts sooner; none, if nothing is said. `output_dir` is where output goes that is too long to show.

    What scripts may touch follows from `workspace` (where none is given, the working
    directory of a call's context), `confinement` and `network`, with `write`, `deny_read`
    and `protect` added; a working directory that the agent names adds nothing. `limits`
    are words such as "memory=32G" or "processes=none". With sandbox="container", scripts run in a
    container made of `image`, which ends when no script ran for `idle_timeout` seconds; or in
    the one named `container`, whose life is its owner's. What
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
        image: str | None = None,
        container: str | None = None,
        idle_timeout: float | None = None,
        write: Sequence[str | os.PathLike[str]] = (),
        deny_read: Sequence[str | os.PathLike[str]] = (),
        protect: Sequence[str | os.PathLike[str]] = (),
        limits: Sequence[str] = (),
        rules: Rules | Sequence[Rules] | None = None,
        approver: Approver | None = None,
        timeout: float | None = None,
        on_timeout: str | None = None,
        pass_env: Sequence[str] = (),
        output_dir: str | os.PathLike[str] | None = None,
        state: str | os.PathLike[str] | None = None,
        jobs: str = "owned",
        spares: int | None = None,
    ) -> None:
        if jobs not in _JOBS:
            raise ConfigError(f"jobs={jobs!r} is not known; use 'owned' or 'detached'")
        folder = folder_of(workspace)
        given = {
            "dialect": dialect,
            "sandbox": sandbox,
            "confinement": confinement,
            "network": network,
            "image": image,
            "container": container,
            "idle_timeout": idle_timeout,
            "write": tuple(write) or None,
            "deny_read": tuple(deny_read) or None,
            "protect": tuple(protect) or None,
            "limits": tuple(limits) or None,
            "timeout": timeout,
            "on_timeout": on_timeout,
            "output_dir": None if output_dir is None else os.fspath(output_dir),
            "pass_env": tuple(pass_env) or None,
            "state": None if state is None else os.fspath(state),
        }
        config = gather(folder, given, rules)
        self._dialect: Dialect = select_dialect(config.dialect)
        posture = self._dialect.posture(os.environ)
        self._stance = Stance(config, posture, folder, given=workspace is not None)
        if self._stance.contained:
            self._dialect = select_dialect(config.dialect, contained=True)
        self._approver = approver
        self._on_timeout = OnTimeout(config.text("on_timeout") or posture.on_timeout)
        self._timeout = time_of(config.number("timeout"))
        spills, state_dir = config.text("output_dir"), state_folder(config)
        self.state = state_dir
        """The state directory, which other tools may share."""
        self._name = config.dialect
        self._journal = Journal(state_dir / JOURNAL)
        self._engine: Engine = assemble(
            Settings(
                state=state_dir,
                sandbox=self._stance.sandbox,
                workspace=folder,
                detached=jobs == "detached",
                output_dir=folder / spills if spills else None,
                unheld_allowed=posture.unheld_allowed,
                spares=spares_of(spares),
                wanted=replace(
                    wanted_of(config, self._stance.sandbox, image=image, container=container),
                    kept=jobs == "detached",
                    state=state_dir,
                ),
            ),
            ScriptChecker(config.dialect, config.layers, contained=self._stance.contained),
        )

    def specs(self, context: ToolContext | None = None) -> list[dict[str, object]]:
        """The tool definitions, as a host would send them to a model.

        Raises:
            ConfigError: If there is no confinement of the context's name.
        """
        return described(self._dialect, self._stance, context)

    def prepare(self, context: ToolContext | None = None) -> None:
        """Start what will hold the first script, such as the warden, and wait for none of it."""
        self._require_open()
        self._engine.prepare(self._occasion(context))

    async def call(
        self,
        tool: str,
        arguments: Mapping[str, object] | str,
        context: ToolContext | None = None,
        *,
        on_output: Callable[[bytes], None] | None = None,
    ) -> Reply:
        """Carry out one tool call and put its result into the dialect's words.

        Arguments may be the text of a JSON object. `on_output` is called with each piece
        of a script's output as it comes. Whatever the agent sent is answered with a reply.
        A caller that is cancelled leaves nothing running.

        Raises:
            ConfigError: If the tool was closed.
        """
        self._require_open()
        tool = str(tool)  # from a model, it may be anything
        return await self._answer(tool, self._read(tool, arguments, context), context, on_output)

    async def _answer(
        self,
        tool: str,
        call: Call | NacreError,
        context: ToolContext | None,
        on_output: Callable[[bytes], None] | None,
    ) -> Reply:
        try:
            with self._noting(tool, context) as noting:
                if isinstance(call, NacreError):
                    raise call
                noting.call = call
                noting.came = result = await self._result(call, context, on_output, noting.watch)
        except NacreError as error:
            return self._dialect.refuse(tool, error)
        return self._dialect.render(call, result)

    def call_sync(
        self,
        tool: str,
        arguments: Mapping[str, object] | str,
        context: ToolContext | None = None,
        *,
        on_output: Callable[[bytes], None] | None = None,
    ) -> Reply:
        """Do what `call` does, for a caller that has no event loop.

        Raises:
            ConfigError: If there is one running on this thread.
        """
        if loop_runs():
            raise ConfigError("call_sync was called inside an event loop; await call(...) there")
        self._require_open()
        tool = str(tool)
        call = self._read(tool, arguments, context)
        answer = partial(self._answer, tool, call, context, on_output)
        asks = self._approver or (context and context.approver)
        plain = isinstance(call, Run) and not call.background and not asks
        return run_alone(answer) if plain else run_here(answer)

    async def run(
        self,
        script: str,
        context: ToolContext | None = None,
        *,
        background: bool = False,
        on_output: Callable[[bytes], None] | None = None,
    ) -> Ran:
        """Run a script as this dialect's tool would, for a host with words of its own.

        Raises:
            NacreError: If it cannot be run at all.
        """
        call = self._parse(*self._dialect.plain(script), context)
        if not isinstance(call, Run):
            raise ConfigError("this dialect has no tool that runs a script")
        call = replace(call, background=call.background or background)
        result = await self.carry_out(call, context, on_output=on_output)
        if not isinstance(result, Result):
            raise ConfigError("this dialect has no tool that runs a script")
        return Ran(call=call, result=result, reply=self._dialect.render(call, result))

    async def carry_out(
        self,
        call: Call,
        context: ToolContext | None = None,
        *,
        on_output: Callable[[bytes], None] | None = None,
        raw: bool = False,
    ) -> Result | JobList:
        """Carry out a call that the host made itself, for those who speak no dialect.

        What is `raw` is not for a model, and nothing in it is redacted.

        Raises:
            NacreError: If it cannot be carried out.
        """
        self._require_open()
        with self._noting(type(call).__name__, context) as noting:
            noting.call = call
            noting.came = result = await self._result(
                call, context, on_output, noting.watch, raw=raw
            )
        return result

    async def question(
        self,
        tool: str,
        arguments: Mapping[str, object] | str,
        context: ToolContext | None = None,
    ) -> Question | None:
        """What a person would be asked about a call, if it were made now; nothing runs.

        None if nobody has to be asked: it may run, is refused in any case, or is no call.
        """
        self._require_open()
        call = self._read(str(tool), arguments, context)
        return None if isinstance(call, NacreError) else await self.question_about(call, context)

    async def question_about(
        self, call: Call, context: ToolContext | None = None
    ) -> Question | None:
        """The same of a call that the host made itself."""
        if not isinstance(call, Run):
            return None
        return await self._engine.question(call, self._occasion(context))

    async def jobs(self, context: ToolContext | None = None) -> JobList:
        """The jobs of a conversation, for a host that shows them in its own way."""
        self._require_open()
        return await self._engine.jobs(self._occasion(context))

    async def job_output(
        self,
        job_id: str,
        context: ToolContext | None = None,
        *,
        stream: int = 0,
        start: int = 0,
        most: int,
    ) -> JobOutput:
        """A range of what a job has said; no cursor is moved. Stream 1 is a standard error apart.

        Raises:
            JobNotFoundError: If this conversation has no such job, or it no such stream.
        """
        self._require_open()
        occasion = self._occasion(context)
        found = await self._engine.output(job_id, occasion, stream=stream, start=start, most=most)
        return await redacted(self._stance, found)

    def close(self) -> None:
        """End every job this tool owns, and let go of its files. Safe to call again."""
        try:
            self._engine.close()
        finally:
            self._journal.close()

    async def aclose(self) -> None:
        """Do what `close` does without blocking the event loop."""
        await wholly(self.close)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()

    def _noting(self, tool: str, context: ToolContext | None) -> Noting:
        conversation = (context and context.conversation) or DEFAULT_CONVERSATION
        asked = Asked(dialect=self._name, tool=tool, conversation=conversation)
        return Noting(self._journal, asked)

    def _require_open(self) -> None:
        if self._engine.closed:
            raise ConfigError("this tool was closed; make another")

    def _read(
        self, tool: str, arguments: Mapping[str, object] | str, context: ToolContext | None
    ) -> Call | NacreError:
        try:
            return self._parse(tool, arguments, context)
        except NacreError as error:
            return error

    def _parse(
        self, tool: str, arguments: Mapping[str, object] | str, context: ToolContext | None
    ) -> Call:
        """Read a call; arguments come from a model, and may be anything."""
        given = from_json(arguments) if isinstance(arguments, str) else arguments
        call = self._dialect.parse(tool, given, self._on_timeout)
        if not isinstance(call, Run):
            return call
        if self._timeout and not call.timed:
            call = replace(call, timeout=self._timeout)
        if context and context.secret_ids:
            call = replace(call, terms=replace(call.terms, naming=Naming.UUID))
        return call

    async def _result(
        self,
        call: Call,
        context: ToolContext | None,
        on_output: Callable[[bytes], None] | None,
        witness: Callable[[Sofar], None],
        *,
        raw: bool = False,
    ) -> Result | JobList:
        """Carry out a call, and keep secrets out of what comes back, where the dialect says so."""
        redacts = self._stance.redacts and not raw
        redaction = Redaction(self._stance.secrets, on_output) if redacts else None
        listener = redaction.listener if redaction else on_output
        result = await self._carry_out(call, self._occasion(context, listener, witness))
        return redaction.result(result) if redaction and isinstance(result, Result) else result

    def _occasion(
        self,
        context: ToolContext | None,
        listener: Callable[[bytes], None] | None = None,
        witness: Callable[[Sofar], None] | None = None,
    ) -> Occasion:
        return occasion_of(self._stance, context, listener, self._approver, witness)

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
