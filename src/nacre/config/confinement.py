"""The confinement that settings amount to."""

import os
import threading
from dataclasses import replace
from pathlib import Path

from nacre.config.found import Config
from nacre.config.limits import changed_limits
from nacre.model.confinement import Confinement, Network
from nacre.sandbox.presets import Added, preset

__all__ = ("Confinements",)


class Confinements:
    """Confinements by name and workspace, each made once.

    `usual` and `network` hold where no setting says otherwise.
    """

    def __init__(self, config: Config, *, usual: str, network: Network, home: str | None) -> None:
        self._config = config
        self._usual = config.text("confinement") or usual
        self._network = Network(config.text("network") or network)
        self._home = home
        self._made: dict[tuple[str, Path, Path | None], Confinement] = {}
        self._lock = threading.Lock()

    def named(self, name: str | None, workspace: Path, visible: Path | None = None) -> Confinement:
        """A confinement of a workspace: the one of this name, or the usual one.

        `visible` is a folder outside of it that is to be seen.

        Raises:
            ConfigError: If there is none of that name.
        """
        key = (name or self._usual, workspace, visible)
        with self._lock:
            if key not in self._made:
                made = preset(
                    key[0],
                    workspace,
                    home=self._home,
                    network=self._network,
                    added=Added(
                        write=self._paths("write", workspace),
                        deny_read=self._paths("deny_read", workspace),
                        protect=self._paths("protect", workspace),
                    ),
                )
                self._made[key] = replace(
                    made,
                    visible=(Path(os.path.realpath(visible)),) if visible else (),
                    limits=changed_limits(made.limits, self._config.names("limits")),
                )
            return self._made[key]

    def _paths(self, name: str, workspace: Path) -> tuple[Path, ...]:
        return tuple(workspace / path for path in self._config.names(name))
