"""Which variables a script sees."""

from collections.abc import Mapping

from nacre.model.confinement import Environment

__all__ = ("environ_of",)

# What programs need to find themselves, their user, their language and their
# tools. None of these names carries a secret.
_NEEDED = frozenset({
    "HOME", "LANG", "LANGUAGE", "LOGNAME", "PATH", "SHELL", "TEMP", "TMP", "TMPDIR", "TZ", "USER",
    "XDG_CACHE_HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_RUNTIME_DIR", "XDG_STATE_HOME",
    "SSL_CERT_DIR", "SSL_CERT_FILE", "CURL_CA_BUNDLE", "REQUESTS_CA_BUNDLE", "NODE_EXTRA_CA_CERTS",
    "CARGO_HOME", "GOPATH", "GOROOT", "JAVA_HOME", "NVM_DIR", "PYENV_ROOT", "RUSTUP_HOME",
    "VIRTUAL_ENV", "CONDA_PREFIX",
})  # fmt: skip
_NEEDED_PREFIX = "LC_"
_FALLBACK = {"PATH": "/usr/local/bin:/usr/bin:/bin", "LANG": "C.UTF-8"}


def environ_of(environment: Environment, host: Mapping[str, str]) -> dict[str, str]:
    """Build a script's variables from the host's."""
    if environment.inherit:
        return {**host, **environment.fixed}
    passed = {
        name: host[name]
        for name in host  # a value is decoded when it is read, so names come first
        if name in _NEEDED or name.startswith(_NEEDED_PREFIX) or name in environment.passed
    }
    return {**_FALLBACK, **passed, **environment.fixed}
