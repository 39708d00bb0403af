"""The peers that are known: what each of them does with a script, and what makes its calls."""

import sys
from dataclasses import dataclass
from pathlib import Path

from nacre.cli.benchmarks.peers.entrant import Entrant, Kind, Shell
from nacre.cli.benchmarks.peers.pins import pins

__all__ = ("PEERS", "Peer")

_DRIVERS = Path(__file__).parent / "drivers"


@dataclass(frozen=True, slots=True, kw_only=True)
class Peer:
    """Another tool, by one of its ways: the pin it is installed by, its driver, and what the host must have."""

    entrant: Entrant
    pin: str
    driver: str
    how: str = ""
    needs: tuple[str, ...] = ()

    def words(self, peers: Path) -> tuple[str, ...]:
        """Its driver as it is started: under its own Python or Node."""
        pin = pins()[self.pin]
        folder = pin.folder(peers)
        if self.driver.endswith(".mjs"):
            program = str(folder / "bin" / "node")
        else:
            # A program that npm has brought needs no Python of its own.
            program = sys.executable if pin.node else str(folder / "bin" / "python")
        return (program, str(_DRIVERS / self.driver), self.how, str(folder))


def _fresh(name: str, *, confined: bool = False, remark: str = "") -> Entrant:
    return Entrant(name=name, kind=Kind.PEER, shell=Shell.FRESH, confined=confined, remark=remark)


def _kept(name: str, remark: str = "") -> Entrant:
    return Entrant(name=name, kind=Kind.PEER, shell=Shell.KEPT, confined=False, remark=remark)


PEERS = (
    Peer(
        entrant=_fresh("mini-swe-agent", remark="/bin/sh"),
        pin="mini-swe-agent",
        driver="mini_swe_agent.py",
    ),
    Peer(
        entrant=_fresh("swe-rex execute"),
        pin="swe-rex",
        driver="swe_rex.py",
        how="execute",
    ),
    Peer(
        entrant=_kept("swe-rex session"),
        pin="swe-rex",
        driver="swe_rex.py",
        how="session",
    ),
    Peer(entrant=_fresh("inspect-ai local"), pin="inspect-ai", driver="inspect_local.py"),
    Peer(entrant=_kept("anthropic bash"), pin="anthropic", driver="anthropic_bash.py"),
    Peer(entrant=_kept("langchain shell"), pin="langchain", driver="langchain_shell.py"),
    Peer(
        entrant=_kept("openhands subprocess", "pseudo-terminal"),
        pin="openhands",
        driver="openhands_terminal.py",
        how="subprocess",
    ),
    Peer(
        entrant=_kept("openhands tmux", "a pane of tmux"),
        pin="openhands",
        driver="openhands_terminal.py",
        how="tmux",
        needs=("tmux",),
    ),
    Peer(
        entrant=_fresh("sandbox-runtime api", confined=True, remark="its manager kept open"),
        pin="sandbox-runtime",
        driver="sandbox_runtime.mjs",
        how="api",
        needs=("bwrap", "socat", "rg"),
    ),
    Peer(
        entrant=_fresh("sandbox-runtime srt", confined=True, remark="its command"),
        pin="sandbox-runtime",
        driver="sandbox_runtime.mjs",
        how="srt",
        needs=("bwrap", "socat", "rg"),
    ),
    Peer(
        entrant=_fresh("codex app-server", confined=True, remark="its server kept open"),
        pin="codex",
        driver="codex.py",
        how="server",
    ),
    Peer(
        entrant=_fresh("codex sandbox", confined=True, remark="its command"),
        pin="codex",
        driver="codex.py",
        how="sandbox",
    ),
)
