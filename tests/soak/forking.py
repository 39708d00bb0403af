"""Many hosts at once on one state directory: each makes calls and jobs, and says what came of them."""

import json
import os
import sys

import anyio

from nacre import Bash, ToolContext


async def main(state: str, number: int, each: int) -> int:
    """How many replies were as they should be."""
    right = 0
    async with Bash(state=state, workspace=f"{state}/workspace", sandbox="none") as tool:
        context = ToolContext(working_dir=f"{state}/workspace", conversation=f"host {number}")
        jobs: list[str] = []
        for count in range(each):
            reply = await tool.call("Bash", {"command": f"echo call {count}"}, context)
            right += reply.text == f"call {count}"
            background = {"command": f"echo job {count}", "background": True}
            reply = await tool.call("Bash", background, context)
            jobs.append(str((reply.details or {})["id"]))
        for count, job in enumerate(jobs):
            reply = await tool.call("BashOutput", {"id": job, "wait_for": "exit"}, context)
            right += reply.text.startswith(f"job {count}\n[job {job} ended with exit code 0]")
    return right


if __name__ == "__main__":
    _, state, hosts, each = sys.argv
    gate, opener = os.pipe()
    for number in range(int(hosts)):
        if os.fork() == 0:
            os.close(opener)
            os.read(gate, 1)  # all are there by then
            right = anyio.run(main, state, number, int(each))
            os.write(1, (json.dumps(right) + "\n").encode())
            os._exit(0)
    os.close(opener)
    sys.exit(any(os.wait()[1] for _ in range(int(hosts))))
