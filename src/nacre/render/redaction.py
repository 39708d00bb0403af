"""Redaction of one call: what its listener hears as it comes, and its result."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from nacre.model.job import JobOutput
from nacre.model.result import Result
from nacre.model.transcript import Transcript

if TYPE_CHECKING:
    from nacre.render.redact import Redactor

__all__ = ("Redaction",)


class Redaction:
    """Replaces secrets in all that a call shows.

    `secrets` is asked when there is something to be shown, and not before.
    """

    def __init__(
        self, secrets: Callable[[], Mapping[str, str]], listener: Callable[[bytes], None] | None
    ) -> None:
        self._secrets = secrets
        self._hears = listener
        self._stream: Redactor | None = None
        self.listener = self._feed if listener else None

    def result(self, result: Result) -> Result:
        """A result without secrets; the listener hears what was held back of its stream."""
        if self._hears and self._stream and (rest := self._stream.finish()):
            self._hears(rest)
        if result.transcript.head or result.transcript.tail or result.errors:
            redactor = self._redactor()
            errors = _redacted(result.errors, redactor) if result.errors else None
            return replace(result, transcript=_redacted(result.transcript, redactor), errors=errors)
        return result

    def range(self, found: JobOutput) -> JobOutput:
        """A range of what a job said, without secrets, those across its borders included."""
        shown = self._redactor().between(found.before, found.data, found.after)
        return replace(found, data=shown, before=b"", after=b"")

    def _redactor(self) -> "Redactor":
        # Imported when there is something to be shown: some scripts say nothing.
        from nacre.render.redact import Redactor

        return Redactor(self._secrets())

    def _feed(self, data: bytes) -> None:
        if self._stream is None:
            self._stream = self._redactor()
        shown = self._stream.feed(data)
        if shown and self._hears:
            self._hears(shown)


def _redacted(transcript: Transcript, redactor: "Redactor") -> Transcript:
    if transcript.omitted == 0:
        # One text: the border between head and tail may lie within a secret.
        whole = redactor.feed(transcript.head + transcript.tail) + redactor.finish()
        return replace(transcript, head=whole, tail=b"")
    head = redactor.feed(transcript.head)
    redactor.finish()  # where the gap begins, half of a secret is not to be seen
    tail = redactor.feed(transcript.tail) + redactor.finish()
    return replace(transcript, head=head, tail=tail)
