"""What can go wrong that is not an outcome.

What a script does wrong is an `Outcome`; what a host, a person or an agent asks
for wrongly is one of these. A message names the value and says what to do.

* NacreError
  + ConfigError         a setting cannot be used as written
    - RuleError         a permission rule cannot, or contradicts its own examples
  + SandboxError        what a confinement asks for cannot be enforced here
  + CallError           the agent's arguments do not fit the dialect
  + JobNotFoundError    no such job in this conversation
  + StateError          the state directory cannot hold what it must
  + WardenError         the process that spawns and ends could not do its work
"""

__all__ = (
    "CallError",
    "ConfigError",
    "JobNotFoundError",
    "NacreError",
    "RuleError",
    "SandboxError",
    "StateError",
    "WardenError",
)


class NacreError(Exception):
    """Anything nacre raises on purpose."""


class ConfigError(NacreError):
    """A setting cannot be used as written."""


class RuleError(ConfigError):
    """A permission rule cannot be used as written, or contradicts its own examples."""


class SandboxError(NacreError):
    """What a confinement asks for cannot be enforced here; nothing was run."""


class CallError(NacreError):
    """The agent's arguments do not fit the dialect."""


class JobNotFoundError(NacreError):
    """No such job in this conversation; `job_id` is the one that was asked for."""

    def __init__(self, message: str, job_id: str = "") -> None:
        super().__init__(message)
        self.job_id = job_id


class StateError(NacreError):
    """The state directory cannot hold what it must."""


class WardenError(NacreError):
    """The process that spawns and ends could not do its work."""
