"""Failures that really happened, with and without a sandbox as their cause.

Each script was run for real on one host, as an ordinary user, under bare bubblewrap with
Landlock and seccomp inside, under Landlock and seccomp alone, or under nothing. What it
said is kept to the letter, with what the sandbox stopped (nothing, for the controls); the
host's side is kept as a table of what its user may do.
"""

import os
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path, PurePath

from nacre.model.confinement import Confinement, Enforcement, Limits, Network
from nacre.sandbox.violations import Evidence
from nacre.syntax.read import read
from nacre.syntax.script import Script, Surroundings

__all__ = (
    "SETS",
    "Case",
    "RecordedHost",
    "cases",
    "confinement",
    "enforcement",
    "evidence",
    "host",
)

FOLDER = Path(__file__).with_name("recordings")
SETS = ("first", "second", "third")
HOME, WORKSPACE = "/home/dev", "/srv/project"


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordedHost:
    """The host of the recordings."""

    paths: dict[str, str]
    listening: tuple[int, ...] = ()
    processes: tuple[int, ...] = ()
    online: bool = True
    root: bool = False
    settings: dict[str, int] = field(default_factory=dict[str, int])

    def exists(self, path: str) -> bool:
        return path in self.paths

    def is_folder(self, path: str) -> bool:
        return self.paths.get(path, "").startswith("d")

    def is_socket(self, path: str) -> bool:
        return self.paths.get(self.real(path), "").startswith("s")

    def may(self, path: str, mode: int) -> bool:
        bits = self.paths.get(path, "")[1:]
        wanted = ((os.R_OK, "r"), (os.W_OK, "w"), (os.X_OK, "x"))
        return path in self.paths and all(bit in bits for each, bit in wanted if mode & each)

    def owns(self, path: str) -> bool:
        return path in self.paths and path.startswith((HOME, WORKSPACE))

    def real(self, path: str) -> str:
        return path.removeprefix("/var") if path.startswith("/var/run") else path

    def listens(self, port: int) -> bool:
        return port in self.listening

    def owns_process(self, pid: int) -> bool:
        return pid in self.processes

    def setting(self, name: str) -> int | None:
        return {"kernel/dmesg_restrict": 1, "kernel/perf_event_paranoid": 2}.get(name)

    def limit(self, number: int) -> int | None:
        del number
        return None


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """One run of one script. `stopped` are the kinds and targets; an empty target is any.

    `missed` is not found although it was the sandbox, `mistaken` for it although it was not:
    both are known, and counted.
    """

    name: str
    evidence: Evidence
    stopped: tuple[tuple[str, str], ...]
    offline: bool
    missed: bool
    mistaken: bool


@cache
def cases(name: str) -> tuple[Case, ...]:
    """The runs of one set."""
    return tuple(_cases(name))


def _cases(name: str) -> Iterator[Case]:
    for case in tomllib.loads((FOLDER / f"{name}.toml").read_text("utf-8"))["case"]:
        script = read(case["script"], Surroundings(cwd=WORKSPACE, home=HOME))
        for run in case["run"]:
            held = confinement(
                readable=case.get("readable"),
                writable=case.get("writable", [WORKSPACE]),
                network=Network(case.get("network", "deny")),
                limits=Limits(**case.get("limits", {})),
            )
            yield Case(
                name=f"{case['name']} ({run['sandbox']})",
                evidence=evidence(
                    run["output"],
                    script=script,
                    exit_code=run.get("exit_code"),
                    signal=run.get("signal"),
                    held=held,
                    sandbox=run["sandbox"],
                ),
                stopped=tuple((kind, target) for kind, target in case["stopped"]),
                offline=case.get("offline", False),
                missed=run.get("missed", False),
                mistaken=run.get("mistaken", False),
            )


def evidence(
    output: str,
    *,
    script: Script | str | None = None,
    exit_code: int | None = 1,
    signal: int | None = None,
    held: Confinement | None = None,
    sandbox: str = "landlock",
) -> Evidence:
    """Evidence of a run in the workspace of the recordings."""
    if isinstance(script, str):
        script = read(script, Surroundings(cwd=WORKSPACE, home=HOME))
    held = held or confinement()
    tmp = {"landlock": PurePath("/tmp/nacre-x1"), "bubblewrap": PurePath("/tmp")}
    return Evidence(
        script=script,
        cwd=PurePath(WORKSPACE),
        output=output,
        exit_code=exit_code,
        signal=signal,
        confinement=held,
        enforcement=enforcement(sandbox, held),
        home=HOME,
        tmp=tmp.get(sandbox),
    )


def confinement(
    *,
    readable: list[str] | None = None,
    writable: list[str] | None = None,
    network: Network = Network.DENY,
    limits: Limits | None = None,
) -> Confinement:
    """The confinement of the recordings: one workspace, three denied paths, one protected."""
    roots = [WORKSPACE] if writable is None else writable
    return Confinement(
        name="workspace",
        readable=None if readable is None else tuple(map(PurePath, readable)),
        denied=tuple(PurePath(HOME, name) for name in (".ssh", ".aws", ".netrc")),
        writable=tuple(map(PurePath, roots)),
        protected=(PurePath(WORKSPACE, "memo"),),
        private_tmp=bool(roots),
        network=network,
        limits=limits or Limits(),
    )


def enforcement(sandbox: str, held: Confinement) -> Enforcement:
    """What each sandbox of the recordings enforced."""
    if sandbox == "none":
        return Enforcement(by={"environment": "cleared", "lifetime": "warden"})
    room = sandbox == "bubblewrap"
    by = {
        "write": "mount+landlock" if room else "landlock",
        "read": "mount" if room else "landlock",
        "protected": "mount+compare" if room else "compare",
        "unix_sockets": "seccomp",
        "signals": "pidns+landlock" if room else "landlock",
        "kernel_calls": "seccomp",
        "namespaces": "userns+seccomp" if room else "seccomp",
        "privileges": "no_new_privs",
    }
    if held.network is Network.DENY:
        by["tcp"] = "netns" if room else "landlock+seccomp"
    return Enforcement(by=by)


@cache
def host(*, online: bool = True) -> RecordedHost:
    """The host of the recordings, or the same without a network."""
    table = tomllib.loads((FOLDER / "host.toml").read_text("utf-8"))
    return RecordedHost(
        paths=table["paths"],
        listening=tuple(table["listening"]),
        processes=tuple(table["processes"]),
        online=online,
    )
