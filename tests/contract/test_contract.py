from pathlib import Path

import pytest

from nacre import Bash
from nacre.testing import CONTRACT, Check, Subject

pytestmark = pytest.mark.anyio


@pytest.mark.parametrize("check", CONTRACT, ids=lambda check: check.__name__)
async def test_the_contract_holds_on_this_machine(
    check: Check, tool: Bash, workspace: Path
) -> None:
    await check(Subject(tool=tool, workspace=workspace))
