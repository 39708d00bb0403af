"""Names of variables that are given to secrets."""

import re
from collections.abc import Callable

from nacre.model.expression import expression

__all__ = ("NamePredicate", "denylisted_name", "secret_name")

NamePredicate = Callable[[str], bool]

_SECRET = expression(
    r"""
    (?: API_?KEY | SECRETS? | TOKEN | PASSWORD | PASSWD | PASSPHRASE | PASSCODE | CREDENTIALS?
      | PRIVATE_?KEY | ACCESS_?KEY(?:_ID)? | CONNECTION_?STRING
      | (?:AUTH|DEPLOY|ENCRYPTION|MASTER|SESSION|SIGNING|SSH|STORAGE|ACCOUNT)_?KEY
      | (?:ADMIN|DB|FTP|MAIL|MONGO|MYSQL|PG|POSTGRES|REDIS|ROOT|SMTP|SSH|SUDO|USER)_?PASS
      | (?:MYSQL|DB)_PWD | (?:^|_)PAT )
    (?P<rest> (?:[_0-9].*)? ) $
    """,
    re.VERBOSE,
)

# What is said *about* a secret is none: MY_TOKEN_COUNT, DB_PASSWORD_FILE, SECRET_NAME.
_ABOUT = expression(
    r"_(?:AGE|ALGORITHM|ARN|BUDGET|COUNTS?|DIR|ENABLED|ENDPOINT|ENV|EXISTS|EXPIR\w*|FILES?|FORMAT"
    r"|HELPER|HOST|IDS?|LEN|LENGTH|LIFETIME|LIMITS?|LOCATION|MANAGER|MAX|MIN|MODE|NAMES?|NUM"
    r"|PATHS?|POLICY|PREFIX|PROVIDER|REQUIRED|SCOPES?|SET|SIZE|SOURCE|STATUS|STORE|SUFFIX|TTL"
    r"|TYPES?|UR[IL]S?|USAGE|USER|USERNAME|VAR|VARIABLE|VERSION)$"
)
_HARMLESS = frozenset({"GOOGLE_APPLICATION_CREDENTIALS"})

_DENYLISTED = expression(r"\w_(?:API_KEY|SECRET|TOKEN|PASSWORD|PASSWD)")


def secret_name(name: str) -> bool:
    """Whether a variable of this name is likely to hold a secret."""
    if name.islower() and "_" not in name:
        # `token` is what a script calls its own.
        return False
    upper = name.upper()
    found = _SECRET.search(upper)
    return found is not None and not _ABOUT.search(found["rest"]) and upper not in _HARMLESS


def denylisted_name(name: str) -> bool:
    """Whether a name has one of the five endings that seeds/002 lists."""
    return _DENYLISTED.search(name.upper()) is not None
