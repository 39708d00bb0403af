"""Put an engine together from settings."""

import logging
from dataclasses import field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from nacre.engine.approvals import Approvals, Checker
from nacre.engine.engine import Engine
from nacre.engine.grants import GRANTS, Grants
from nacre.engine.holding import Holding
from nacre.engine.retention import Retention
from nacre.engine.spills import Spills
from nacre.errors import SandboxError
from nacre.model.job import Ownership
from nacre.model.value import dataclass
from nacre.process.link import shared_link
from nacre.process.spares import Spares
from nacre.sandbox.base import Sandbox
from nacre.sandbox.select import known, select
from nacre.sandbox.surroundings import Surroundings
from nacre.sandbox.wanted import Wanted

if TYPE_CHECKING:
    from nacre.engine.jobs import Jobs

__all__ = ("Settings", "assemble", "open_jobs")

_LOG = logging.getLogger("nacre")
_WITHOUT = "sandbox=%r cannot be had here, and it was allowed in words to go without: %s"


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """What differs between one engine and another.

    The jobs of a detached engine survive it, and its spills stay for retention.
    `workspace` is the folder that scripts may write, from which no program is taken.
    `output_dir` is where the caller wants spills. `unheld_allowed` says in words that
    scripts may run with no sandbox where theirs cannot be had. At most `spares` shells of a kind
    wait for their script. `wanted` is the container, should
    that be the sandbox.
    """

    state: Path
    sandbox: str = "none"
    workspace: Path = Path("/")
    detached: bool = False
    output_dir: Path | None = None
    unheld_allowed: bool = False
    spares: int = 0
    wanted: Wanted = field(default_factory=Wanted)
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
        approvals=Approvals(checker, Grants(settings.state / GRANTS)),
        holding=Holding(
            partial(_sandbox, settings), settings.sandbox, link, Spares(settings.spares)
        ),
        spills=Spills(
            settings.state / "spills",
            settings.retention if settings.detached else None,
            settings.output_dir,
        ),
        jobs=partial(open_jobs, settings),
    )


def _sandbox(settings: Settings, name: str) -> Sandbox:
    surroundings = Surroundings(settings.state, settings.workspace, keep=settings.detached)
    # Everything lies in the root folder, so as a workspace it tells nothing apart.
    untrusted = () if settings.workspace == Path("/") else (settings.workspace,)
    try:
        return select(name, surroundings, untrusted, settings.wanted)
    except SandboxError as error:
        if not settings.unheld_allowed:
            raise
        _LOG.warning(_WITHOUT, name, error)
        return select("none", surroundings, untrusted)


def open_jobs(settings: Settings) -> "Jobs":
    """The jobs of a state directory, for those who only look after them."""
    from nacre.engine.jobs import Jobs
    from nacre.engine.ledger import Ledger
    from nacre.engine.store import Store

    ledger = Ledger(settings.state / "jobs", Store(settings.state / "nacre.db"), settings.retention)
    ownership = Ownership.DETACHED if settings.detached else Ownership.OWNED
    return Jobs(ledger, ownership=ownership)
