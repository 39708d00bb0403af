"""Which scenarios are for this server, where each is tried, and why the others are not."""

from enum import Enum

__all__ = ("EXCUSED", "NOT_OURS", "OURS", "VERSIONS", "Subject")

VERSIONS = ("2025-06-18", "2025-11-25", "2026-07-28")


class Subject(Enum):
    """What a scenario is tried on."""

    SERVER = "nacre mcp"
    FIXTURES = "fixtures"
    """The same server with the suite's tools and resources beside its own."""


OURS = {
    "server-initialize": Subject.SERVER,
    "server-session-lifecycle": Subject.SERVER,
    "server-stateless": Subject.FIXTURES,
    "ping": Subject.SERVER,
    "tools-list": Subject.SERVER,
    "tools-call-simple-text": Subject.FIXTURES,
    "tools-call-image": Subject.FIXTURES,
    "tools-call-audio": Subject.FIXTURES,
    "tools-call-embedded-resource": Subject.FIXTURES,
    "tools-call-mixed-content": Subject.FIXTURES,
    "tools-call-error": Subject.FIXTURES,
    "tools-call-with-progress": Subject.FIXTURES,
    "tools-call-elicitation": Subject.FIXTURES,
    "json-schema-2020-12": Subject.FIXTURES,
    "elicitation-sep1034-defaults": Subject.FIXTURES,
    "elicitation-sep1330-enums": Subject.FIXTURES,
    "server-sse-multiple-streams": Subject.SERVER,
    "resources-list": Subject.FIXTURES,
    "resources-read-text": Subject.FIXTURES,
    "resources-read-binary": Subject.FIXTURES,
    "resources-templates-read": Subject.FIXTURES,
    "sep-2164-resource-not-found": Subject.SERVER,
    "dns-rebinding-protection": Subject.SERVER,
    "caching": Subject.FIXTURES,
    "http-header-validation": Subject.SERVER,
    "http-custom-header-server-validation": Subject.FIXTURES,
    "input-required-result-basic-elicitation": Subject.FIXTURES,
    "input-required-result-request-state": Subject.FIXTURES,
    "input-required-result-multi-round": Subject.FIXTURES,
    "input-required-result-missing-input-response": Subject.FIXTURES,
    "input-required-result-result-type": Subject.FIXTURES,
    "input-required-result-unsupported-methods": Subject.SERVER,
    "input-required-result-tampered-state": Subject.FIXTURES,
    "input-required-result-ignore-extra-params": Subject.FIXTURES,
    "input-required-result-validate-input": Subject.FIXTURES,
}

_PROMPTS = "it has no prompts"
_SAMPLING = "it does not ask clients for their model"
_SUBSCRIPTIONS = "its resources cannot be subscribed to"
_LOGGING = "it sends no log messages"
_TASKS = "it does not have the extension for tasks; jobs are tools"
_SKILLS = "it does not have the extension for skills"

NOT_OURS = {
    "logging-set-level": _LOGGING,
    "tools-call-with-logging": _LOGGING,
    "completion-complete": "it completes no arguments",
    "tools-call-sampling": _SAMPLING,
    "server-sse-polling": "a call whose client hangs up is ended, so there is no stream to resume",
    "resources-subscribe": _SUBSCRIPTIONS,
    "resources-unsubscribe": _SUBSCRIPTIONS,
    "prompts-list": _PROMPTS,
    "prompts-get-simple": _PROMPTS,
    "prompts-get-with-args": _PROMPTS,
    "prompts-get-embedded-resource": _PROMPTS,
    "prompts-get-with-image": _PROMPTS,
    "input-required-result-non-tool-request": _PROMPTS,
    "input-required-result-basic-sampling": _SAMPLING,
    "input-required-result-multiple-input-requests": _SAMPLING,
    "input-required-result-capability-check": _SAMPLING,
    "input-required-result-basic-list-roots": "it does not ask clients for their roots",
    "sep-2640-skills-directory": _SKILLS,
    "sep-2640-skills-enumeration": _SKILLS,
    "sep-2640-skills-manifest": _SKILLS,
    "tasks-capability-negotiation": _TASKS,
    "tasks-dispatch-and-envelope": _TASKS,
    "tasks-lifecycle": _TASKS,
    "tasks-mrtr-composition": _TASKS,
    "tasks-mrtr-input": _TASKS,
    "tasks-request-headers": _TASKS,
    "tasks-request-state-removal": _TASKS,
    "tasks-required-task-error": _TASKS,
    "tasks-status-notifications": _TASKS,
    "tasks-wire-fields": _TASKS,
}

EXCUSED = {
    ("caching", "sep-2549-prompts-list-caching-hints"): _PROMPTS,
}
"""Checks within scenarios of ours that are not for this server."""
