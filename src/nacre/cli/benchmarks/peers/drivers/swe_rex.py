# pyright: basic, reportMissingImports=false
"""SWE-ReX on this machine: `session` keeps a shell open, `execute` starts one for each call."""

import asyncio
import sys
from time import perf_counter

from wire import Wire


async def main(how: str) -> None:
    """Answer until the input ends."""
    wire = Wire()
    from swerex.deployment.local import LocalDeployment
    from swerex.runtime.abstract import BashAction, Command, CreateBashSessionRequest

    deployment = LocalDeployment()
    await deployment.start()
    runtime = deployment.runtime
    if how == "session":
        await runtime.create_session(CreateBashSessionRequest())
    wire.ready("swe-rex")
    for script in wire:
        began = perf_counter()
        if how == "session":
            output = (await runtime.run_in_session(BashAction(command=script))).output
        else:
            output = (await runtime.execute(Command(command=["bash", "-c", script]))).stdout
        wire.answer(perf_counter() - began, output)
    await deployment.stop()


asyncio.run(main(sys.argv[1]))
