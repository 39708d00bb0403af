"""Many conversations at once."""

import anyio
import pytest

from containers.seen import names, none_left
from engines import Engine
from nacre import Bash, ToolContext

pytestmark = pytest.mark.anyio

_CONVERSATIONS = 20
_CALLS = 50


@pytest.mark.timeout(240)
async def test_twenty_conversations_of_fifty_calls_lose_nothing(
    engine: Engine, contained: Bash
) -> None:
    wrong: list[str] = []

    async def talk(number: int) -> None:
        context = ToolContext(working_dir="/workspace", conversation=f"talk {number}")
        for turn in range(_CALLS):
            script = f"echo {number} {turn}; setsid sleep 600 & echo end"
            reply = await contained.call("Bash", {"command": script}, context)
            if reply.text != f"{number} {turn}\nend":
                wrong.append(reply.text)
        left = await contained.call("Bash", {"command": "ps | grep -c '[s]leep 600'"}, context)
        if left.text.splitlines()[0] != "0":
            wrong.append(left.text)

    async with anyio.create_task_group() as tasks:
        for number in range(_CONVERSATIONS):
            tasks.start_soon(talk, number)
    assert wrong == []
    assert len(names(engine)) == _CONVERSATIONS
    await contained.aclose()
    none_left(engine, 10)
