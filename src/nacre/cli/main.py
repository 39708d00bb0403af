"""`nacre`: the first and the last of every command."""

import gc
import sys

__all__ = ("main",)

# Importing makes some ten thousands of objects that stay, and no garbage.
_UNCOLLECTED = 100_000


def main() -> None:
    """Run the command line and exit.

    Python looks for garbage again and again while it imports, and twice through everything while
    it exits; of what `nacre run` took, that was an eighth.
    """
    gc.set_threshold(_UNCOLLECTED)
    from nacre.cli.commands import carry_out

    status = carry_out()
    gc.freeze()  # what is left goes with the process
    sys.exit(status)
