"""Programs whose work is to hand out a secret: keychains, password stores, token printers."""

from collections.abc import Callable, Mapping
from types import MappingProxyType

from nacre.policy.credentials.destinations import is_dropped, is_taken
from nacre.policy.credentials.neighbours import around
from nacre.policy.credentials.printing import PRINTERS
from nacre.policy.credentials.secret_names import secret_name
from nacre.policy.guards.guard import Hit
from nacre.policy.reading.subcommand import past_globals
from nacre.syntax.script import Command, Script

__all__ = ("TOKEN_PRINTERS", "hands_out_secret", "opens_keychain")

_KEYCHAIN = frozenset(
    {"find-generic-password", "find-internet-password", "dump-keychain", "export"}
)
_STARTS: Mapping[str, tuple[tuple[str, ...], ...]] = MappingProxyType(
    {
        "gh": (("auth", "token"),),
        "glab": (("auth", "token"),),
        "gcloud": (
            ("auth", "print-access-token"),
            ("auth", "print-identity-token"),
            ("auth", "print-refresh-token"),
            ("auth", "application-default", "print-access-token"),
            ("config", "config-helper"),
            ("secrets", "versions", "access"),
        ),
        "git": (("credential", "fill"), ("credential-store", "get"), ("credential-cache", "get")),
        "aws": (
            ("configure", "export-credentials"),
            ("secretsmanager", "get-secret-value"),
            ("sts", "get-session-token"),
        ),
        "az": (("account", "get-access-token"), ("keyvault", "secret", "show")),
        "secret-tool": (("lookup",), ("search",)),
        "ansible-vault": (("view",),),
        "bw": (("get", "password"), ("get", "item")),
        "keyring": (("get",),),
        "lpass": (("show",),),
        "op": (("read",),),
        "pass": (("show",),),
        "vault": (("kv", "get"), ("read",)),
    }
)
_Told = Callable[[tuple[str, ...]], bool]


def _exports_keys(words: tuple[str, ...]) -> bool:
    return any(word.startswith(("--export-secret", "--dump-secret")) for word in words)


def _shows_secrets(words: tuple[str, ...]) -> bool:
    """`kubectl get secret x -o yaml`; without `-o` their names are listed."""
    if words[:2] == ("config", "view"):
        return "--raw" in words
    plain = [word for word in words if not word.startswith("-")]
    of_secrets = plain[:1] == ["get"] and any(
        word.partition("/")[0] in {"secret", "secrets"} for word in plain[1:2]
    )
    formats = ("-o", "--output", "--template")
    return (
        of_secrets
        and any(word.startswith(formats) for word in words)
        and not (
            {"name", "wide"} & set(plain) or {"-oname", "-owide", "-o=name", "-o=wide"} & set(words)
        )
    )


def _shows_environment(words: tuple[str, ...]) -> bool:
    return "inspect" in words[:2] and any(".Config.Env" in word for word in words)


def _tells_token(words: tuple[str, ...]) -> bool:
    return words[:2] == ("auth", "status") and bool({"-t", "--show-token"} & set(words))


def _tells_setting(words: tuple[str, ...]) -> bool:
    return words[:2] == ("configure", "get") and any(secret_name(word) for word in words[2:])


_TOLD: Mapping[str, _Told] = MappingProxyType(
    {
        "aws": _tells_setting,
        "docker": _shows_environment,
        "gh": _tells_token,
        "gpg": _exports_keys,
        "gpg2": _exports_keys,
        "kubectl": _shows_secrets,
        "oc": _shows_secrets,
        "podman": _shows_environment,
    }
)

TOKEN_PRINTERS = frozenset(_STARTS) | frozenset(_TOLD)


def opens_keychain(command: Command, script: Script) -> Hit | None:
    """Find macOS's `security` where it prints what it keeps."""
    del script
    for word in command.words[1:]:
        for value in word.values:
            if value in _KEYCHAIN:
                return Hit(command.span, value)
            if not value.startswith("-"):
                return None
    return None


def hands_out_secret(command: Command, script: Script) -> Hit | None:
    """Find a secret printed by the program that keeps it, unless it goes straight where it is used."""
    for name in command.names:
        said = (name, *(word.templates[0] for word in command.words[1:]))
        words = (past_globals(said) or said)[1:]
        told = _TOLD.get(name)
        starts = _STARTS.get(name, ())
        if (told and told(words)) or any(words[: len(start)] == start for start in starts):
            if is_taken(command, script) or is_dropped(command, script):
                return None
            if _is_used(command, script):
                return None
            return Hit(command.span, " ".join(words[:2]))
    return None


def _is_used(command: Command, script: Script) -> bool:
    """Whether it becomes part of a command, or of a variable, and is not printed at once."""
    found = around(command, script)
    return bool(found) and all(PRINTERS.isdisjoint(each.command.names) for each in found)
