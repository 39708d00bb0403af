"""Which commands one document calls a match of the whole, and which of a part.

Its origin has a list of expressions and tries the text as it is and with its quoting undone,
first whole, then part by part. The guards see more than expressions do, and they decide. The
list is asked only which of two sentences a refusal is told in.
"""

import re
from functools import cache
from typing import Protocol

from nacre.model.expression import expression

__all__ = ("matches_whole", "unquoted")

_FILES = (
    r"\.aws/credentials",
    r"\.aws/config",
    r"\.ssh/id_[a-z0-9_]+",
    r"\.ssh/identity",
    r"\.netrc",
    r"\.npmrc",
    r"\.pypirc",
    r"\.kube/config",
    r"\.gcloud/",
    r"\.azure/",
    r"\.config/wayland/auth",
    "/etc/shadow",
    "/etc/sudoers",
)
_NAME = "[A-Z_][A-Z_0-9]*_(?:API_KEY|SECRET|TOKEN|PASSWORD|PASSWD)"
_DOTENV = r"\.env(?:\b|$)"
_HOMES = r"(?:\$HOME|~|/(?:Users|home)/)"
_FOLDERS = r"""[^'"]*/\.(?:aws|ssh|gnupg|config/wayland|wayland)"""
_EVALUATORS = (
    r"python[23]?\s+-c",
    r"node\s+(?:--eval|-e)",
    r"perl\s+-e",
    r"ruby\s+-e",
    r"php\s+-r",
)

_EXPRESSIONS = (
    r"^\s*env(?:\s+|$)",
    r"^\s*printenv\b",
    r"^\s*set\s*$",
    r"^\s*set\s+-o\s+posix\s*;\s*set\s*$",
    r"Get-ChildItem\s+env:",
    r"\$env:[A-Z_]",
    rf"\b(?:cat|tee|less|more|head|tail)\b[^|;]*{_DOTENV}",
    rf"\b(?:echo|printf)\b[^|;]*\${_NAME}",
    rf"\bprintenv\s+{_NAME}",
    rf"\b(?:cat|less|more|head|tail|tee|bat)\b[^|;]*(?:{'|'.join(_FILES)})",
    rf"\b(?:base64|xxd|od|hexdump|uuencode|openssl\s+enc)\b[^|;]*(?:{'|'.join(_FILES)}|{_DOTENV})",
    r"\bsecurity\s+(?:find-generic-password|find-internet-password|dump-keychain|export)\b",
    r"\bcompgen\s+-e\b",
    r"\$\{!\w+",
    r"\bawk\b[^|;]*ENVIRON",
    r"\bawk\b.*\bENVIRON\b",
    r"/wayland(?:-core)?/(?:auth|credentials|tokens?)\.json",
    *(rf"\b{evaluator}\s+.*{_HOMES}{_FOLDERS}" for evaluator in _EVALUATORS),
    r"\bpython[23]?\s+-m\s+pip\s+show\b",
    rf"\bbash\s+-c\s+.*\$HOME{_FOLDERS}",
)
_QUOTING = expression(r"""''|""|['"]|\\(.?)""", re.DOTALL)


class _Expression(Protocol):
    def search(self, text: bytes) -> object | None: ...


def matches_whole(text: str) -> bool:
    """Whether an expression of the list matches a text as such, or with its quoting undone."""
    listed = _listed()
    return any(listed.search(each.encode("utf-8", "replace")) for each in (text, unquoted(text)))


def unquoted(text: str) -> str:
    """A text without quotes, and without the backslashes before ordinary characters."""
    return _QUOTING.sub(lambda found: found[1] or "", text)


@cache
def _listed() -> _Expression:
    # Its time is linear in the length of the text, whatever the text is.
    import re2

    return re2.compile(f"(?i){'|'.join(_EXPRESSIONS)}".encode())
