"""Put an engine together from settings."""

from dataclasses import dataclass, field
from pathlib import Path

from nacre.engine.engine import Checker, Engine
from nacre.engine.jobs import Jobs
from nacre.engine.ledger import Ledger, Retention
from nacre.engine.spills import Spills
from nacre.engine.store import Store
from nacre.model.job import Ownership
from nacre.process.link import shared_link
from nacre.sandbox.select import select

__all__ = ("Settings", "assemble", "open_jobs")

# A job may run for days; its output file still has an end.
_JOB_CAP = 256 * 1024 * 1024


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """What differs between one engine and another.

    The jobs of a detached engine survive it, and its spills stay for retention.
    """

    state: Path
    sandbox: str = "none"
    detached: bool = False
    retention: Retention = field(default_factory=Retention)


def assemble(settings: Settings, checker: Checker) -> Engine:
    """Make an engine; nothing is started and no file is made until it is needed.

    The checker is asked about every script before anything of it starts.

    Raises:
        ConfigError: If a setting cannot be used as given.
    """
    return Engine(
        link=shared_link(),
        checker=checker,
        sandbox=select(settings.sandbox),
        spills=Spills(settings.state / "spills", settings.retention if settings.detached else None),
        jobs=open_jobs(settings),
    )


def open_jobs(settings: Settings) -> Jobs:
    """The jobs of a state directory, for those who only look after them."""
    ledger = Ledger(settings.state / "jobs", Store(settings.state / "nacre.db"), settings.retention)
    ownership = Ownership.DETACHED if settings.detached else Ownership.OWNED
    return Jobs(ledger, ownership=ownership, cap=_JOB_CAP)
