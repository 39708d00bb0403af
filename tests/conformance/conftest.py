"""What the tests of dialects can ask for."""

import pytest


@pytest.fixture
def anyio_backend() -> str:
    """One event loop is enough: no dialect has any, and the engine's own tests try both."""
    return "asyncio"
