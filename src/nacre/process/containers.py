"""The host's end of its porter: started on first need, as a warden is."""

import os
import sys
from pathlib import Path

from nacre.process.link import start_beside

__all__ = ("start_porter",)

_ROOT = str(Path(__file__).resolve().parents[2])
_CODE = (
    "import sys; sys.path += [p for p in sys.argv[3:] if p not in sys.path];"
    " from nacre.process.porter.porter import main; main(int(sys.argv[1]), int(sys.argv[2]))"
)
# What finding an engine, its certificates and temporary files depends on.
_PASSED = (
    "DOCKER_TLS_VERIFY", "DOCKER_CERT_PATH", "HOME", "PATH", "TMPDIR", "XDG_RUNTIME_DIR",
)  # fmt: skip


def start_porter(link: int, errors: int) -> int:
    """Start a porter with its end of the link; return its pid.

    Raises:
        OSError: If it cannot be started.
    """
    # A host may have found nacre and the SDK by other ways than a new Python would.
    found = [path for path in sys.path if os.path.isabs(path)]
    environ = {name: os.environ[name] for name in _PASSED if name in os.environ}
    return start_beside(("-P", "-c", _CODE), environ, link, errors, (*found, _ROOT))
