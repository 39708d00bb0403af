"""The content of a secret file, on its way to somebody's eyes."""

from collections.abc import Callable

from nacre.model.verdict import Decision
from nacre.policy.credentials.copiers import copied
from nacre.policy.credentials.handed_names import handed_name, sought_name
from nacre.policy.credentials.neighbours import around
from nacre.policy.credentials.readers import COPIERS, read_words
from nacre.policy.credentials.secret_files import SecretFiles, trove
from nacre.policy.guards.guard import Hit
from nacre.policy.reading.paths import located, places
from nacre.syntax.script import Command, Script
from nacre.syntax.word import CWD, Word, shown

__all__ = ("reads_secret_file", "sends_folder_of_secrets", "writes_with_tee")

Find = Callable[[Command, Script], Hit | None]

# What is read from their input is counted, tested, or kept.
_QUIET_WITH_INPUT = frozenset(
    {"wc", "test", "[", "true", ":", "source", ".", "sha256sum", "md5sum"}
)
_LOADERS = frozenset({"env", "export"})


def reads_secret_file(files: SecretFiles) -> Find:
    """Find commands that show, copy or send a file of a list."""

    def find(command: Command, script: Script) -> Hit | None:
        if command.redirections and (word := _redirected(command, files)):
            return Hit(command.span, shown(word.templates[0]))
        if _hints(command, files) and (word := _read(command, files)):
            if _is_loaded(word, command, script):
                return None
            decision = Decision.ASK if command.opaque else Decision.DENY
            return Hit(command.span, shown(word.templates[0]), decision)
        if word := handed_name(command, script, files):
            return Hit(command.span, shown(word.templates[0]))
        return None

    return find


def _hints(command: Command, files: SecretFiles) -> bool:
    if len(command.words) <= 1:
        return False
    texts = [template for word in command.words[1:] for template in word.templates]
    if command.cwd != CWD:
        texts.append(command.cwd)
    return files.hinted("\n".join(texts))


def _redirected(command: Command, files: SecretFiles) -> Word | None:
    if not _QUIET_WITH_INPUT.isdisjoint(command.names):
        return None
    for each in command.redirections:
        if each.reads and each.target and _secret(each.target, command, files):
            return each.target
    return None


def _read(command: Command, files: SecretFiles) -> Word | None:
    for word in read_words(command):
        if _secret(word, command, files):
            return None if _stays_secret(command, files) else word
    return sought_name(command, files)


def _secret(word: Word, command: Command, files: SecretFiles) -> bool:
    return any(files.has(path) for path in places(word, command))


def _stays_secret(command: Command, files: SecretFiles) -> bool:
    """Whether a copy has a name, or gets one, that is as well guarded as the original's."""
    if COPIERS.isdisjoint(command.names):
        return False
    sources, target = copied(command.words[1:])
    if target is None or ":" in target.templates[0]:
        return False
    if _secret(target, command, files):
        return True
    if any(files.has(path.rpartition("/")[0]) for path in places(target, command)):
        return True
    # Into a folder here, it keeps its name.
    folder = located(target.templates[0], command.cwd)
    if not folder.startswith(CWD) or not (
        folder == command.cwd or target.templates[0].endswith("/")
    ):
        return False
    return all(
        path.startswith(CWD) and files.has(f"{folder}/{path.rpartition('/')[2]}")
        for source in sources
        for path in places(source, command)
    )


def _is_loaded(word: Word, command: Command, script: Script) -> bool:
    """Whether a file of variables becomes variables: `export $(grep -v '#' .env | xargs)`."""
    return ".env" in word.templates[0] and any(
        not _LOADERS.isdisjoint(loader.names) and each.source.startswith(("$(", '"$(', "`"))
        for loader, each in around(command, script)
    )


def sends_folder_of_secrets(command: Command, script: Script) -> Hit | None:
    """Find copies of a home, or of what is as full of secrets, to another machine."""
    del script
    sources, target = copied(command.words[1:])
    if target is None or ":" not in target.templates[0].partition("/")[0]:
        return None
    for word in sources:
        if any(trove(path) for path in places(word, command)):
            return Hit(command.span, shown(word.templates[0]))
    return None


def writes_with_tee(files: SecretFiles) -> Find:
    """Find `tee` on a file of a list, which some would read with it."""

    def find(command: Command, script: Script) -> Hit | None:
        del script
        for word in command.words[1:]:
            if _secret(word, command, files):
                return Hit(command.span, shown(word.templates[0]))
        return None

    return find
