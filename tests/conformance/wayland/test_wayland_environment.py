"""The environment: built from nothing, without secrets, and with what the host names."""

from collections.abc import Callable

import pytest

from nacre import Bash

pytestmark = pytest.mark.needs("bubblewrap")

BASE = [
    "PATH",
    "HOME",
    "USER",
    "LOGNAME",
    "LANG",
    "LANGUAGE",
    "LC_ALL",
    "LC_CTYPE",
    "TERM",
    "TZ",
    "TMPDIR",
    "TEMP",
    "TMP",
    "SHELL",
    "PWD",
    "COLUMNS",
    "LINES",
    "XDG_RUNTIME_DIR",
    "XDG_CACHE_HOME",
    "XDG_CONFIG_HOME",
    "XDG_DATA_HOME",
    "SSL_CERT_FILE",
    "SSL_CERT_DIR",
    "CURL_CA_BUNDLE",
    "SYSTEMROOT",
]
SECRETS = [
    "OPENAI_API_KEY",
    "ANTHROPIC_API_KEY",
    "AWS_SECRET_ACCESS_KEY",
    "GITHUB_TOKEN",
    "MY_SECRET",
    "DB_PASSWORD",
    "X_PASSWD",
    "WAYLAND_VAULT_PASSPHRASE",
    "WAYLAND_VAULT_X",
    "SSH_PASSPHRASE",
    "X_PRIVATE_KEY",
    "SOME_CREDENTIAL",
    "SSH_AUTH_SOCK",
    "SESSION_KEY",
    "MY_APIKEY",
    "openai_api_key",
    "TOKENIZERS_PARALLELISM",
    "GOOGLE_APPLICATION_CREDENTIALS",
    "GIT_AUTHOR_NAME",
]
HARMLESS = ["KUBECONFIG", "AWS_REGION", "WAYLAND_DISPLAY", "DATABASE_URL", "LC_MESSAGES"]
BASHS_OWN = {"OLDPWD", "PWD", "SHLVL", "_", "BASH_EXECUTION_STRING"}
WHOLE = "export -p | sed -n 's/^declare -x \\([A-Za-z_0-9]*\\).*/\\1/p'"


def names(tool: Bash) -> set[str]:
    """The variables that a command has."""
    return set(tool.call_sync("Bash", {"command": WHOLE}).text.split()[4:-1])


@pytest.fixture(autouse=True)
def full_host(monkeypatch: pytest.MonkeyPatch) -> None:
    """A host with everything in its environment."""
    for name in (*SECRETS, *HARMLESS, "UNLISTED"):
        monkeypatch.setenv(name, "held-by-the-host")
    for name in ("USER", "LOGNAME", "SYSTEMROOT", "COLUMNS", "LINES", "LANGUAGE", "TZ", "TERM"):
        monkeypatch.setenv(name, "UTC")
    for name in ("LANG", "LC_ALL", "LC_CTYPE"):
        monkeypatch.setenv(name, "C.UTF-8")
    for name in ("RUNTIME_DIR", "CACHE_HOME", "DATA_HOME", "CONFIG_HOME"):
        monkeypatch.setenv(f"XDG_{name}", "/nonexistent")
    for name in ("TEMP", "TMP", "TMPDIR"):
        monkeypatch.setenv(name, "/tmp")
    for name in ("SHELL", "SSL_CERT_FILE", "SSL_CERT_DIR", "CURL_CA_BUNDLE", "PWD"):
        monkeypatch.setenv(name, "/bin/bash")


@pytest.mark.requirement(
    "wayland.environment-not-forwarded", "wayland.environment-cleared", "wayland.table-environment"
)
def test_no_variable_reaches_a_command_that_is_not_on_the_list(wayland: Bash) -> None:
    assert names(wayland) - BASHS_OWN <= set(BASE)


@pytest.mark.requirement("wayland.environment-passes")
def test_what_programs_need_to_find_their_way_does(wayland: Bash) -> None:
    # The folder of the host's sockets is not there, so nothing leads to it.
    assert set(BASE) - {"XDG_RUNTIME_DIR"} <= names(wayland)
    reply = wayland.call_sync("Bash", {"command": "echo $LANG $USER $SYSTEMROOT"})
    assert reply.text == "Exit code: 0\nSTDOUT:\nC.UTF-8 UTC UTC\n\nSTDERR:\n"


@pytest.mark.requirement(
    "wayland.environment-secrets", "wayland.environment-secret-passed", "wayland.boundary"
)
def test_a_name_like_a_secrets_never_does_not_even_if_the_host_names_it(
    opened: Callable[..., Bash],
) -> None:
    tool = opened(pass_env=[*SECRETS, *HARMLESS])
    assert names(tool).isdisjoint(SECRETS)
    reply = tool.call_sync("Bash", {"command": "cat /proc/self/environ | tr '\\0' '\\n'"})
    assert "held-by-the-host" in reply.text
    for secret in SECRETS:
        assert f"{secret}=" not in reply.text


@pytest.mark.requirement("wayland.environment-passthrough")
def test_other_names_pass_if_the_host_declares_them(opened: Callable[..., Bash]) -> None:
    assert set(HARMLESS) <= names(opened(pass_env=[*HARMLESS[:-1], f" {HARMLESS[-1]} "]))


def test_names_pass_by_how_they_begin_and_secrets_among_them_do_not(
    opened: Callable[..., Bash],
) -> None:
    found = names(opened(pass_env=["AWS_*"]))
    assert "AWS_REGION" in found
    assert "AWS_SECRET_ACCESS_KEY" not in found


@pytest.mark.requirement("wayland.environment-unheld")
def test_without_a_sandbox_it_is_built_from_nothing_too(opened: Callable[..., Bash]) -> None:
    tool = opened(sandbox="none", pass_env=["UNLISTED"])
    found = names(tool) - BASHS_OWN
    assert "UNLISTED" in found
    assert found <= {*BASE, "UNLISTED"}
