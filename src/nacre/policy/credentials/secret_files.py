"""Files that hold secrets, by where they are."""

import re
from dataclasses import replace

from nacre.model.expression import expression
from nacre.model.value import dataclass
from nacre.policy.reading.paths import could_be
from nacre.syntax.word import HOME, QUERY, STAR, UNKNOWN

__all__ = ("LISTED_FILES", "LISTED_IN_CODE", "SECRET_FILES", "SecretFiles", "trove")

_UNKNOWN = f"{UNKNOWN}{STAR}{QUERY}"
_LITERALS_TO_MEAN_IT = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class SecretFiles:
    """A list of secret files.

    `hint` is found in every word that could be one of them, so that the rest is
    asked only of few. All match in lower case; `files` and `folders` a path from some
    slash to its end. `samples` are some of the files, for globs to be held against.
    """

    hint: re.Pattern[str]
    files: re.Pattern[str]
    folders: re.Pattern[str]
    samples: tuple[tuple[str, ...], ...]

    def hinted(self, text: str) -> bool:
        """Whether a text could have one of them in it."""
        return self.hint.search(text.lower()) is not None

    def has(self, path: str) -> bool:
        """Whether a path template could be a secret file, or a folder of such."""
        path = path.lower()
        if self.files.search(path) or self.folders.search(path):
            return True
        if STAR not in path and QUERY not in path:
            return False
        parts = path.split("/")
        return any(_globs(parts, sample) for sample in self.samples)

    def has_literal(self, text: str) -> bool:
        """Whether a text of another language, taken for a path, is one."""
        return self.has(text.rstrip("/"))


def trove(path: str) -> bool:
    """Whether a folder has the secrets of a user or of the machine in it, among other things."""
    return _TROVE.fullmatch(path) is not None


def _globs(parts: list[str], sample: tuple[str, ...]) -> bool:
    tail = parts[-len(sample) :]
    if len(tail) < len(sample):
        return False
    last = tail[-1]
    # `cat *` is not about a key that happens to lie there; `cat .e*` is about `.env`.
    if (len(sample) == 1 or not sample[0]) and STAR in last:
        literals = len(last) - last.count(STAR) - last.count(QUERY)
        if literals < _LITERALS_TO_MEAN_IT:
            return False
    return all(could_be(part, name) for part, name in zip(tail, sample, strict=True))


_TROVE = expression(
    rf"(?:{HOME}|/root)(?:/\.config)?|/home/[^/]+/\.config|/|/home|/users|/etc", re.IGNORECASE
)

# Examples and templates are meant to be read. What ends in `.pub` is meant to be given away.
_EXAMPLE = (
    r"(?:example|sample|template|tmpl|tpl|dist|defaults?|schema|test|ci|md|d\.ts|[cm]?[jt]s|py)"
)
_DOTENV = rf"\.env(?![^/]*[.\-_]{_EXAMPLE}$)(?:[.\-_~{_UNKNOWN}][^/]*)?"
_KEY = rf"id_(?:rsa|dsa|ecdsa|ed25519)(?![^/]*\.pub$)(?:[.\-_~{_UNKNOWN}][^/]*)?"
_ETC = rf"^/etc/(?:g?shadow[\-{_UNKNOWN}]?|sudoers(?:\.d/[^/]+)?)"

SECRET_FILES = SecretFiles(
    # In lower case, because a search that minds no case is many times slower.
    hint=expression(
        r"\.(?:env|aws|ssh|kube|azure|docker|pgpass|my\.cnf|gnupg|gcloud|git-cred|vault-tok|pass)"
        rf"|id_|(?:net|npm|pypi)rc|cloud/|wayland|cred|hosts\.y|shadow|sudoers|environ|[{STAR}{QUERY}]"
    ),
    files=expression(
        rf"""
        (?:^|/)
        (?: {_DOTENV}
          | {_KEY}
          | \.ssh/(?!known_hosts|config|authorized_keys|environment$|rc$|[^/]*\.(?:pub|sock)$)[^/]+
          | \.aws/(?:credentials|config|(?:sso|cli)/cache/[^/]+)
          | [._]netrc | \.npmrc | \.pypirc | \.pgpass | \.my\.cnf | \.vault-token
          | \.git-credentials | \.config/git/credentials
          | \.kube/config[^/]* | \.docker/config\.json | gh/hosts\.yml
          | \.(?:config/)?gcloud/.+ | \.azure/.+ | \.config/wayland/auth[^/]*
          | \.cargo/credentials(?:\.toml)? | \.gem/credentials
          | \.terraform\.d/credentials\.tfrc\.json
          | \.gnupg/(?:private-keys-v1\.d/[^/]+ | secring\.gpg) | \.password-store/.+
        )$
      | {_ETC}$
      | ^/proc/[^/]+/(?:task/[^/]+/)?environ$
        """,
        re.VERBOSE,
    ),
    folders=expression(r"(?:^|/)\.(?:ssh|aws|gnupg|azure|kube|(?:config/)?gcloud|password-store)$"),
    samples=(
        (".env",),
        (".env.local",),
        ("id_rsa",),
        ("id_ed25519",),
        (".netrc",),
        (".npmrc",),
        (".pypirc",),
        (".pgpass",),
        (".git-credentials",),
        (".ssh", "id_rsa"),
        (".ssh", "id_ed25519"),
        (".aws", "credentials"),
        (".kube", "config"),
        (".azure", "accesstokens.json"),
        (".gcloud", "credentials.json"),
        (".config", "gcloud", "credentials.db"),
        (".docker", "config.json"),
        (".config", "gh", "hosts.yml"),
        ("", "etc", "shadow"),
        ("", "etc", "sudoers"),
        ("", "proc", "self", "environ"),
        ("", "proc", "1", "environ"),
    ),
)

# The list of seeds/002, and the tool's own file that its tests name.
LISTED_FILES = SecretFiles(
    hint=SECRET_FILES.hint,
    files=expression(
        rf"""
        (?:^|/)
        (?: {_DOTENV}
          | [^/]+\.env
          | \.ssh/id_[^/]+ | \.ssh/identity[^/]*
          | \.aws/(?:credentials|config)
          | \.netrc | \.npmrc | \.pypirc
          | \.kube/config | \.gcloud/.+ | \.azure/.+ | \.config/wayland/auth[^/]*
          | wayland(?:-core)?/(?:auth|credentials|tokens?)\.json
        )$
      | ^/etc/(?:shadow|sudoers)(?:[.\-]\S*)?$
        """,
        re.VERBOSE,
    ),
    folders=expression(r"(?:^|/)\.(?:ssh|aws|gnupg|azure|gcloud|config/wayland|wayland)$"),
    samples=tuple(
        sample
        for sample in SECRET_FILES.samples
        if sample[0] in {".env", ".env.local", ".netrc", ".npmrc", ".pypirc", ".ssh", ".aws"}
        or sample[-1] in {"shadow", "sudoers"}
    ),
)

# In code, it lists whole folders.
LISTED_IN_CODE = replace(
    LISTED_FILES,
    files=expression(
        rf"{LISTED_FILES.files.pattern} | (?:^|/)\.(?:aws|ssh|gnupg|config/wayland|wayland)/.",
        re.VERBOSE,
    ),
)
