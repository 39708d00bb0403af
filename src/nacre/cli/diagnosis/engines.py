"""Container engines: which can be reached from here, and what each enforces, by trying."""

import os
import secrets
import tempfile
from collections.abc import Generator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

from nacre.cli.diagnosis.inside import attempts_of, script
from nacre.cli.diagnosis.small_image import small_image
from nacre.cli.diagnosis.trial import HELD, OPEN, UNTESTED, Trial
from nacre.container.address import addresses
from nacre.container.engine import Engine, Facts
from nacre.engine.assemble import Settings, assemble
from nacre.engine.occasion import Occasion
from nacre.engine.threads import in_thread
from nacre.errors import NacreError, SandboxError
from nacre.model.call import Run
from nacre.model.confinement import Confinement
from nacre.model.doorway import Doorway
from nacre.model.outcome import Exited, Unstarted
from nacre.model.result import Result
from nacre.model.transcript import Limit
from nacre.model.value import dataclass
from nacre.sandbox.presets import preset
from nacre.sandbox.wanted import Wanted
from nacre.testing.checker import AllowEverything

__all__ = ("Reached", "try_engines")

_SECONDS = 60.0
_KEPT_BYTES = 1 << 16
_MEMORY, _PROCESSES = 64 << 20, 48
_HOOK = ".git/hooks/pre-commit"


@dataclass(frozen=True, slots=True, kw_only=True)
class Reached:
    """An engine that was found, and how a container of it did; `facts` if it answered."""

    address: str
    facts: Facts | None
    trial: Trial


async def try_engines(environ: Mapping[str, str], image: str | None) -> tuple[Reached, ...]:
    """Try every engine in a usual place; leaves nothing behind.

    Without an image, one is made of this host's own bash, and removed again.
    """
    found = await in_thread(addresses, environ)
    return tuple([await _try(address, image) for address in found])


async def _try(address: str, image: str | None) -> Reached:
    try:
        engine = await in_thread(Engine, address)
    except SandboxError as error:
        return Reached(address=address, facts=None, trial=_failed(str(error)))
    facts = made = None
    try:
        facts = await in_thread(engine.facts)
        if image is None:
            made = f"nacre-doctor-{secrets.token_hex(4)}"
            await in_thread(engine.import_image, made, await in_thread(small_image))
        trial = await _try_image(address, image or made or "")
    except (NacreError, OSError) as error:
        trial = _failed(str(error))
    finally:
        if made:
            with suppress(SandboxError):
                await in_thread(engine.remove_image, made)
        engine.close()
    return Reached(address=address, facts=facts, trial=trial)


async def _try_image(address: str, image: str) -> Trial:
    with _folder() as folder:
        workspace, state = folder / "workspace", folder / "state"
        engine = assemble(
            Settings(
                state=state,
                sandbox="container",
                workspace=workspace,
                wanted=Wanted(image=image, engine=address, state=state),
            ),
            AllowEverything(),  # the script is ours
        )
        run = Run(
            script=script(),
            limit=Limit(head=_KEPT_BYTES, tail=0),
            timeout=timedelta(seconds=_SECONDS),
        )
        occasion = Occasion(
            cwd=workspace,
            doorway=Doorway(workspace),
            conversation="doctor",
            environ={"SECRET": str(folder / "secret"), "PROCESSES": str(_PROCESSES)},
            confinement=_confinement(workspace),
            cleared=True,
        )
        try:
            result = await engine.run(run, occasion)
        finally:
            await in_thread(engine.close)
        return _judge(result, hooked=(workspace / _HOOK).exists())


@contextmanager
def _folder() -> Generator[Path]:
    """A workspace with something to protect, and a secret beside it."""
    with tempfile.TemporaryDirectory(prefix="nacre-doctor-") as name:
        folder = Path(name).resolve()
        (folder / "workspace" / _HOOK).parent.mkdir(parents=True)
        (folder / "secret").touch()
        yield folder


def _confinement(workspace: Path) -> Confinement:
    usual = preset("workspace", workspace, home=os.path.expanduser("~"))
    limits = replace(usual.limits, memory=_MEMORY, processes=_PROCESSES, cpus=1)
    return replace(usual, limits=limits)


def _judge(result: Result, *, hooked: bool) -> Trial:
    went = attempts_of(result.transcript.head)
    if not isinstance(result.outcome, Exited) or not went:
        said = result.transcript.head.decode("utf-8", "replace").strip()
        reason = result.outcome.reason if isinstance(result.outcome, Unstarted) else ""
        return _failed(reason or f"the probe failed: {said[-200:] or result.outcome}")
    went = {**went, "protected": hooked}
    enforced = dict(result.enforcement.by)
    return Trial(
        sandbox="container",
        enforced=enforced,
        probed={
            name: UNTESTED if name not in went else OPEN if went[name] else HELD
            for name in enforced
        },
    )


def _failed(why: str) -> Trial:
    return Trial(sandbox="container", why_not=why)
