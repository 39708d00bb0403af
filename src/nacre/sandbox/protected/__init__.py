"""Paths that stay as they are although they lie in writable folders.

What is protected: of every repository in a writable folder (its own, submodules,
linked worktrees, bare and nested ones at any depth) the hooks, wherever they are, the
configuration key by key with what it includes, and the pointers; at the top of a
writable folder the start-up files and settings of `names`; and what the caller adds.

How: where mounts exist, they hold what is there (`ProtectedPaths.mounts`). The rest,
and everything where there are none, is compared after a run and put back. What a
script left is kept aside and reported. A repository that a script made stays, without
hooks and without keys that run programs.

What it costs: one look at each protected name that exists, and at its folder; a
folder's time of change vouches for the names that do not. Repositories are found by
one walk, which has 5 ms before the first run and goes on in a thread. Nothing is
remembered on disk: a walk in every process is simpler than a list that may be wrong.

What it does not do:

- While a script runs, what is not held by mounts can be changed, and whoever uses
  it then uses the changed one. If nacre is killed during a run, it stays changed.
- What the user changes while a run is live is undone like the script's changes,
  unless a mount held it; the changed version is kept aside.
- A run counts as live from `begin` to `end`. What its processes do after that is
  taken for the user's doing, and so is what another nacre process lets a script do.
- A new repository is seen at once if it is near the top, or if a twentieth of the
  run's time sufficed to look at all folders; deeper ones are found by the thread, some
  seconds later, and cleaned at the next `begin`, `check` or `end` of this process.
- A repository that was not found before a run changed it is judged by its files'
  times: what changed during a run is cleaned as if it were new. A folder of old files
  that a script moves into place as hooks passes.
- A file over 1 MiB, and what is beyond 256 names of one protected folder, is not
  remembered: a change is reported, or judged by its time, but not put back.
- Programs of the project that the user's own configuration runs (a filter, an alias,
  a formatter) and the steps of an unfinished rebase are not protected.
- File systems that do not keep the time of change, or whose clock is not this host's
  (some network ones), are compared less surely.
"""

from nacre.sandbox.protected.paths import Mounts, ProtectedPaths
from nacre.sandbox.protected.restore import Reverted

__all__ = ("Mounts", "ProtectedPaths", "Reverted")
