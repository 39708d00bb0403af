# pyright: basic, reportMissingImports=false
"""OpenHands: its terminal tool, which keeps a shell open in a pseudo-terminal or a pane of tmux."""

import os
import sys
from time import perf_counter

from wire import Wire


def main(how: str) -> None:
    """Answer until the input ends."""
    wire = Wire()
    # It would fetch a list of prices, and wait for that.
    os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"
    os.environ["OPENHANDS_SUPPRESS_BANNER"] = "1"
    from openhands.tools.terminal.definition import TerminalAction
    from openhands.tools.terminal.impl import TerminalExecutor

    executor = TerminalExecutor(working_dir=os.getcwd(), terminal_type=how)
    wire.ready("openhands-tools")
    for script in wire:
        began = perf_counter()
        observation = executor(TerminalAction(command=script))
        wire.answer(perf_counter() - began, observation.text)
    executor.close()


main(sys.argv[1])
