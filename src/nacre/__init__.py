"""nacre runs an agent's shell scripts.

It bounds what they say, ends all they start, and answers in the words of the
tool interface the agent already speaks.
"""

from importlib import import_module

TYPE_CHECKING = False  # importing typing would take longer than all the rest
if TYPE_CHECKING:
    from nacre.errors import CallError as CallError
    from nacre.errors import ConfigError as ConfigError
    from nacre.errors import JobNotFoundError as JobNotFoundError
    from nacre.errors import NacreError as NacreError
    from nacre.errors import RuleError as RuleError
    from nacre.errors import SandboxError as SandboxError
    from nacre.errors import StateError as StateError
    from nacre.errors import WardenError as WardenError
    from nacre.model.approval import Answer as Answer
    from nacre.model.approval import Consent as Consent
    from nacre.model.approval import Question as Question
    from nacre.model.reply import Reply as Reply
    from nacre.process.cancel import CancelToken as CancelToken
    from nacre.tool import Bash as Bash
    from nacre.tool import ToolContext as ToolContext

__all__ = (
    "Answer",
    "Bash",
    "CallError",
    "CancelToken",
    "ConfigError",
    "Consent",
    "JobNotFoundError",
    "NacreError",
    "Question",
    "Reply",
    "RuleError",
    "SandboxError",
    "StateError",
    "ToolContext",
    "WardenError",
)

_HOMES = {
    "Answer": "nacre.model.approval",
    "Bash": "nacre.tool",
    "CancelToken": "nacre.process.cancel",
    "Consent": "nacre.model.approval",
    "Question": "nacre.model.approval",
    "Reply": "nacre.model.reply",
    "ToolContext": "nacre.tool",
}


def __getattr__(name: str) -> object:
    """Import a public name when it is first used: `import nacre` itself costs nothing."""
    if name not in __all__:
        raise AttributeError(f"module 'nacre' has no attribute {name!r}")
    home = _HOMES.get(name, "nacre.errors")
    if home == "nacre.tool":
        # Here, because there its imports fail elsewhere with less helpful words.
        import_module("nacre.config.system").require_linux()
    return getattr(import_module(home), name)
