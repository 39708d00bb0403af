"""The variables of a tool's scripts: made anew only when those of its host have changed."""

import os
from collections.abc import Mapping
from typing import cast

from nacre.model.confinement import Environment
from nacre.process.environ import environ_of, scrubbed

__all__ = ("Variables",)


class Variables:
    """What scripts are given of the host's variables, and what they are not.

    The same mapping is returned as long as it is true, so who needs to know whether anything has
    changed need not compare; nobody may write to it. `beside` is there if the host has no such variables.
    """

    def __init__(self, environment: Environment, beside: Mapping[str, str]) -> None:
        self._environment = environment
        self._beside = beside
        self._seen: dict[bytes, bytes] | dict[str, str] = {}
        self._given: Mapping[str, str] | None = None
        self._withheld: Mapping[str, str] | None = None

    def given(self) -> Mapping[str, str]:
        """The variables of a script."""
        self._look()
        given = self._given
        if given is None:
            given = {**self._beside, **environ_of(self._environment, os.environ)}
            self._given = given
        return given

    def withheld(self) -> Mapping[str, str]:
        """The secrets among the host's variables that scripts are not given, each with its name."""
        self._look()
        withheld = self._withheld
        if withheld is None:
            self._withheld = withheld = scrubbed(self._environment, os.environ)
        return withheld

    def _look(self) -> None:
        """Forget what was made, if the host's variables are not what they were."""
        now = _table()
        if now != self._seen:
            self._seen, self._given, self._withheld = dict(now), None, None


def _table() -> dict[bytes, bytes] | dict[str, str]:
    """The host's variables, to be compared: as bytes, since decoding them all takes its time."""
    table = cast("dict[bytes, bytes] | None", getattr(os.environ, "_data", None))
    return dict(os.environ) if table is None else table
