"""One dialect joined to one engine: what a host holds, and what it gives with a call."""

from nacre.tool.answered import Answered
from nacre.tool.bash import Bash
from nacre.tool.context import Approver, Ran, ToolContext
from nacre.tool.memory import Memory

__all__ = ("Answered", "Approver", "Bash", "Memory", "Ran", "ToolContext")
