"""The sandbox `landlock`: a restricted thread, and no program in the way."""

import logging
import os
from dataclasses import field
from functools import partial
from pathlib import PurePath

from nacre.errors import SandboxError
from nacre.model.confinement import Confinement, Enforcement
from nacre.model.launch import Hold, Launch
from nacre.model.value import dataclass
from nacre.sandbox.anchors import Anchors
from nacre.sandbox.base import Held
from nacre.sandbox.guarded import Guarded
from nacre.sandbox.landlock import Listed, restriction
from nacre.sandbox.limits import own_tasks, resource_limits, tasks_to_count
from nacre.sandbox.probe import Host
from nacre.sandbox.rights import rights
from nacre.sandbox.surroundings import Dressing, Surroundings
from nacre.sandbox.table import landlock_table

__all__ = ("Landlocked",)

_LOG = logging.getLogger("nacre")
_BUBBLEWRAP = "use sandbox='bubblewrap' (nacre doctor says what it needs)"


@dataclass(slots=True, kw_only=True)
class _Plan:
    """What is the same for every launch of a confinement, until a folder changes."""

    enforcement: Enforcement
    limits: tuple[tuple[int, int], ...]
    tmp: PurePath | None
    dressing: Dressing
    listed: Listed
    roots: Anchors = field(default_factory=partial(Anchors, ()))
    hold: Hold | None = None


class Landlocked:
    """Holds launches by Landlock, seccomp and resource limits alone."""

    name = "landlock"

    def __init__(self, host: Host, surroundings: Surroundings) -> None:
        self._rights = rights(host.landlock)
        self._surroundings = surroundings
        self._plans: dict[tuple[Confinement, bool], _Plan] = {}

    def hold(self, launch: Launch, confinement: Confinement, *, cleared: bool) -> Held:
        """Say how a restricted thread holds a launch.

        Raises:
            SandboxError: If the confinement asks for what only a mount could do.
        """
        plan = self._plans.get((confinement, cleared)) or self._plan(confinement, cleared=cleared)
        return Held(
            launch=plan.dressing.confined(launch, self._hold(confinement, plan)),
            enforcement=plan.enforcement,
            confinement=confinement,
            tmp=plan.tmp,
            guarded=Guarded(self._surroundings.protected(confinement)),
        )

    def _plan(self, confinement: Confinement, *, cleared: bool) -> _Plan:
        enforcement = landlock_table(
            confinement, self._rights, cleared=cleared, root=os.geteuid() == 0
        )
        _LOG.info("landlock does not enforce: %s", ", ".join(enforcement.missing) or "nothing")
        tmp = self._surroundings.tmp() if confinement.private_tmp else None
        self._plans[confinement, cleared] = plan = _Plan(
            enforcement=enforcement,
            limits=resource_limits(confinement.limits, tasks=own_tasks()),
            tmp=tmp,
            dressing=Dressing(tmp),
            listed=Listed(confinement),
        )
        return plan

    def _hold(self, confinement: Confinement, plan: _Plan) -> Hold:
        if plan.listed.has_changed() or plan.hold is None or plan.roots.moved():
            self._surroundings.require_folders(confinement)
            plan.roots.close()
            plan.roots = Anchors(confinement.writable or ())
            if stray := plan.roots.stray():
                raise SandboxError(f"{stray!r} is to be writable, and is a link; remove it")
            _refuse_inside_writable(confinement)
            plan.hold = Hold(
                restriction=restriction(
                    confinement,
                    self._rights,
                    in_room=False,
                    tmp=(plan.tmp,) if plan.tmp else (),
                    changed=(*plan.listed.changed, *plan.roots.files),
                ),
                limits=plan.limits,
                most_tasks=tasks_to_count(confinement.limits),
            )
        return plan.hold

    def close(self) -> None:
        """Remove the folder for temporary files."""
        for plan in self._plans.values():
            plan.roots.close()
        self._surroundings.close()


def _refuse_inside_writable(confinement: Confinement) -> None:
    """Landlock cannot take back beneath a folder what it grants for all of it."""
    if confinement.writable is None and confinement.protected:
        raise SandboxError(_inside("protected", confinement.protected[0], PurePath("/")))
    for wish, paths in (("unreadable", confinement.denied), ("protected", confinement.protected)):
        for path in paths:
            for root in confinement.writable or ():
                if path.is_relative_to(root) and os.path.lexists(path):
                    raise SandboxError(_inside(wish, path, root))


def _inside(wish: str, path: PurePath, root: PurePath) -> str:
    return (
        f"{str(path)!r} is to be {wish}, and lies in {str(root)!r}, which is writable:"
        f" Landlock cannot deny inside of what it allows; {_BUBBLEWRAP}"
    )
