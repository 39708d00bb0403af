"""One script by a spare and by a plain bash, in the same room, from the same state of a folder."""

import re
import shutil
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from datetime import timedelta
from pathlib import Path

import anyio
import anyio.to_thread

from nacre.engine.assemble import Settings, assemble
from nacre.engine.engine import Engine
from nacre.engine.occasion import Occasion
from nacre.model.call import Run
from nacre.model.confinement import Environment
from nacre.model.outcome import Outcome, TimedOut
from nacre.model.transcript import Limit
from nacre.process.environ import environ_of
from nacre.sandbox.presets import preset
from nacre.testing import AllowEverything
from processes import COME_SECONDS, alive

__all__ = ("Told", "Twins", "twins")

_LIMIT = Limit(head=1 << 20, tail=0)
_BLANK = "nacre: a shell without a script as yet"
_MOST_PLAIN = 9
_PRIVATE = re.compile(r"/tmp/\d+-[0-9a-f]{8}\b")
_NUMBERS = re.compile(r"0x[0-9a-f]+|[0-9A-F]{8,}|\d+")
_SECONDS = 2.0


@dataclass(frozen=True, slots=True)
class Told:
    """What a script said, and how it ended."""

    text: str
    outcome: Outcome

    @property
    def rough(self) -> tuple[str, Outcome]:
        """The same without numbers: of processes, of files, of the time."""
        return _NUMBERS.sub("0", self.text), self.outcome


class Twins:
    """Runs scripts both ways. The folder is made anew for each, but stays the same folder."""

    def __init__(self, spared: Engine, plain: Engine, occasion: Occasion, folder: Path) -> None:
        self._spared = spared
        self._plain = plain
        self._occasion = occasion
        self._folder = folder
        self._others = set(alive(_BLANK))

    async def differ(self, script: str) -> tuple[Told, list[Told]] | None:
        """What a spare made of a script, and several plain ones, if it is none of theirs."""
        mine = await self.by_spare(script)
        theirs = [await self.by_plain(script)]
        while mine not in theirs and len(theirs) < _MOST_PLAIN:
            theirs.append(await self.by_plain(script))
            mine = await self.by_spare(script)
        racy = len({each.rough for each in theirs}) > 1 or len(set(theirs)) > 1
        if mine in theirs or (racy and mine.rough in [each.rough for each in theirs]):
            return None
        if {type(each.outcome) for each in (mine, *theirs)} == {TimedOut}:
            return None  # each got as far as it got
        return mine, theirs

    async def by_spare(self, script: str) -> Told:
        """What a spare makes of it; one is waited for."""
        with anyio.fail_after(COME_SECONDS):
            while not set(alive(_BLANK)) - self._others:
                await self._told(self._spared, ":")
                await anyio.sleep(0.002)
        return await self._told(self._spared, script)

    async def by_plain(self, script: str) -> Told:
        """What a plain bash makes of it."""
        return await self._told(self._plain, script)

    async def _told(self, engine: Engine, script: str) -> Told:
        for entry in list(self._folder.iterdir()):
            if entry.is_dir() and not entry.is_symlink():
                shutil.rmtree(entry, ignore_errors=True)
            else:
                entry.unlink()
        (self._folder / "notes.txt").write_text("one\ntwo\nthree\n", "utf-8")
        (self._folder / "src").mkdir()
        (self._folder / "src" / "main.c").write_text("int main(void) { return 0; }\n", "utf-8")
        run = Run(script=script, limit=_LIMIT, timeout=timedelta(seconds=_SECONDS))
        result = await engine.run(run, self._occasion)
        said = result.transcript.head.decode("utf-8", "replace")
        # Each engine has a folder of its own for temporary files.
        return Told(_PRIVATE.sub("/tmp/own", said), result.outcome)


@asynccontextmanager
async def twins(sandbox: str, folder: Path, state: Path) -> AsyncGenerator[Twins]:
    """Two engines that differ in their spares alone."""
    confinement = preset("workspace", folder, home=None)
    environ = environ_of(Environment(), {"PATH": "/usr/local/bin:/usr/bin:/bin"})
    occasion = Occasion(
        cwd=folder, conversation="twins", environ=environ, confinement=confinement, cleared=True
    )
    settings = Settings(state=state, sandbox=sandbox, workspace=folder, spares=1)
    spared = assemble(settings, AllowEverything())
    plain = assemble(replace(settings, spares=0), AllowEverything())
    try:
        yield Twins(spared, plain, occasion, folder)
    finally:
        for engine in (spared, plain):
            await anyio.to_thread.run_sync(engine.close)
