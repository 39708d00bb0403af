"""Whether a script needs the network."""

from collections.abc import Mapping
from types import MappingProxyType

from nacre.model.expression import expression
from nacre.syntax.script import Command, Script

__all__ = ("needs_network",)

_PROGRAMS = """
    curl wget aria2c axel http https httpie xh xhs lynx w3m links elinks ssh scp sftp rsync
    mosh autossh ssh-copy-id ssh-keyscan telnet ftp lftp tftp nc ncat netcat socat nmap ping
    ping6 fping traceroute tracepath mtr dig nslookup host whois npx bunx pnpx uvx brew apt
    apt-get aptitude dnf yum zypper apk pacman snap flatpak rustup nvm gh glab yt-dlp
    youtube-dl gcloud gsutil aws az doctl heroku flyctl vercel netlify kubectl helm rclone
    s3cmd speedtest certbot pnpm yarn
"""
_ALWAYS = frozenset(_PROGRAMS.split())

_SUBCOMMANDS: Mapping[str, frozenset[str]] = MappingProxyType(
    {
        name: frozenset(subcommands.split())
        for name, subcommands in {
            "git": "clone fetch pull push ls-remote remote submodule lfs svn",
            "hg": "clone pull push incoming outgoing",
            "svn": "checkout co update up commit ci",
            "npm": "install i ci add update up outdated audit publish login view info search exec x "
            "create init ping",
            "bun": "install i add update x create publish upgrade outdated",
            "deno": "install add cache upgrade",
            "pip": "install download search index wheel",
            "pip3": "install download search index wheel",
            "pipx": "install run upgrade upgrade-all inject",
            "uv": "add sync lock pip tool publish python",
            "poetry": "add install update lock publish search",
            "pipenv": "install update sync lock",
            "conda": "install create update search env",
            "mamba": "install create update search env",
            "cargo": "install fetch update add search publish login",
            "go": "get install mod",
            "gem": "install update push fetch search",
            "bundle": "install update outdated add",
            "composer": "install require update create-project",
            "docker": "pull push login search run build compose",
            "podman": "pull push login search run build",
            "docker-compose": "pull push up build",
            "terraform": "init get apply plan",
        }.items()
    }
)
# Without a subcommand, they install.
_BARE = frozenset({"bundle"})
_ADDRESS = expression(r"(?:https?|ftp|ssh|git|wss?)://(?!localhost\b|127\.|\[::1\]|0\.0\.0\.0)")
# What they are given is text.
_TALKERS = frozenset({"echo", "printf", "print", "grep", "egrep", "rg", "sed", "awk", "cat", ":"})
_LOCAL = frozenset({"commit", "config", "log", "show", "tag", "grep", "status", "diff"})


def needs_network(script: Script) -> bool:
    """Whether a command of a script is one that talks to another machine."""
    return any(_talks(command) for command in script.commands)


def _talks(command: Command) -> bool:
    for name in command.names:
        if name in _ALWAYS:
            return True
        words = [word.templates[0] for word in command.words[1:]]
        if name.startswith("python") and words[:1] == ["-m"]:
            if _fetches("".join(words[1:2]), words[2:]):
                return True
        elif _fetches(name, words) or _names_address(name, words):
            return True
    return False


def _fetches(name: str, words: list[str]) -> bool:
    subcommands = _SUBCOMMANDS.get(name)
    if subcommands is None:
        return False
    plain = _plain(words)
    if not plain:
        return name in _BARE
    # The value of an option may stand before it: `git -C folder fetch`.
    return not subcommands.isdisjoint(plain[:2])


def _names_address(name: str, words: list[str]) -> bool:
    return (
        name not in _TALKERS
        and _LOCAL.isdisjoint(_plain(words)[:2])
        and any(_ADDRESS.match(word) for word in words)
    )


def _plain(words: list[str]) -> list[str]:
    return [word for word in words if not word.startswith("-")]
