"""Each means taken away in turn, for real: what is asked for by name is refused, and nothing runs."""

import json
import os
import shlex
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import cast

import anyio
import pytest

from nacre.engine.approvals import Approvals
from nacre.engine.assemble import Settings, open_jobs
from nacre.engine.engine import Engine
from nacre.engine.grants import GRANTS, Grants
from nacre.engine.holding import Holding
from nacre.engine.occasion import Occasion
from nacre.engine.spills import Spills
from nacre.model.call import Run
from nacre.model.outcome import Exited
from nacre.model.transcript import Limit
from nacre.process.link import shared_link
from nacre.process.spares import Spares
from nacre.sandbox.landlocked import Landlocked
from nacre.sandbox.presets import preset
from nacre.sandbox.probe import Host, probe
from nacre.sandbox.surroundings import Surroundings
from nacre.testing import AllowEverything

_WITHOUT = str(Path(__file__).with_name("without.py"))
_ALWAYS = {"environment": "cleared", "descriptors": "closed", "lifetime": "warden"}
_NO_CAPABILITIES = ("setpriv", "--bounding-set", "-all", "--inh-caps", "-all", "--")
_COMMAND_LINES = Path(__file__).with_name("command_lines.py")


@dataclass(frozen=True, kw_only=True)
class Answer:
    """What a command line said."""

    code: int
    said: dict[str, object]

    @property
    def text(self) -> str:
        return str(self.said["text"])

    @property
    def enforced(self) -> dict[str, str]:
        return cast("dict[str, dict[str, str]]", self.said["details"])["enforced"]

    @property
    def backends(self) -> dict[str, dict[str, object]]:
        return cast("dict[str, dict[str, object]]", self.said["backends"])

    @property
    def remedies(self) -> list[dict[str, str]]:
        return cast("list[dict[str, str]]", self.said["remedies"])


@dataclass(frozen=True, kw_only=True)
class Place:
    """A workspace, and a host that lacks something."""

    workspace: Path
    state: Path
    words: tuple[str, ...] = ()

    def ask(self, *command_lines: tuple[str, ...]) -> list[Answer]:
        """What `nacre` answers to each of some command lines, given at the same time.

        As for a shell, a variable may come first.
        """
        with tempfile.TemporaryDirectory() as answers:
            given = (json.dumps(command_lines), answers)
            done = subprocess.run(
                [*self.words, sys.executable, str(_COMMAND_LINES), *given],
                cwd=self.workspace,
                env={**os.environ, "NACRE_STATE": str(self.state)},
                stdin=subprocess.DEVNULL,
                capture_output=True,
                timeout=60,
                check=False,
            )
            assert done.returncode == 0, done.stderr.decode()
            return [
                Answer(code=code, said=json.loads(Path(answers, str(number)).read_bytes()))
                for number, code in enumerate(json.loads(done.stdout))
            ]

    @property
    def ran(self) -> bool:
        return (self.workspace / "ran").exists()


def run(sandbox: str, script: str = "touch ran") -> tuple[str, ...]:
    return ("run", "--json", "--sandbox", sandbox, "--", script)


DOCTOR = ("doctor", "--json")


@dataclass(frozen=True, kw_only=True)
class Lack:
    """Something that is missing: what is refused then, in which words, and what is left."""

    without: str
    refused: Mapping[str, tuple[str, ...]] = field(default_factory=dict[str, tuple[str, ...]])
    left: str | None = None
    write: str = "none"
    remedy: str = ""


LACKS = (
    Lack(
        without="landlock",
        refused={"landlock": ("there is no Landlock", "Function not implemented")},
        left="bubblewrap",
        write="mount",
        remedy="Landlock",
    ),
    Lack(
        without="namespaces",
        refused={"bubblewrap": ("no room of namespaces", "bwrap fails", "sandbox='landlock'")},
        left="landlock",
        write="landlock",
        remedy="user namespaces",
    ),
    Lack(
        without="bubblewrap",
        refused={"bubblewrap": ("bubblewrap is not installed", "install bubblewrap")},
        left="landlock",
        write="landlock",
        remedy="bubblewrap",
    ),
    Lack(
        without="domain",
        refused={"bubblewrap": ("no room of namespaces", "bwrap fails")},
        left="landlock",
        write="landlock",
        remedy="user namespaces",
    ),
    Lack(
        without="seccomp",
        refused={
            "bubblewrap": ("no system call filter", "Invalid argument"),
            "landlock": ("no system call filter", "Invalid argument"),
        },
        remedy="system call filters",
    ),
    Lack(
        without="landlock,namespaces",
        refused={
            "bubblewrap": ("no room of namespaces",),
            "landlock": ("there is no Landlock",),
        },
        remedy="Landlock",
    ),
)


@pytest.mark.needs("namespace")
@pytest.mark.parametrize("lack", LACKS, ids=lambda lack: lack.without)
def test_what_is_missing_is_refused_by_name_and_auto_takes_the_strongest_that_is_left(
    lack: Lack, workspace: Path, state: Path
) -> None:
    place = Place(
        workspace=workspace, state=state, words=(sys.executable, "-I", _WITHOUT, lack.without)
    )
    names = (*lack.refused, *(() if lack.left else ("auto",)))
    allowed = ("NACRE_ALLOW_UNCONFINED=1", *run("auto", "touch allowed"))
    doctor, auto, *refusals = place.ask(DOCTOR, allowed, *map(run, names))
    assert not place.ran
    for name, refused in zip(names, refusals, strict=True):
        words = (*lack.refused.get(name, ()), "Nothing was run", "nacre doctor")
        assert refused.code == 125
        assert [word for word in words if word not in refused.text] == []
    # What nobody holds is run when that is allowed in words, and says so.
    assert (auto.code, (workspace / "allowed").exists()) == (0, True)
    assert auto.enforced.get("write", "none") == lack.write
    _check_doctor(lack, auto, doctor)


def _check_doctor(lack: Lack, auto: Answer, doctor: Answer) -> None:
    assert (doctor.code, doctor.said["auto"]) == (0 if lack.left else 1, lack.left)
    assert doctor.backends[lack.left or "none"]["enforced"] == auto.enforced
    for name, found in doctor.backends.items():
        assert found["works"] == (name not in lack.refused)
        assert bool(found["why_not"]) == (name in lack.refused)
        assert found["contradictions"] == []
    assert lack.remedy in [remedy["missing"] for remedy in doctor.remedies]
    if lack.left is None:
        assert auto.enforced == _ALWAYS


def test_where_no_more_domains_can_be_had_nothing_runs(workspace: Path, state: Path) -> None:
    words = (sys.executable, "-I", _WITHOUT, "room-for-domains")
    place = Place(workspace=workspace, state=state, words=words)
    assert [each.code for each in place.ask(run("landlock"), run("auto"))] == [125, 125]
    assert not place.ran


@pytest.mark.needs("root")
@pytest.mark.needs("namespace")
def test_root_without_capabilities_is_held_by_what_needs_none(workspace: Path, state: Path) -> None:
    place = Place(workspace=workspace, state=state, words=_NO_CAPABILITIES)
    doctor, auto, room = place.ask(DOCTOR, run("auto"), run("bubblewrap", "touch room"))
    left = str(doctor.said["auto"])
    assert (doctor.code, auto.code, place.ran) == (0, 0, True)
    assert doctor.backends[left]["enforced"] == auto.enforced
    assert (room.code == 0) == (workspace / "room").exists() == (left == "bubblewrap")
    # Since Linux 5.12 root without capabilities has no namespace in which it is root.
    if left == "landlock":
        assert "CAP_SETFCAP" in doctor.remedies[0]["do"]


@pytest.mark.needs("namespace")
@pytest.mark.parametrize("around", ["bubblewrap", "landlock"])
def test_inside_nacre_nacre_holds_by_landlock_and_says_that_a_room_is_not_to_be_had(
    around: str, workspace: Path, state: Path, tmp_path: Path
) -> None:
    inner = json.dumps((run("auto", f"touch ran; touch {tmp_path}/out"), run("bubblewrap"), DOCTOR))
    shutil.copy(_COMMAND_LINES, workspace)
    words = (sys.executable, _COMMAND_LINES.name, inner, str(workspace))
    (answer,) = Place(workspace=workspace, state=state).ask(run(around, shlex.join(words)))
    assert answer.text.splitlines()[0] == "[1, 125, 0]"
    auto, room, doctor = (
        Answer(code=0, said=json.loads((workspace / str(number)).read_bytes()))
        for number in range(3)
    )
    assert ((workspace / "ran").exists(), (tmp_path / "out").exists()) == (True, False)
    assert "sandbox='bubblewrap' cannot be had here" in room.text
    assert doctor.said["auto"] == "landlock"
    assert doctor.backends["landlock"]["enforced"] == auto.enforced
    assert (auto.enforced["write"], auto.enforced["metadata"]) == ("landlock", "none")
    assert cast("dict[str, object]", doctor.said["facts"])["inside_nacre"] is True


# Each line of its output is what the kernel answered to one attempt.
_ATTEMPTS = """
import os, socket, sys
def attempt(act):
    try:
        act()
    except OSError as error:
        print(type(error).__name__)
    else:
        print("done")
kept, port, victim = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
attempt(lambda: open(kept, "a").write("x"))
attempt(lambda: open(kept + ".new", "w"))
attempt(lambda: os.truncate(kept, 0))
attempt(lambda: os.open(kept, os.O_RDONLY | os.O_TRUNC))
attempt(lambda: os.ftruncate(os.open(kept, os.O_RDWR), 0))
attempt(lambda: socket.create_connection(("127.0.0.1", port), 2))
attempt(lambda: socket.socket(socket.AF_INET, socket.SOCK_DGRAM))
attempt(lambda: os.kill(victim, 9))
attempt(lambda: open("mine", "w").write("x") and os.truncate("mine", 0))
"""
_DENIED, _SCOPED = "PermissionError", 6


@pytest.mark.parametrize("abi", range(1, 8))
def test_on_an_older_kernel_filters_close_what_they_can_and_the_table_names_the_rest(
    abi: int, workspace: Path, state: Path, tmp_path: Path
) -> None:
    if probe(bubblewrap=False).landlock < abi:
        pytest.skip(f"this kernel has no ABI {abi}")
    kept = tmp_path / "kept"
    kept.write_text("kept")
    victim = subprocess.Popen(["sleep", "10"])
    with victim, socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        words = (sys.executable, "-I", "-S", "attempts.py", str(kept), str(port), str(victim.pid))
        (workspace / "attempts.py").write_text(_ATTEMPTS)
        said, enforced = anyio.run(_run_with, abi, " ".join(words), workspace, state)
        victim.terminate()
    *elsewhere, signals, own = said.split()
    assert elsewhere == [_DENIED] * 7
    assert (kept.read_text(), kept.with_name("kept.new").exists()) == ("kept", False)
    assert own == ("done" if abi >= 3 else _DENIED)
    held = abi >= _SCOPED
    assert signals == (_DENIED if held else "done")
    assert victim.returncode == -(signal.SIGTERM if held else signal.SIGKILL)
    assert enforced["signals"] == ("landlock" if held else "none")
    assert enforced["write"] == ("landlock" if abi >= 3 else "landlock+seccomp")
    assert enforced["tcp"] == ("landlock+seccomp" if abi >= 4 else "seccomp")


async def _run_with(
    abi: int, script: str, workspace: Path, state: Path
) -> tuple[str, Mapping[str, str]]:
    link = shared_link()
    surroundings = Surroundings(state, workspace, keep=False)
    engine = Engine(
        link=link,
        checker=(checker := AllowEverything()),
        approvals=Approvals(checker, Grants(state / GRANTS)),
        holding=Holding(
            lambda _: Landlocked(Host(landlock=abi), surroundings), "landlock", link, Spares(0)
        ),
        spills=Spills(state / "spills", None),
        jobs=partial(open_jobs, Settings(state=state)),
    )
    occasion = Occasion(
        cwd=workspace,
        conversation="test",
        environ={"PATH": os.environ["PATH"]},
        confinement=preset("workspace", workspace, home=None),
        cleared=True,
    )
    try:
        result = await engine.run(Run(script=script, limit=Limit(head=10_000, tail=0)), occasion)
    finally:
        engine.close()
    said = result.transcript.head.decode()
    assert result.outcome == Exited(0), said
    return said, result.enforcement.by
