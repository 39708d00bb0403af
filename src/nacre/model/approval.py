"""What a person is asked before a script runs, what they answer, and what of it is remembered."""

from datetime import datetime
from enum import Enum
from hashlib import sha256
from pathlib import PurePath

from nacre.model.value import dataclass
from nacre.model.verdict import Verdict

__all__ = ("Answer", "Consent", "Grant", "Question", "Scope")


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """A script that only a person may allow, and why: its verdict is always ASK.

    `grants` are the rules that would be remembered if the answer is `Consent.ALWAYS`; there
    are none if nothing of it can be, and then that answer is good for this once. `held` says
    what the script would be held to.
    """

    script: str
    verdict: Verdict
    description: str
    cwd: PurePath
    conversation: str
    grants: tuple[str, ...] = ()
    held: str = ""

    @property
    def fingerprint(self) -> bytes:
        """What tells it from every question that a person would have to be asked anew."""
        shown = repr((self.script, self.cwd, self.held, self.verdict))
        return sha256(shown.encode("utf-8", "backslashreplace")).digest()


class Consent(Enum):
    """What came of asking."""

    NO = "no"
    ONCE = "once"
    ALWAYS = "always"
    UNANSWERED = "unanswered"  # nobody was there, or could be reached

    @property
    def allows(self) -> bool:
        """Whether it is a yes."""
        return self in {Consent.ONCE, Consent.ALWAYS}


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """An answer to a question.

    `said` is a word to the agent; `by` is who or what answered. `grant` is the id of the
    grant that answered in a person's place.
    """

    consent: Consent
    said: str = ""
    by: str = ""
    grant: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Scope:
    """Where a grant counts: for whom, in which folder, and held to what, all to the letter."""

    conversation: str
    folder: str
    held: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Grant:
    """A rule that a person added by saying yes for always; it is one command, to the letter."""

    id: str
    rule: str
    scope: Scope
    at: datetime
