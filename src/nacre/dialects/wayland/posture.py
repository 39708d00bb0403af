"""How scripts are held, as the variables of the host's own environment say."""

from collections.abc import Mapping

from nacre.dialects.base import Posture
from nacre.model.call import OnTimeout
from nacre.model.confinement import Environment, Network

__all__ = ("UNHELD", "posture_in")

# What a script is told when nothing may run.
UNHELD = (
    "sandbox UNAVAILABLE and unsandboxed execution is not permitted — refusing to run with host"
    " permissions. Install bubblewrap (Linux), set WAYLAND_SANDBOX=docker, or explicitly opt in with"
    " WAYLAND_ALLOW_NO_SANDBOX=1 to accept running with NO isolation."
)
_PASSING = """
    PATH HOME USER LOGNAME LANG LANGUAGE LC_ALL LC_CTYPE TERM TZ TMPDIR TEMP TMP SHELL PWD COLUMNS
    LINES XDG_RUNTIME_DIR XDG_CACHE_HOME XDG_CONFIG_HOME XDG_DATA_HOME SSL_CERT_FILE SSL_CERT_DIR
    CURL_CA_BUNDLE SYSTEMROOT
"""
_WITHHELD = """
    WAYLAND_VAULT API_KEY APIKEY SECRET TOKEN PASSWORD PASSWD PASSPHRASE PRIVATE_KEY ACCESS_KEY
    CREDENTIAL SESSION_KEY AUTH
"""
_ENVIRONMENT = Environment(base=frozenset(_PASSING.split()), never=tuple(_WITHHELD.split()))


def posture_in(environ: Mapping[str, str]) -> Posture:
    """Bubblewrap, no network, no secrets; weaker only where the host's variables say so.

    A host that asks for no sandbox must allow that with a second variable, or nothing runs.
    """
    networked = _is_on(environ.get("WAYLAND_BASH_ALLOW_NETWORK"))
    allowed = _is_on(environ.get("WAYLAND_ALLOW_NO_SANDBOX"))
    wanted = environ.get("WAYLAND_SANDBOX")
    if wanted == "none" and allowed:
        return _posture("none", "open", networked=True)
    if wanted == "docker":
        return _posture("container", "workspace", networked=networked)
    return _posture(
        "bubblewrap",
        "workspace",
        networked=networked,
        unheld_allowed=allowed,
        refusal=UNHELD if wanted == "none" else "",
    )


def _posture(
    sandbox: str,
    confinement: str,
    *,
    networked: bool,
    unheld_allowed: bool = False,
    refusal: str = "",
) -> Posture:
    return Posture(
        sandbox=sandbox,
        confinement=confinement,
        network=Network.INHERIT if networked else Network.DENY,
        on_timeout=OnTimeout.KILL,
        environment=_ENVIRONMENT,
        unheld_allowed=unheld_allowed,
        refusal=refusal,
    )


def _is_on(value: str | None) -> bool:
    return value is not None and (value == "1" or value.lower() == "true")
