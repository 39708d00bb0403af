"""A host that a test may kill at any moment: it starts calls and jobs, and says so."""

import random
import sys

import anyio

from nacre import Bash, ToolContext


async def main(state: str, folder: str, tag: str, sandbox: str) -> None:
    async with Bash(state=state, workspace=folder, sandbox=sandbox) as tool:
        context = ToolContext(working_dir=folder)

        async def work(number: int) -> None:
            shuffled = random.Random(number)  # noqa: S311
            while True:
                script = shuffled.choice(
                    [
                        f"sleep {tag}",
                        f"setsid sleep {tag} & sleep 0.01",
                        f"env -i nohup setsid sleep {tag} >/dev/null 2>&1 & disown; echo a; sleep {tag}",
                        "seq 50000",
                        "exit 3",
                    ]
                )
                arguments = {"command": script, "timeout": 0.03 + shuffled.random() / 20}
                reply = await tool.call("Bash", arguments, context)
                job = (reply.details or {}).get("id")
                if job and shuffled.random() < 0.5:
                    await tool.call("BashOutput", {"id": job}, context)
                if job and shuffled.random() < 0.7:
                    await tool.call("KillBash", {"id": job}, context)
                print("call", flush=True)  # noqa: T201

        async with anyio.create_task_group() as tasks:
            for number in range(4):
                tasks.start_soon(work, number)


if __name__ == "__main__":
    _, state, folder, tag, sandbox = sys.argv
    anyio.run(main, state, folder, tag, sandbox)
