"""What each document promises, sentence by sentence, and the test that shows it.

One TOML file for each dialect. An entry says what is required in our own words, whether it
holds as written or deliberately differs, and why. Tests name the entries they prove, and a
test of the tests keeps the two in step.
"""

import tomllib
from importlib import resources

from nacre.model.value import dataclass

__all__ = ("DOCUMENTED", "Requirement", "requirements")

DOCUMENTED = ("codegen", "phoenix", "wayland", "agentrail", "yoi")


@dataclass(frozen=True, slots=True, kw_only=True)
class Requirement:
    """One promise of a document; `differs` is why it is kept in another way, if it is."""

    id: str
    section: str
    says: str
    test: str
    differs: str = ""

    @property
    def dialect(self) -> str:
        """Whose document it is."""
        return self.id.partition(".")[0]


def requirements(dialect: str) -> tuple[Requirement, ...]:
    """The requirements of one document, in its order."""
    file = resources.files("nacre.dialects.requirements") / f"{dialect}.toml"
    entries = tomllib.loads(file.read_text("utf-8"))["requirement"]
    return tuple(Requirement(**entry) for entry in entries)
