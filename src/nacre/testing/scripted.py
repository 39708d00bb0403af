"""A tool that runs nothing and answers from a list, to test an agent with."""

from collections.abc import Callable, Iterable, Mapping
from datetime import UTC, datetime
from typing import Self

from nacre.dialects.base import Scene
from nacre.dialects.select import select
from nacre.errors import JobNotFoundError
from nacre.model.approval import Question
from nacre.model.call import Call, Run
from nacre.model.job import JobOutput
from nacre.model.outcome import Exited
from nacre.model.reply import Reply
from nacre.model.result import JobList, Result
from nacre.model.transcript import Limit, Transcript
from nacre.tool import Ran, ToolContext

__all__ = ("ScriptedBash",)


class ScriptedBash:
    """Has the doors of `nacre.Bash`; no process is ever started.

    Each call takes the next of the replies, and is kept in `calls`. A string is
    the output of a script that succeeded.

    Raises:
        AssertionError: From a call for which no reply is left.
    """

    def __init__(self, replies: Iterable[Reply | str], *, dialect: str = "nacre") -> None:
        self._replies = [_reply(reply) for reply in replies]
        self._dialect = select(dialect)
        self.calls: list[tuple[str, Mapping[str, object] | str]] = []
        self.closed = False

    def specs(self, context: ToolContext | None = None) -> list[dict[str, object]]:
        """The real tool definitions of the dialect."""
        del context
        return [
            {"name": s.name, "description": s.description, "input_schema": dict(s.input_schema)}
            for s in self._dialect.specs(Scene())
        ]

    async def call(
        self,
        tool: str,
        arguments: Mapping[str, object] | str,
        context: ToolContext | None = None,
        *,
        on_output: Callable[[bytes], None] | None = None,
    ) -> Reply:
        """Give the next reply; a listener hears its text first."""
        return self.call_sync(tool, arguments, context, on_output=on_output)

    async def run(
        self,
        script: str,
        context: ToolContext | None = None,
        *,
        background: bool = False,
        on_output: Callable[[bytes], None] | None = None,
    ) -> Ran:
        """Give the next reply, as what a script that succeeded had to say."""
        del background
        tool, arguments = self._dialect.plain(script)
        reply = self.call_sync(tool, arguments, context, on_output=on_output)
        result = _result(reply)
        limit = Limit(head=result.transcript.total, tail=0)
        return Ran(call=Run(script=script, limit=limit), result=result, reply=reply)

    def prepare(self, context: ToolContext | None = None) -> None:
        """Nothing is to be started."""
        del context

    async def carry_out(
        self,
        call: Call,
        context: ToolContext | None = None,
        *,
        on_output: Callable[[bytes], None] | None = None,
        raw: bool = False,
    ) -> Result | JobList:
        """Give the next reply, as what a script that succeeded had to say."""
        del raw
        script = call.script if isinstance(call, Run) else ""
        tool, arguments = self._dialect.plain(script)
        return _result(self.call_sync(tool, arguments, context, on_output=on_output))

    async def question(
        self,
        tool: str,
        arguments: Mapping[str, object] | str,
        context: ToolContext | None = None,
    ) -> Question | None:
        """Nobody has to be asked."""
        del tool, arguments, context
        return None

    async def question_about(
        self, call: Call, context: ToolContext | None = None
    ) -> Question | None:
        """Nobody has to be asked."""
        del call, context
        return None

    async def jobs(self, context: ToolContext | None = None) -> JobList:
        """There are none."""
        del context
        return JobList(at=datetime.now(tz=UTC), jobs=())

    async def job_output(
        self,
        job_id: str,
        context: ToolContext | None = None,
        *,
        stream: int = 0,
        start: int = 0,
        most: int,
    ) -> JobOutput:
        """There are no jobs."""
        del context, stream, start, most
        raise JobNotFoundError(f"there is no job {job_id!r:.60}", job_id)

    def call_sync(
        self,
        tool: str,
        arguments: Mapping[str, object] | str,
        context: ToolContext | None = None,
        *,
        on_output: Callable[[bytes], None] | None = None,
    ) -> Reply:
        """Give the next reply; a listener hears its text first."""
        del context
        self.calls.append((tool, arguments))
        if not self._replies:
            raise AssertionError(f"no reply is left for {tool} {arguments!r}")
        reply = self._replies.pop(0)
        if on_output is not None:
            on_output(reply.text.encode())
        return reply

    def close(self) -> None:
        """Note that it was closed."""
        self.closed = True

    async def aclose(self) -> None:
        """Note that it was closed."""
        self.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        self.close()


def _result(reply: Reply) -> Result:
    said = Transcript(head=reply.text.encode("utf-8", "backslashreplace"))
    return Result(outcome=Exited(int(reply.is_error)), transcript=said)


def _reply(given: Reply | str) -> Reply:
    if isinstance(given, Reply):
        return given
    return Reply(text=given, details={"outcome": "exited", "exit_code": 0})
