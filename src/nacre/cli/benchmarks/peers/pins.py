"""What is installed of a peer, and where: the versions that are measured."""

import tomllib
from dataclasses import dataclass
from pathlib import Path

__all__ = ("Pin", "pins")

_MARKER = ".installed"


@dataclass(frozen=True, slots=True, kw_only=True)
class Pin:
    """The exact packages of one peer, from PyPI or from npm."""

    name: str
    packages: tuple[str, ...]
    node: bool
    python: tuple[int, ...]

    def folder(self, peers: Path) -> Path:
        """The environment of its own that it has among the peers."""
        return peers / self.name

    def installed(self, peers: Path) -> bool:
        """Whether exactly these packages are there, all of them."""
        try:
            return (self.folder(peers) / _MARKER).read_text("utf-8") == self._mark()
        except OSError:
            return False

    def mark(self, peers: Path) -> None:
        """Say that they are all there now."""
        (self.folder(peers) / _MARKER).write_text(self._mark(), "utf-8")

    def _mark(self) -> str:
        return "".join(f"{package}\n" for package in self.packages)


def pins() -> dict[str, Pin]:
    """Every peer's, by name, in the order of the file."""
    text = Path(__file__).with_suffix(".toml").read_text("utf-8")
    found: dict[str, Pin] = {}
    for name, wanted in tomllib.loads(text).items():
        found[name] = Pin(
            name=name,
            packages=tuple(wanted.get("pip") or wanted["npm"]),
            node="npm" in wanted,
            python=tuple(map(int, wanted.get("python", "3.11").split("."))),
        )
    return found
