# pyright: basic, reportMissingImports=false
"""mini-swe-agent: its environment on this machine, a fresh /bin/sh for each call."""

from time import perf_counter

from wire import Wire


def main() -> None:
    """Answer until the input ends."""
    wire = Wire()
    from minisweagent.environments.local import LocalEnvironment

    environment = LocalEnvironment()
    wire.ready("mini-swe-agent")
    for script in wire:
        began = perf_counter()
        said = environment.execute({"command": script})
        wire.answer(perf_counter() - began, said["output"])


main()
