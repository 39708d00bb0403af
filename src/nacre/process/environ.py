"""Which variables a script sees, and which secrets it was not given.

A script's environment is built from nothing. What passes is what programs need
to find themselves, their user, their language, their terminal and their tools.
What by its name could be a secret does not, and neither does what

- loads code into every process: LD_PRELOAD, LD_AUDIT, BASH_ENV, ENV, exported
  functions, PYTHONSTARTUP, NODE_OPTIONS, RUBYOPT, PERL5OPT, JAVA_TOOL_OPTIONS;
- is a host's own search path for libraries, often set by what packed the host:
  LD_LIBRARY_PATH, PYTHONPATH, PYTHONHOME, NODE_PATH, PERL5LIB, RUBYLIB;
- sends tools elsewhere: GIT_DIR, GIT_CONFIG_*, GIT_SSH_COMMAND, GIT_ASKPASS,
  DOCKER_HOST, KUBECONFIG, RUSTC_WRAPPER, LESSOPEN, GITHUB_ENV;
- leads to a socket that acts for the user: SSH_AUTH_SOCK, GPG_AGENT_INFO, DISPLAY,
  WAYLAND_DISPLAY, XAUTHORITY, DBUS_SESSION_BUS_ADDRESS, TMUX, editors' channels;
- holds a copy of other variables, or belongs to the program that started the host:
  DIRENV_DIFF, __MISE_DIFF, MAKEFLAGS, PWD, SHLVL;
- is a URL with a password in it, whatever its name.

Each of them passes when the host names it.
"""

import os.path
import re
from collections.abc import Callable, Mapping
from functools import lru_cache

from nacre.model.confinement import Environment
from nacre.model.expression import expression
from nacre.model.secrets import is_secret_name

__all__ = ("environ_of", "scrubbed")

_SYSTEM = """
    HOME HOSTNAME LANG LANGUAGE LINES LOGNAME MACHTYPE NAME OSTYPE PATH SHELL TEMP TMP TMPDIR TZ
    TZDIR USER EMAIL MANPATH INFOPATH LOCPATH LOCALE_ARCHIVE NLSPATH SYSTEMROOT WSL_DISTRO_NAME
    XDG_CACHE_HOME XDG_CONFIG_DIRS XDG_CONFIG_HOME XDG_DATA_DIRS XDG_DATA_HOME XDG_RUNTIME_DIR
    XDG_STATE_HOME
"""
_TERMINAL = """
    CLICOLOR CLICOLOR_FORCE COLORTERM COLUMNS FORCE_COLOR FORCE_HYPERLINK GCC_COLORS GREP_COLORS
    LESS LESSCHARSET LS_COLORS NO_COLOR PY_COLORS TERM TERMINFO TERMINFO_DIRS TERM_PROGRAM
    TERM_PROGRAM_VERSION EDITOR VISUAL PAGER MANPAGER BLOCKSIZE QUOTING_STYLE TIME_STYLE
"""
_CERTIFICATES = """
    AWS_CA_BUNDLE CARGO_HTTP_CAINFO CURL_CA_BUNDLE DENO_CERT GIT_SSL_CAINFO NIX_SSL_CERT_FILE
    NODE_EXTRA_CA_CERTS PIP_CERT REQUESTS_CA_BUNDLE SSL_CERT_DIR SSL_CERT_FILE
"""
# Where the network is allowed, it may be reachable through these only.
_NETWORK = """
    ALL_PROXY FTP_PROXY HTTPS_PROXY HTTP_PROXY NO_PROXY
    all_proxy ftp_proxy https_proxy http_proxy no_proxy
    GOPRIVATE GOPROXY GOSUMDB NPM_CONFIG_REGISTRY npm_config_registry PIP_EXTRA_INDEX_URL
    PIP_INDEX_URL UV_DEFAULT_INDEX UV_INDEX_URL
"""
_GIT = """
    GIT_AUTHOR_DATE GIT_AUTHOR_EMAIL GIT_AUTHOR_NAME GIT_COMMITTER_DATE GIT_COMMITTER_EMAIL
    GIT_COMMITTER_NAME GIT_CEILING_DIRECTORIES GIT_DISCOVERY_ACROSS_FILESYSTEM GIT_MERGE_AUTOEDIT
    GIT_OPTIONAL_LOCKS GIT_TERMINAL_PROMPT
"""
_BUILDING = """
    AR ARFLAGS AS CC CFLAGS CGO_CFLAGS CGO_ENABLED CGO_LDFLAGS CPP CPPFLAGS CPATH CXX CXXFLAGS
    C_INCLUDE_PATH CPLUS_INCLUDE_PATH FC FFLAGS LD LDFLAGS LIBRARY_PATH LIBS NM OBJCOPY
    RANLIB STRIP SDKROOT DEVELOPER_DIR MACOSX_DEPLOYMENT_TARGET SOURCE_DATE_EPOCH
    ACLOCAL_PATH CCACHE_BASEDIR CCACHE_CONFIGPATH CCACHE_DIR CCACHE_MAXSIZE SCCACHE_DIR
    CMAKE_BUILD_PARALLEL_LEVEL CMAKE_BUILD_TYPE CMAKE_GENERATOR CMAKE_INSTALL_PREFIX
    CMAKE_MODULE_PATH CMAKE_PREFIX_PATH CMAKE_TOOLCHAIN_FILE CTEST_OUTPUT_ON_FAILURE
    CTEST_PARALLEL_LEVEL PKG_CONFIG PKG_CONFIG_LIBDIR PKG_CONFIG_PATH PKG_CONFIG_SYSROOT_DIR
    BAZELISK_HOME USE_BAZEL_VERSION MODULEPATH LOADEDMODULES CUDA_PATH CUDA_VISIBLE_DEVICES
    OMP_NUM_THREADS MKL_NUM_THREADS OPENBLAS_NUM_THREADS TOKENIZERS_PARALLELISM
"""
_PYTHON = """
    VIRTUAL_ENV VIRTUAL_ENV_PROMPT PYENV_VERSION PYENV_SHELL PIPENV_VENV_IN_PROJECT PIPX_BIN_DIR
    PIP_CACHE_DIR PIP_DISABLE_PIP_VERSION_CHECK PIP_NO_INPUT PIP_REQUIRE_VIRTUALENV
    POETRY_CACHE_DIR POETRY_VIRTUALENVS_IN_PROJECT UV_CACHE_DIR UV_PROJECT_ENVIRONMENT UV_PYTHON
    UV_PYTHON_INSTALL_DIR UV_TOOL_BIN_DIR UV_TOOL_DIR UV_OFFLINE UV_LINK_MODE
    PYTHONDONTWRITEBYTECODE PYTHONHASHSEED PYTHONIOENCODING PYTHONNOUSERSITE PYTHONPYCACHEPREFIX
    PYTHONUNBUFFERED PYTHONUSERBASE PYTHONUTF8 MPLBACKEND
    CONDA_DEFAULT_ENV CONDA_ENVS_PATH CONDA_EXE CONDA_PKGS_DIRS CONDA_PREFIX CONDA_PYTHON_EXE
    CONDA_SHLVL MAMBA_EXE MAMBA_ROOT_PREFIX PIXI_PROJECT_ROOT HF_HUB_OFFLINE
"""
_JAVASCRIPT = """
    BUN_INSTALL DENO_DIR DENO_INSTALL DENO_NO_UPDATE_CHECK FNM_DIR FNM_MULTISHELL_PATH NODE_ENV
    NVM_BIN NVM_DIR NVM_INC N_PREFIX NPM_CONFIG_CACHE NPM_CONFIG_PREFIX npm_config_cache
    npm_config_prefix PLAYWRIGHT_BROWSERS_PATH PUPPETEER_CACHE_DIR PUPPETEER_EXECUTABLE_PATH
    CHROME_BIN YARN_CACHE_FOLDER YARN_GLOBAL_FOLDER
"""
_OTHER_LANGUAGES = """
    CARGO_BUILD_JOBS CARGO_BUILD_TARGET CARGO_INCREMENTAL CARGO_NET_OFFLINE CARGO_TARGET_DIR
    CARGO_TERM_COLOR RUSTFLAGS RUSTDOCFLAGS RUSTUP_TOOLCHAIN RUST_BACKTRACE RUST_LOG
    RUST_MIN_STACK GO111MODULE GOARCH GOBIN GOCACHE GOENV GOEXPERIMENT GOFLAGS GOMAXPROCS
    GOMODCACHE GOOS GOPATH GOROOT GOTMPDIR GOTOOLCHAIN GOWORK
    GRADLE_USER_HOME JDK_HOME ANDROID_NDK DOTNET_BUNDLE_EXTRACT_BASE_DIR
    DOTNET_CLI_TELEMETRY_OPTOUT DOTNET_NOLOGO DOTNET_SKIP_FIRST_TIME_EXPERIENCE NUGET_PACKAGES
    BUNDLE_GEMFILE BUNDLE_PATH GEM_HOME GEM_PATH RBENV_VERSION RUBY_VERSION rvm_path
    COMPOSER_CACHE_DIR HEX_HOME MIX_ENV MIX_HOME RAILS_ENV RACK_ENV
    GHCUP_INSTALL_BASE_PREFIX STACK_ROOT OPAMROOT OPAMSWITCH OPAM_SWITCH_PREFIX
    JULIA_DEPOT_PATH JULIA_NUM_THREADS R_LIBS R_LIBS_USER TEXINPUTS TEXMFHOME
    PUB_CACHE FLUTTER_STORAGE_BASE_URL SWIFTLY_BIN_DIR SWIFTLY_TOOLCHAINS_DIR PLENV_VERSION
"""
_VERSIONS = """
    ASDF_CONFIG_FILE ASDF_DATA_DIR ASDF_DEFAULT_TOOL_VERSIONS_FILENAME ASDF_DIR HOMEBREW_CELLAR
    HOMEBREW_PREFIX HOMEBREW_REPOSITORY MISE_CACHE_DIR MISE_CONFIG_DIR MISE_DATA_DIR MISE_ENV
    MISE_SHELL MISE_STATE_DIR SDKMAN_CANDIDATES_DIR SDKMAN_DIR SDKMAN_PLATFORM SDKMAN_VERSION
    PROTO_HOME DEVBOX_PROJECT_ROOT IN_NIX_SHELL NIX_BINTOOLS NIX_CC NIX_CFLAGS_COMPILE
    NIX_LDFLAGS NIX_PATH NIX_PROFILES NIX_STORE NIX_STORE_DIR GUIX_LOCPATH GUIX_PROFILE
"""
_OCCASION = """
    CI CONTINUOUS_INTEGRATION BUILDKITE CIRCLECI DEBIAN_FRONTEND DO_NOT_TRACK GITHUB_ACTIONS
    GITLAB_CI JENKINS_HOME TEAMCITY_VERSION TF_BUILD TRAVIS
"""
_TABLES = (
    _SYSTEM, _TERMINAL, _CERTIFICATES, _NETWORK, _GIT, _BUILDING, _PYTHON, _JAVASCRIPT,
    _OTHER_LANGUAGES, _VERSIONS, _OCCASION,
)  # fmt: skip
_PASSING = frozenset(name for table in _TABLES for name in table.split())
_LOCALE = "LC_"
_FUNCTION = "BASH_FUNC_"
# JAVA_HOME, ANDROID_SDK_ROOT, JAVA_HOME_17_X64: a folder in which a tool lives.
_FOLDER = expression(r"[A-Z][A-Z0-9_]*_(?:HOME(?:_[A-Z0-9_]+)?|ROOT)")
_WITH_PASSWORD = expression(r"://[^/\s@]*:[^/\s@]+@")
_FALLBACK = {"PATH": "/usr/local/bin:/usr/bin:/bin", "LANG": "C.UTF-8"}

_SHORTEST_SECRET = 8
_NO_SECRET = expression(r"[-+]?[0-9][0-9_.,:-]*|(.)\1*", re.DOTALL)
# What stands in such variables and is no secret; it would be missed in any output.
_COMMON_WORDS = """
    password passw0rd password1 postgres postgresql changeme change-me changeit disabled enabled
    required optional username localhost anonymous keychain keyring wincred secretservice
    pinentry undefined development production staging testing default automatic external
    internal manager-core credential credentials git-credential gnome-keyring kubernetes
    container workspace environment example.com github.com gitlab.com token-file access-token
    client-credentials oauth2 service-account basic-auth application developer administrator
    superuser nopassword
"""
_COMMON = frozenset(_COMMON_WORDS.split())


def environ_of(environment: Environment, host: Mapping[str, str]) -> dict[str, str]:
    """Build a script's variables from the host's."""
    if environment.inherit:
        return {**host, **environment.fixed}
    named, prefixes = _named(environment.passed)
    passed: dict[str, str] = {}
    if environment.base is not None:
        known = environment.base | named
        return {
            name: host[name]
            for name in host
            if (name in known or name.startswith(prefixes))
            and not _is_never(name, environment.never)
        }
    for name in host:
        # A value is decoded when it is read, so names come first.
        if name in named or (name.startswith(prefixes) and not is_secret_name(name)):
            passed[name] = host[name]
        elif (pass_if := _passes(name)) and pass_if(value := host[name]):
            passed[name] = value
    return {**_FALLBACK, **passed, **environment.fixed}


def scrubbed(environment: Environment, host: Mapping[str, str]) -> dict[str, str]:
    """The secrets among the variables that a script is not given, each with its name.

    Longest first. What is short, a number, a common word, a folder that exists,
    or seen by the script in any case is left out: it is not secret, and would be
    missed wherever it is said.
    """
    if environment.inherit:
        return {}
    seen = environ_of(environment, host)
    known = {*seen.values(), *seen.get("HOME", "").split("/")}
    withheld = (name for name in sorted(host, reverse=True) if is_secret_name(name))
    found = {host[name].strip(): name for name in withheld if name not in seen}
    return {
        value: found[value]
        for value in sorted(found, key=len, reverse=True)
        if value not in known and _is_secret(value)
    }


def _is_never(name: str, words: tuple[str, ...]) -> bool:
    shouted = name.upper()
    return any(word in shouted for word in words)


@lru_cache(maxsize=16)
def _named(passed: tuple[str, ...]) -> tuple[frozenset[str], tuple[str, ...]]:
    """What the host passes by name, or by how the name begins: anything, except code."""
    names = [name.strip() for name in passed]
    whole = frozenset(name for name in names if not name.startswith(_FUNCTION))
    begins = (name[:-1] for name in whole if name.endswith("*"))
    return whole, tuple(each for each in begins if each and not _FUNCTION.startswith(each))


@lru_cache(maxsize=4096)
def _passes(name: str) -> Callable[[str], bool] | None:
    """What the value must be for a variable to pass; None if it never does."""
    if name in _PASSING:
        return _has_no_password
    if is_secret_name(name):
        return None
    if name.startswith(_LOCALE):
        return _has_no_password
    return _is_folder if _FOLDER.fullmatch(name) else None


def _has_no_password(value: str) -> bool:
    return "://" not in value or not _WITH_PASSWORD.search(value)


def _is_folder(value: str) -> bool:
    return value.startswith("/") and _has_no_password(value)


def _is_secret(value: str) -> bool:
    return (
        len(value) >= _SHORTEST_SECRET
        and value.lower() not in _COMMON
        and not _NO_SECRET.fullmatch(value)
        and not (value.startswith(("/", "~/")) and os.path.lexists(os.path.expanduser(value)))
    )
