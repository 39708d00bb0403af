"""Where people keep what a script has no business with: keys, tokens, cookies, histories."""

import os
from pathlib import Path

__all__ = ("stores",)

_IN_HOME = (
    # keys and agents
    ".ssh", ".gnupg", ".password-store", ".local/share/keyrings", ".local/share/kwalletd",
    ".pki", ".config/sops", ".config/age", ".vault-token", ".config/op", ".config/Bitwarden CLI",
    # clouds and clusters
    ".aws", ".azure", ".config/gcloud", ".kube", ".docker", ".config/containers", ".boto", ".s3cfg",
    ".config/doctl", ".config/rclone", ".config/hcloud", ".fly", ".oci", ".terraform.d",
    ".terraformrc", ".pulumi", ".config/heroku", ".vercel", ".config/netlify", ".config/stripe",
    # forges and registries
    ".netrc", "_netrc", ".git-credentials", ".config/git/credentials", ".config/gh", ".config/hub",
    ".config/glab-cli", ".npmrc", ".yarnrc.yml", ".pypirc", ".cargo/credentials",
    ".cargo/credentials.toml", ".gem/credentials", ".m2/settings.xml", ".m2/settings-security.xml",
    ".gradle/gradle.properties", ".composer/auth.json", ".config/composer/auth.json", ".nuget/NuGet",
    ".config/pip", ".huggingface", ".cache/huggingface/token", ".kaggle",
    # databases
    ".pgpass", ".my.cnf", ".mylogin.cnf", ".config/psql", ".dbshell", ".rediscli_auth",
    # agents
    ".claude/.credentials.json", ".claude.json", ".codex/auth.json", ".gemini/oauth_creds.json",
    ".config/wayland/auth", ".config/github-copilot",
    # browsers, mail, chat
    ".mozilla", ".config/google-chrome", ".config/chromium", ".config/BraveSoftware",
    ".config/microsoft-edge", ".thunderbird", ".config/Slack", ".config/discord", ".config/Signal",
    # what was typed before
    ".bash_history", ".zsh_history", ".python_history", ".node_repl_history", ".psql_history",
    ".mysql_history", ".sqlite_history", ".rediscli_history", ".local/share/fish/fish_history",
)  # fmt: skip
# An ordinary user cannot read these anyway; root can.
_OF_THE_SYSTEM = (
    "/etc/shadow", "/etc/shadow-", "/etc/gshadow", "/etc/gshadow-", "/etc/sudoers", "/etc/sudoers.d",
    "/etc/ssl/private", "/etc/krb5.keytab", "/var/lib/sss/secrets", "/var/lib/docker",
    "/var/lib/containers",
)  # fmt: skip
_HOST_KEYS = "/etc/ssh"


def stores(home: str | None) -> list[Path]:
    """The stores of this host, those included that may come to be later."""
    wanted = [Path(path) for path in _OF_THE_SYSTEM]
    if home and os.path.isabs(home):
        wanted += [Path(home, name) for name in _IN_HOME]
    return wanted + _host_keys()


def _host_keys() -> list[Path]:
    try:
        return [Path(entry.path) for entry in os.scandir(_HOST_KEYS) if entry.name.endswith("_key")]
    except OSError:
        return []
