import pytest

from nacre import Bash, Reply
from nacre.testing import ScriptedBash

pytestmark = pytest.mark.anyio


async def test_replies_come_in_their_order_and_calls_are_kept() -> None:
    tool = ScriptedBash(["hello", Reply(text="no", is_error=True)])
    heard: list[bytes] = []
    assert (await tool.call("Bash", {"command": "a"}, on_output=heard.append)).text == "hello"
    assert tool.call_sync("Bash", {"command": "b"}).is_error
    assert tool.calls == [("Bash", {"command": "a"}), ("Bash", {"command": "b"})]
    assert heard == [b"hello"]


def test_a_call_too_many_fails_the_test_that_made_it() -> None:
    with pytest.raises(AssertionError, match=r"no reply is left for Bash \{'command': 'a'\}"):
        ScriptedBash([]).call_sync("Bash", {"command": "a"})


async def test_it_has_the_doors_of_the_real_one() -> None:
    def doors(kind: type) -> set[str]:
        return {name for name in vars(kind) if not name.startswith("_")}

    assert doors(Bash) <= doors(ScriptedBash) | {"calls"}
    async with ScriptedBash([]) as tool:
        with Bash() as real:
            assert tool.specs() == real.specs()
    assert tool.closed
