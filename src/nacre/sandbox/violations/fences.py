"""Where a confinement draws its lines, and how they are put in words."""

from posixpath import dirname

from nacre.sandbox.violations.evidence import Evidence
from nacre.sandbox.violations.speakers import beneath

__all__ = ("Fences",)

_TMP = ("/tmp", "/var/tmp")  # noqa: S108 (the names, not their use)
_RUN = ("/run", "/var/run")
_NAMED = 3


class Fences:
    """The folders of a confinement, as text."""

    def __init__(self, evidence: Evidence) -> None:
        confinement = evidence.confinement
        self._home = evidence.home or "/"
        self._tmp = str(evidence.tmp) if evidence.tmp else None
        self._writable = _texts(confinement.writable)
        self._readable = _texts(confinement.readable)
        self._denied = _texts(confinement.denied) or ()
        self._visible = _texts(confinement.visible) or ()
        self._protected = _texts(confinement.protected) or ()
        layers = evidence.layers("write") | evidence.layers("read")
        self._room = "mount" in layers
        self._contained = "container" in layers

    def private(self, path: str) -> bool:
        """Whether a path of the script is not that path of the host."""
        if not self._room or self._tmp not in _TMP:
            return False
        shown = (*(self._writable or ()), *self._visible)
        return _in_any(path, _TMP) and not _in_any(path, shown)

    def writable(self, path: str) -> bool:
        """Whether it lies in a writable folder."""
        if self._writable is None or any(beneath(path, root) for root in self._writable):
            return True
        if self._room and _in_any(path, self._visible):
            return False  # shown where the rest of /tmp is the script's own
        if (self._tmp and beneath(path, self._tmp)) or self.private(path):
            return True
        return path.startswith("/dev/")

    def is_root(self, path: str) -> bool:
        """Whether it is itself one of the writable folders."""
        return path == self._tmp or path in (self._writable or ())

    def denied(self, path: str) -> str | None:
        """The denied path that it is or lies in."""
        return next((root for root in self._denied if beneath(path, root)), None)

    def denied_rule(self, denied: str) -> str:
        """Why it is unreadable."""
        return f"{denied} is not readable in here"

    def hidden_rule(self, path: str) -> str | None:
        """Why a path of the host is not there, if it could be hidden."""
        if self.private(path):
            return "the script has a /tmp and a /var/tmp of its own"
        if self._room and _in_any(path, _RUN):
            return "the script has a /run of its own"
        if self._room and self._readable is not None:
            return self.unreadable_rule(path)
        return None

    def unreadable_rule(self, path: str) -> str | None:
        """Why it is not among what is readable, if it is not."""
        if self._readable is None:
            return None
        roots = [*self._readable, *(self._writable or ()), *([self._tmp] if self._tmp else ())]
        if any(beneath(path, root) for root in roots):
            return None
        return f"only {_listed(self._readable)} {_are(self._readable)} readable"

    def protected_rule(self, path: str) -> str | None:
        """Why it stays as it is, if it is protected."""
        root = next((each for each in self._protected if beneath(path, each)), None)
        return f"{root} is protected" if root else None

    def unwritable_rule(self) -> str:
        """What alone is writable."""
        roots = list(self._writable or ())
        if self._tmp:
            roots.append(f"the private {self._tmp}" if self._tmp in _TMP else "$TMPDIR")
        if not roots:
            return "nothing is writable"
        return f"only {_listed(roots)} {_are(roots)} writable"

    def write_remedy(self, path: str, folder: str) -> str:
        """How to get it written after all."""
        if _in_any(path, self._protected) or self.writable(path):
            return "leave it as it is, or ask the user to change it"
        if self.denied(path):
            return self.read_remedy(path)
        if self._tmp and _in_any(path, _TMP):
            return "write to $TMPDIR instead" if self._tmp not in _TMP else "write to /tmp instead"
        return self.outside_remedy(folder)

    def outside_remedy(self, folder: str) -> str:
        """How to get something written in a folder that is not writable."""
        if not self._writable:
            return "ask the user to run with --confinement workspace"
        # Nobody should be talked into opening all of a home for the sake of one file. And a
        # folder of a container is not the host's of that name.
        wide = any(beneath(inner, folder) for inner in (self._home, *self._denied, *self._writable))
        ask = "to do it" if wide or self._contained else f"to run with --write {folder}"
        return f"write inside {self._writable[0]}, or ask the user {ask}"

    def read_remedy(self, path: str) -> str:
        """How to get at it after all."""
        if self.denied(path):
            return (
                "do without it, or ask the user, whose settings (--deny-read, --confinement) decide"
            )
        if self.private(path) or _in_any(path, _RUN):
            return f"ask the user to copy what is needed from {dirname(path)} into the workspace"
        return "ask the user for what is needed, or for a confinement that can read it"


def _in_any(path: str, roots: "tuple[str, ...]") -> bool:
    return any(beneath(path, root) for root in roots)


def _texts(paths: "tuple[object, ...] | None") -> tuple[str, ...] | None:
    return None if paths is None else tuple(str(path) for path in paths)


def _listed(roots: "list[str] | tuple[str, ...]") -> str:
    named = list(roots[:_NAMED])
    if len(roots) > _NAMED:
        return f"{', '.join(named)} and {len(roots) - _NAMED} more folders"
    return " and ".join([", ".join(named[:-1]), named[-1]] if len(named) > 1 else named)


def _are(roots: "list[str] | tuple[str, ...]") -> str:
    return "is" if len(roots) == 1 else "are"
