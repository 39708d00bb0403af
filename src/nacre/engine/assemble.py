"""Put an engine together from settings."""

from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from nacre.engine.engine import Checker, Engine
from nacre.engine.holding import Holding
from nacre.engine.jobs import Jobs
from nacre.engine.ledger import Ledger, Retention
from nacre.engine.spills import Spills
from nacre.engine.store import Store
from nacre.model.job import Ownership
from nacre.process.link import shared_link
from nacre.sandbox.base import Sandbox
from nacre.sandbox.select import known, select
from nacre.sandbox.surroundings import Surroundings

__all__ = ("Settings", "assemble", "open_jobs")

# A job may run for days; its output file still has an end.
_JOB_CAP = 256 * 1024 * 1024


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """What differs between one engine and another.

    The jobs of a detached engine survive it, and its spills stay for retention.
    `workspace` is the folder that scripts may write, from which no program is taken.
    """

    state: Path
    sandbox: str = "none"
    workspace: Path = Path("/")
    detached: bool = False
    retention: Retention = field(default_factory=Retention)


def assemble(settings: Settings, checker: Checker) -> Engine:
    """Make an engine; nothing is started and no file is made until it is needed.

    The checker is asked about every script before anything of it starts.

    Raises:
        ConfigError: If a setting cannot be used as given.
    """
    link = shared_link()
    known(settings.sandbox)
    return Engine(
        link=link,
        checker=checker,
        holding=Holding(partial(_sandbox, settings), settings.sandbox, link),
        spills=Spills(settings.state / "spills", settings.retention if settings.detached else None),
        jobs=open_jobs(settings),
    )


def _sandbox(settings: Settings, name: str) -> Sandbox:
    surroundings = Surroundings(settings.state, settings.workspace, keep=settings.detached)
    # Everything lies in the root folder, so as a workspace it tells nothing apart.
    untrusted = () if settings.workspace == Path("/") else (settings.workspace,)
    return select(name, surroundings, untrusted)


def open_jobs(settings: Settings) -> Jobs:
    """The jobs of a state directory, for those who only look after them."""
    ledger = Ledger(settings.state / "jobs", Store(settings.state / "nacre.db"), settings.retention)
    ownership = Ownership.DETACHED if settings.detached else Ownership.OWNED
    return Jobs(ledger, ownership=ownership, cap=_JOB_CAP)
