"""One command of an Inspect evaluation: what bash is given for it, and what came of it."""

import errno
import os
from collections.abc import Mapping, Sequence
from dataclasses import field
from datetime import timedelta
from secrets import token_hex
from shlex import join, quote

from nacre.adapters.files import refusal, unfinished
from nacre.errors import ConfigError
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
from nacre.model.result import Result
from nacre.model.transcript import Limit, Transcript
from nacre.model.value import dataclass
from nacre.model.verdict import Decision

try:
    from inspect_ai.util import (
        ExecResult,
        OutputLimitExceededError,
        SandboxEnvironmentLimits,
        SandboxUnavailableError,
    )
except ImportError as error:
    raise ConfigError(
        f"Inspect cannot be imported ({error}); pip install 'nacre[inspect-ai]'"
    ) from error

__all__ = ("Command", "CommandTimeoutError", "require_text")

_GRACE = timedelta(seconds=1)
_REFUSED, _SIGNALED = 126, 128
# What is longer is handed to bash on its standard input, which is then no command's any more.
_LONGEST_WITH_INPUT = 100_000
_NOBODY = "it needs approval, and nobody is here to give it: "
_FOLDER = "/"
# In other words where the locale has others, and then the usual reason is taken.
_ERRORS: Mapping[str, int] = {
    "No such file or directory": errno.ENOENT,
    "Not a directory": errno.ENOTDIR,
    "Permission denied": errno.EACCES,
    "Is a directory": errno.EACCES,
}


class CommandTimeoutError(TimeoutError):
    """A command ran out of time; `truncated_output` is what it had said."""

    def __init__(self, seconds: float, said: str) -> None:
        super().__init__(f"the command was ended after {seconds:g} s, with all it started")
        self.truncated_output = said


@dataclass(frozen=True, slots=True, kw_only=True)
class Command:
    """A program with its arguments, and where, with what and for how long it runs.

    `folder` is absolute. Bash becomes the program. If it cannot, or cannot enter the folder,
    `_mark` is near the end of what it says: no program was there that could have said it.
    """

    words: Sequence[str]
    folder: str | None = None
    stdin: bytes | None = None
    environ: Mapping[str, str] = field(default_factory=dict[str, str])
    timeout: timedelta | None = None
    most: int = field(default_factory=lambda: SandboxEnvironmentLimits.MAX_EXEC_OUTPUT_SIZE)
    _mark: str = field(default_factory=lambda: token_hex(16))

    def run(self) -> Run:
        """The run of it."""
        words = join(self.words)
        enter = f"cd -- {quote(self.folder)}" if self.folder else ":"
        return Run(
            script=f"{enter} && {words}" if self.folder else words,
            program=f"shopt -s execfail; {enter} || {_saying(self._mark + _FOLDER)}; "
            f"exec -- {words} || {_saying(self._mark)}",
            limit=Limit(head=self.most, tail=0),
            timeout=self.timeout,
            grace=_GRACE,
            streams=Streams.SEPARATE,
            stdin=self.stdin,
            environ=self.environ,
        )

    def unpassable(self) -> str:
        """Why bash cannot be given it; nothing if it can.

        Raises:
            ValueError: If there is a NUL in it, in the words in which Inspect knows that.
            TypeError: If a word is no text.
        """
        if not self.words:
            raise ValueError("there is no command in an empty list")
        texts = [*self.words, self.folder or "", *self.environ, *self.environ.values()]
        for text in texts:
            require_text(text)
        if bad := [name for name in self.environ if not name or "=" in name]:
            return f"the variable {bad[0]!r} cannot be set"
        try:
            "".join(texts).encode("utf-8", "surrogateescape")
        except UnicodeEncodeError as error:
            return f"it holds {error.object[error.start]!r}, which is no character"
        if self.stdin is not None and len(os.fsencode(join(self.words))) > _LONGEST_WITH_INPUT:
            return "so long a command cannot be given an input as well; write it to a file"
        return ""

    def result(self, result: Result) -> ExecResult[str]:
        """What came of it, in Inspect's words.

        Raises:
            TimeoutError: If it was ended because its time was up.
            OSError: If the program may not be executed, or the folder not be entered.
            OutputLimitExceededError: If it said more than is kept.
            SandboxUnavailableError: If it was never started.
        """
        match result.outcome:
            case Exited(code):
                return self._ended(code, result)
            case Signaled(number):
                return self._ended(_SIGNALED + number, result)
            case Denied(verdict) if verdict.decision is Decision.ASK:
                return self.refused(f"denied: {_NOBODY}{verdict.reason}")
            case Denied():
                return self.refused(f"denied: {refusal(result.outcome)}")
            case TimedOut(after):
                said = _text(result.transcript) + _text(result.errors or Transcript())
                raise CommandTimeoutError(after.total_seconds(), said)
            case Unstarted() | Stopped() | Running() | Lost():
                raise SandboxUnavailableError(str(unfinished(result.outcome)))

    def refused(self, why: str) -> ExecResult[str]:
        """That it did not run, and why."""
        why = why.encode("utf-8", "backslashreplace").decode()
        return ExecResult(success=False, returncode=_REFUSED, stdout="", stderr=f"nacre: {why}\n")

    def _ended(self, code: int, result: Result) -> ExecResult[str]:
        said, errors = result.transcript, result.errors or Transcript()
        if said.omitted or errors.omitted:
            raise OutputLimitExceededError(
                SandboxEnvironmentLimits.MAX_EXEC_OUTPUT_SIZE_STR, _text(said) + _text(errors)
            )
        complaint, marked, folder = _text(errors).partition(self._mark)
        if marked:
            self._require_startable(code, complaint, is_folder=folder == _FOLDER)
        notes = "".join(f"nacre: {notice}\n" for notice in result.notices)
        return ExecResult(
            success=code == 0, returncode=code, stdout=_text(said), stderr=complaint + notes
        )

    def _require_startable(self, code: int, complaint: str, *, is_folder: bool) -> None:
        """Raise what Python would have raised; a program that is not there is a result."""
        words = complaint.strip().rpartition(": ")[2]
        if is_folder:
            raise OSError(_ERRORS.get(words, errno.ENOENT), words, self.folder)
        if code == _REFUSED:
            raise OSError(_ERRORS.get(words, errno.EACCES), words, self.words[0])


def _saying(mark: str) -> str:
    """What bash does when it cannot become the program."""
    return f"{{ set -- $?; printf %s {mark} >&2; exit $1; }}"


def require_text(text: object) -> None:
    """Refuse what is no text, or one that ends before its end.

    Raises:
        TypeError: If it is no text.
        ValueError: If there is a NUL in it.
    """
    if not isinstance(text, str):
        raise TypeError(f"{text!r:.60} is no text")
    if "\0" in text:
        raise ValueError("embedded null byte")  # what Inspect tells a model about


def _text(said: Transcript) -> str:
    return said.head.decode("utf-8", "replace")
