"""Where what a command prints goes."""

from nacre.policy.credentials.known_programs import named
from nacre.policy.credentials.neighbours import pipeline_of
from nacre.policy.credentials.secret_files import SecretFiles
from nacre.policy.reading.paths import places
from nacre.syntax.script import Command, Place, Script

__all__ = ("is_dropped", "is_kept", "is_taken")

# Programs that take a secret from their input and keep it, and how some must be told to.
_TAKERS = named("passwd chpasswd ssh-add cryptsetup htpasswd kinit")
_TAKERS_IF_TOLD = named("""
    docker podman nerdctl buildah skopeo crane oras helm gh glab gpg gpg2 sudo op vault wrangler
    vercel fly flyctl heroku kubectl az npm
""")
_TOLD = named(
    "--password-stdin --with-token --stdin --import --passphrase-fd -S secret secrets login"
)
_SEARCHERS = frozenset({"grep", "egrep", "fgrep", "rg"})


def is_taken(command: Command, script: Script) -> bool:
    """Whether it goes to a program that takes a secret and does not show it."""
    for other in _readers(command, script):
        told = any(word.templates[0] in _TOLD for word in other.words[1:])
        if not _TAKERS.isdisjoint(other.names) or (
            told and not _TAKERS_IF_TOLD.isdisjoint(other.names)
        ):
            return True
    return False


def is_dropped(command: Command, script: Script) -> bool:
    """Whether nobody sees it: it goes nowhere, or is only counted or searched."""
    if any(
        each.writes and each.descriptor in {"", "1"} and each.target.value == "/dev/null"
        for each in command.redirections
        if each.target
    ):
        return True
    return any(_says_nothing(other) for other in _readers(command, script))


def _says_nothing(command: Command) -> bool:
    return "wc" in command.names or (
        not _SEARCHERS.isdisjoint(command.names)
        and any(_is_quiet(word.templates[0]) for word in command.words[1:])
    )


def _is_quiet(option: str) -> bool:
    if option.startswith("--"):
        return option in {"--quiet", "--silent"}
    return option.startswith("-") and "q" in option


def is_kept(command: Command, files: SecretFiles) -> bool:
    """Whether it goes to a file that is guarded itself."""
    return any(
        files.has(path)
        for each in command.redirections
        if each.writes and each.descriptor in {"", "1"} and each.target
        for path in places(each.target, command)
    )


def _readers(command: Command, script: Script) -> list[Command]:
    """The commands that read what this one writes into a pipe."""
    if Place.PIPED_OUT not in command.places:
        return []
    return [other for other in pipeline_of(command, script) if other.stage == command.stage + 1]
