"""Secret files whose names come from another command: `find . -name .env | xargs cat`."""

from collections.abc import Iterator

from nacre.policy.credentials.known_programs import SILENT
from nacre.policy.credentials.neighbours import inside, pipeline_of
from nacre.policy.credentials.readers import read_words
from nacre.policy.credentials.secret_files import SecretFiles
from nacre.policy.reading.paths import places
from nacre.syntax.script import Command, Place, Script
from nacre.syntax.word import QUERY, STAR, Word

__all__ = ("handed_name", "sought_name")

_FINDERS = frozenset({"find", "gfind", "fd", "fdfind"})
_RUNNING = frozenset({"-exec", "-execdir", "-ok", "-okdir", "-x", "-X", "--exec", "--exec-batch"})
_NAMING = frozenset({"-name", "-iname", "-path", "-wholename", "-ipath", "-regex"})
_NOT = frozenset({"!", "-not"})
_LISTERS = _FINDERS | {"ls", "echo", "printf", "grep", "rg", "git", "locate", "cat"}
_FANS = frozenset({"xargs", "parallel"})
# They take the names of files from their input.
_PACKERS = frozenset({"cpio", "pax", "zip", "tar"})


def sought_name(command: Command, files: SecretFiles) -> Word | None:
    """The pattern or folder in a `find` that runs something which reads what it found."""
    if _FINDERS.isdisjoint(command.names):
        return None
    words = command.words[1:]
    runs = [at for at, word in enumerate(words) if word.value in _RUNNING]
    if not any(_reveals(words[at + 1 :]) for at in runs):
        return None
    return next(_sought(command, files), None)


def handed_name(command: Command, script: Script, files: SecretFiles) -> Word | None:
    """The name of a secret file in the command that a reader has its names from."""
    if not command.names or command.names[0] in SILENT:
        return None
    if Place.PIPED_IN in command.places and _takes_names(command):
        listers = [other for other in pipeline_of(command, script) if other.stage < command.stage]
    else:
        listers = _substituted(command, script)
    for other in listers:
        if _LISTERS.isdisjoint(other.names) or _leaves_out(other):
            continue
        if word := next(_sought(other, files), None):
            return word
    return None


def _leaves_out(command: Command) -> bool:
    """Whether it is `grep -v`: what it names is what does not come."""
    return "grep" in command.names and any(
        text[:1] == "-" and text[:2] != "--" and "v" in text
        for text in (word.templates[0] for word in command.words[1:])
    )


def _takes_names(command: Command) -> bool:
    if not _PACKERS.isdisjoint(command.names):
        return any(word.templates[0] in {"-o", "-T", "-@", "-w"} for word in command.words)
    if any(name in _FANS for _, name in command.via):
        return True
    # `... | while read f; do cat $f; done`
    return Place.LOOP in command.places and any(word.opaque for word in read_words(command))


def _substituted(command: Command, script: Script) -> list[Command]:
    """The commands of substitutions in the words that a command reads."""
    spans = [
        word.span
        for word in command.words[1:]
        if ("$(" in word.source or "`" in word.source) and word.opaque
    ]
    if not spans or not any(word.span in spans for word in read_words(command)):
        return []
    return [other for span in spans for other in inside(span, script)]


def _reveals(words: tuple[Word, ...]) -> bool:
    return bool(words) and words[0].templates[0].rpartition("/")[2] not in SILENT


def _sought(command: Command, files: SecretFiles) -> Iterator[Word]:
    """What a command looks for, or in, that is a secret file."""
    before = ["", ""]
    for word in command.words[1:]:
        text = word.templates[0]
        named = before[1] in _NAMING and before[0] not in _NOT
        if (named or not before[1].startswith("-")) and any(
            files.has(path) for path in places(_globbed(word), command)
        ):
            yield word
        if text in _RUNNING:
            return
        before = [before[1], text]


def _globbed(word: Word) -> Word:
    """A pattern that the program expands, as if bash did."""
    return word._replace(
        templates=tuple(each.replace("*", STAR).replace("?", QUERY) for each in word.templates),
    )
