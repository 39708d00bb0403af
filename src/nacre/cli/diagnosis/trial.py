"""Each sandbox tried: every attack run under it, through the engine that runs scripts."""

import json
import os
import shlex
import sys
from collections.abc import Iterable, Mapping
from dataclasses import field, replace
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, cast

from nacre.cli.diagnosis import attempts
from nacre.cli.diagnosis.attempts import ATTEMPTS
from nacre.cli.diagnosis.scene import Scene
from nacre.engine.assemble import Settings, assemble
from nacre.engine.occasion import Occasion
from nacre.model.call import Run
from nacre.model.confinement import UNENFORCED, Confinement, Environment, Protection
from nacre.model.outcome import Denied, Exited, Signaled, Unstarted
from nacre.model.transcript import Limit
from nacre.model.value import dataclass
from nacre.process.environ import environ_of
from nacre.sandbox.presets import Added, preset
from nacre.testing.checker import AllowEverything

if TYPE_CHECKING:
    from nacre.model.result import Result

__all__ = ("HELD", "OPEN", "UNTESTED", "Trial", "try_sandbox")

HELD, OPEN, UNTESTED = "held", "open", "untested"

_SECONDS = 10.0
_KEPT_BYTES = 1 << 20
# Few enough to go beyond quickly, and more than the probe and what runs it need.
_PROCESSES, _BEYOND = 48, 112
# The warden looks every tenth of a second, and ends it then; a busy host takes its time.
_COUNTED_SECONDS = 4.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Trial:
    """How one sandbox did.

    `probed` says of each protection whether its attack was held or came through, or
    that it could not be tried; `said` what the attack reported. `why_not` is empty if
    the sandbox works.
    """

    sandbox: str
    why_not: str = ""
    enforced: Mapping[str, str] = field(default_factory=dict[str, str])
    probed: Mapping[str, str] = field(default_factory=dict[str, str])
    said: Mapping[str, str] = field(default_factory=dict[str, str])

    @property
    def works(self) -> bool:
        """Whether scripts can be run under it here."""
        return not self.why_not

    @property
    def contradictions(self) -> tuple[str, ...]:
        """The protections that are claimed, and were breached."""
        return tuple(
            name
            for name, layers in self.enforced.items()
            if layers != UNENFORCED and self.probed.get(name) == OPEN
        )


async def try_sandbox(name: str) -> Trial:
    """Run every attack under the sandbox of this name, and see which come through."""
    with Scene() as scene:
        confinement = _confinement(scene)
        engine = assemble(
            Settings(state=scene.folder / "state", sandbox=name, workspace=scene.workspace),
            AllowEverything(),  # the script is ours
        )
        try:
            result = await engine.run(
                Run(
                    script=_script(scene, confinement, confined=name != "none"),
                    limit=Limit(head=_KEPT_BYTES, tail=0),
                    timeout=timedelta(seconds=_SECONDS),
                ),
                Occasion(
                    cwd=scene.workspace,
                    conversation="doctor",
                    environ=environ_of(Environment(), {**os.environ, "DOCTOR_TOKEN": scene.canary}),
                    confinement=confinement,
                    cleared=True,
                ),
            )
            return _judge(name, result, scene)
        finally:
            engine.close()


def _confinement(scene: Scene) -> Confinement:
    usual = preset(
        "workspace",
        scene.workspace,
        home=os.path.expanduser("~"),
        added=Added(deny_read=(scene.denied,)),
    )
    return replace(
        usual,
        # A room hides the folder for temporary files, in which all of this may lie.
        visible=(scene.outside,),
        limits=replace(usual.limits, processes=_PROCESSES),
    )


def _script(scene: Scene, confinement: Confinement, *, confined: bool) -> str:
    given = {
        **scene.given,
        "memory": str(confinement.limits.memory),
        "file_bytes": str(confinement.limits.file_bytes),
        "processes": str(_PROCESSES + _BEYOND),
        "patience": str(_COUNTED_SECONDS if confined and os.geteuid() == 0 else 0),
    }
    program = str(Path(attempts.__file__).resolve())
    return shlex.join(["exec", sys.executable, "-I", "-S", program, json.dumps(given)])


def _judge(name: str, result: "Result", scene: Scene) -> Trial:
    begun, reports = _reports(result.transcript.head)
    if isinstance(result.outcome, Unstarted | Denied) or not begun:
        return Trial(sandbox=name, why_not=_reason(result))
    probed: dict[str, str] = {}
    for protection in ATTEMPTS:
        if protection in reports and scene.has(protection):
            went, said = reports[protection]
            through = scene.breached(protection, went=went, said=said)
            probed[protection] = OPEN if through else HELD
        else:
            probed[protection] = UNTESTED
    if begun[-1] == Protection.PROCESS_LIMIT and isinstance(result.outcome, Signaled):
        probed[Protection.PROCESS_LIMIT] = HELD  # ended by the warden for it
    return Trial(
        sandbox=name,
        enforced=dict(result.enforcement.by),
        probed=probed,
        said={protection: said for protection, (_, said) in reports.items()},
    )


def _reports(output: bytes) -> tuple[list[str], dict[str, tuple[bool, str]]]:
    """Which attacks were begun, and what is told of those that could be tried."""
    begun: list[str] = []
    reports: dict[str, tuple[bool, str]] = {}
    for line in _objects(output.splitlines()):
        name, went = str(line.get("name")), line.get("went")
        if went is None:
            begun.append(name)
        else:
            reports[name] = (went is True, str(line.get("said")))
    return begun, reports


def _objects(lines: Iterable[bytes]) -> Iterable[dict[str, object]]:
    for line in lines:
        try:
            found: object = json.loads(line)
        except ValueError:
            continue
        if isinstance(found, dict):
            yield cast("dict[str, object]", found)


def _reason(result: "Result") -> str:
    match result.outcome:
        case Unstarted(reason):
            return reason
        case Exited(code):
            said = result.transcript.head.decode("utf-8", "replace").strip().splitlines()
            return f"the probe failed: {said[-1] if said else f'exit code {code}'}"
        case other:
            return f"the probe failed: {other}"
