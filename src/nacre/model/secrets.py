"""Which variables of a host hold secrets, by their names."""

import re

from nacre.model.expression import expression

__all__ = ("is_secret_name",)

# Wider than what a guard refuses to print: a variable that is withheld for
# nothing costs little, and the host may pass it by name.
_SECRET = expression(
    r"""
      API_?KEY | SECRET | TOKEN(?!IZ) | PASSWORD | PASSWD | PASSPHRASE | PASSCODE | CREDENTIAL
    | (?:PRIVATE|ACCESS|SESSION|SIGNING|ENCRYPTION|MASTER|DEPLOY|ACCOUNT)_?KEY
    | CONNECTION_?STRING | BEARER | COOKIE
    | AUTH(?!OR(?!I[SZ]))                       # not GIT_AUTHOR_NAME, but AUTHORIZATION
    | ^WAYLAND_VAULT | ^OP_SESSION
    | (?:^|_)(?:KEY|KEYS|PASS|PAT|PIN|JWT|DSN|SALT|CREDS?)(?:_?[0-9]+)?$
    | _PWD$ | ^PGPASS | WEBHOOK
    """,
    re.VERBOSE,
)


def is_secret_name(name: str) -> bool:
    """Whether a variable of this name is given to secrets, in any case of its letters."""
    return _SECRET.search(name.upper()) is not None
