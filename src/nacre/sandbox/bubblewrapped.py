"""The sandbox `bubblewrap`: a room of namespaces, with a restricted thread inside."""

import os
from dataclasses import field, replace
from functools import partial
from pathlib import Path, PurePath

from nacre.errors import SandboxError
from nacre.model.confinement import Confinement, Enforcement
from nacre.model.launch import Hold, Launch, Restriction
from nacre.model.value import dataclass
from nacre.sandbox.anchors import Anchors
from nacre.sandbox.base import Held
from nacre.sandbox.bubblewrap import room
from nacre.sandbox.guarded import Guarded
from nacre.sandbox.landlock import Listed, restriction
from nacre.sandbox.limits import resource_limits, tasks_to_count
from nacre.sandbox.probe import Host
from nacre.sandbox.protected.disk import resolved
from nacre.sandbox.protected.paths import Mounts, ProtectedPaths
from nacre.sandbox.rights import rights
from nacre.sandbox.surroundings import Dressing, Surroundings
from nacre.sandbox.table import room_table

__all__ = ("Bubblewrapped",)

_TMP = PurePath("/tmp")  # noqa: S108 (the room's own)
_INSIDE = (_TMP, PurePath("/var/tmp"))  # noqa: S108


@dataclass(slots=True, kw_only=True)
class _Plan:
    """What is the same for every launch of a confinement, until its mounts change."""

    enforcement: Enforcement
    restriction: Restriction
    tmp: Path | None
    dressing: Dressing
    listed: Listed
    mounts: Mounts | None = None
    denied: Anchors = field(default_factory=partial(Anchors, ()))
    bound: Anchors = field(default_factory=partial(Anchors, ()))
    hold: Hold | None = None

    def close(self) -> None:
        """Let go of the files that the mounts lie on."""
        self.denied.close()
        self.bound.close()


class Bubblewrapped:
    """Holds launches in rooms; launches with the same needs share one."""

    name = "bubblewrap"

    def __init__(self, host: Host, bwrap: str, surroundings: Surroundings) -> None:
        self._bwrap = bwrap
        self._rights = rights(host.landlock)
        self._surroundings = surroundings
        self._plans: dict[tuple[Confinement, bool], _Plan] = {}

    def hold(self, launch: Launch, confinement: Confinement, *, cleared: bool) -> Held:
        """Say which room holds a launch, and how its thread is restricted.

        Raises:
            SandboxError: If a writable folder is not there.
        """
        plan = self._plans.get((confinement, cleared)) or self._plan(confinement, cleared=cleared)
        paths = self._surroundings.protected(confinement)
        if launch.cwd.is_relative_to(_TMP) or launch.cwd.is_relative_to(_INSIDE[1]):
            # A link that led there is hidden with the rest.
            launch = replace(launch, cwd=PurePath(resolved(launch.cwd)))
        return Held(
            launch=plan.dressing.confined(launch, self._hold(confinement, plan, paths)),
            enforcement=plan.enforcement,
            confinement=confinement,
            tmp=_TMP if plan.tmp else None,
            guarded=Guarded(paths, mounted=True),
        )

    def _plan(self, confinement: Confinement, *, cleared: bool) -> _Plan:
        tmp = self._surroundings.tmp() if confinement.private_tmp else None
        self._plans[confinement, cleared] = plan = _Plan(
            enforcement=room_table(
                confinement, self._rights, cleared=cleared, root=os.geteuid() == 0
            ),
            restriction=restriction(
                confinement, self._rights, in_room=True, tmp=_INSIDE if tmp else ()
            ),
            tmp=tmp,
            dressing=Dressing(_TMP if tmp else None),
            listed=Listed(confinement),
        )
        return plan

    def _hold(self, confinement: Confinement, plan: _Plan, paths: ProtectedPaths | None) -> Hold:
        mounts = paths.mounts() if paths else None
        if plan.hold is None or mounts != plan.mounts or _moved(plan):
            self._surroundings.require_folders(confinement)
            plan.close()
            plan.mounts = mounts
            bound = (*mounts.read_only, *mounts.pinned) if mounts else confinement.protected
            plan.bound = Anchors((*(confinement.writable or ()), *bound))
            if stray := plan.bound.stray():
                raise SandboxError(f"{stray!r} is to be held by a mount, and is a link; remove it")
            plan.denied = Anchors(confinement.denied)
            plan.hold = Hold(
                restriction=plan.restriction,
                room=room(
                    self._bwrap,
                    confinement,
                    tmp=plan.tmp,
                    mounts=mounts,
                    expected=(*plan.bound.words("="), *plan.denied.words("!")),
                ),
                limits=resource_limits(confinement.limits),
                most_tasks=tasks_to_count(confinement.limits),
            )
        return plan.hold

    def close(self) -> None:
        """Remove the folder for temporary files."""
        for plan in self._plans.values():
            plan.close()
        self._surroundings.close()


def _moved(plan: _Plan) -> bool:
    """Whether a mount of the room may be gone; what is denied is asked if a folder changed."""
    return (plan.listed.has_changed() and plan.denied.moved()) or plan.bound.moved()
