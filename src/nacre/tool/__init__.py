"""One dialect joined to one engine: what a host holds, and what it gives with a call."""

from nacre.tool.bash import Bash
from nacre.tool.context import Approver, Ran, ToolContext

__all__ = ("Approver", "Bash", "Ran", "ToolContext")
