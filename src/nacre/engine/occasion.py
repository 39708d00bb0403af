"""What one call brings along, beside what it asks for."""

from collections.abc import Callable, Mapping
from pathlib import PurePath

from nacre.engine.approvals import Approve
from nacre.model.confinement import Confinement, Network
from nacre.model.doorway import Doorway
from nacre.model.result import Result
from nacre.model.value import dataclass
from nacre.process.cancel import CancelToken

__all__ = ("UNCONFINED", "Occasion", "Sofar")

Sofar = Callable[[], Result | None]

UNCONFINED = Confinement(name="open", writable=None, network=Network.INHERIT, own_signals=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Occasion:
    """What one call brings along: who asks, from where, how to end it early.

    `cwd` is a folder of this machine; with a `doorway`, scripts have the workspace elsewhere.
    `conversation` is whose the jobs are, `asker` who is asking, where that is another.
    `listener` is called with each piece of output as it comes, in the caller's
    own task. `cleared` says that the environment was built from nothing; `sandbox`
    names another one than the engine's, `held` says in words what holds a script.
    `approve` asks somebody about a script that the policy leaves to a person; None if nobody is
    there. `refusal` is why no script may run, however it is judged. `witness` is given
    what tells at any time what is known of the result so far: nothing, until there is a verdict.
    """

    cwd: PurePath
    doorway: Doorway | None = None
    conversation: str
    asker: str = ""
    environ: Mapping[str, str]
    confinement: Confinement = UNCONFINED
    cleared: bool = False
    sandbox: str | None = None
    held: str = ""
    cancel: CancelToken | None = None
    listener: Callable[[bytes], None] | None = None
    approve: Approve | None = None
    refusal: str = ""
    witness: Callable[[Sofar], None] | None = None
