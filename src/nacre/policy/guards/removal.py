"""Deleting what matters: `rm` with what it is given, and `find` that deletes all it finds."""

from collections.abc import Callable, Iterator

from nacre.model.verdict import Decision
from nacre.policy.guards.guard import Guard, Hit
from nacre.policy.guards.stakes import Stake, stakes
from nacre.policy.reading.flags import Arguments, Grammar, arguments
from nacre.syntax.script import Command, Script
from nacre.syntax.word import FIELDS, HOLE, STAR, Word

__all__ = ("DOCUMENTED_REMOVALS", "REMOVALS", "removes")

_RM = Grammar(
    long=frozenset(
        {"dir", "force", "help", "interactive", "no-preserve-root", "one-file-system"}
        | {"preserve-root", "presume-input-tty", "recursive", "verbose", "version"}
    )
)
_ENTIRE = frozenset({Stake.ROOT, Stake.HOME})
_DOCUMENTED = _ENTIRE | {Stake.IN_HOME, Stake.GIT, Stake.EVERYTHING}

_HIDES = frozenset({HOLE, FIELDS})
_DELETERS = frozenset({"rm", "shred", "unlink"})
_EXECS = frozenset({"-exec", "-execdir", "-ok", "-okdir"})
_ENDS = frozenset({";", "+"})
_ANY_FILE = frozenset({("-name", "*"), ("-path", "*"), ("-type", "d"), ("-type", "f")})
# With no other test than these, `find` finds every file below where it starts.
_NO_TEST = frozenset(
    {"-H", "-L", "-P", "-d", "-depth", "-delete", "-mindepth", "-mount", "-noleaf", "-print"}
    | {"-print0", "-xdev"}
)


def removes(command: Command, script: Script, wanted: frozenset[Stake]) -> Word | None:
    """The word by which an `rm` would delete one of the wanted things, with all that is in it.

    Without `--force` that is refused for the whole machine and a home directory only.
    """
    given = arguments(command.words[1:], _RM)
    if not _recursive(given) or given.has("help", "version"):
        return None
    if not given.has("f", "force"):
        wanted &= _ENTIRE
    return _at_stake(given.operands, command, script, wanted)


def _rm(
    wanted: frozenset[Stake], decision: Decision = Decision.DENY
) -> Callable[[Command, Script], Hit | None]:
    def find(command: Command, script: Script) -> Hit | None:
        word = removes(command, script, wanted)
        return Hit(command.span, word.source, decision) if word else None

    return find


def _rm_here(command: Command, script: Script) -> Hit | None:
    """Ask about the folder itself, which may be meant; all that is in it, never."""
    word = removes(command, script, frozenset({Stake.HERE}))
    if word is None:
        return None
    emptied = any(STAR in each for each in word.templates)
    return Hit(command.span, word.source, Decision.DENY if emptied else Decision.ASK)


def _rm_of_some_kind(command: Command, script: Script) -> Hit | None:
    """Ask about a command of unknown name that is given what only `rm` is given."""
    if not command.opaque or len(command.words) == 1:
        return None
    given = arguments(command.words[1:], _RM)
    if not (_recursive(given) and given.has("f", "force")):
        return None
    wanted = _DOCUMENTED | {Stake.HERE, Stake.SYSTEM}
    word = _at_stake(given.operands, command, script, wanted)
    return Hit(command.span, word.source, Decision.ASK) if word else None


def _rm_with_unknown_options(command: Command, script: Script) -> Hit | None:
    given = arguments(command.words[1:], _RM)
    if _recursive(given) or not any(word.templates[0][:1] in _HIDES for word in given.operands):
        return None
    word = _at_stake(given.operands, command, script, _ENTIRE)
    return Hit(command.span, word.source, Decision.ASK) if word else None


def _find_that_deletes(command: Command, script: Script) -> Hit | None:
    words = command.words[1:]
    values = [word.value or "" for word in words]
    if not _deletes(values) or not all(_is_no_test(*pair) for pair in _tests(values)):
        return None
    starts = tuple(_starts(words)) or (Word(".", command.span, (".",)),)
    emptied = tuple(
        word._replace(templates=tuple(f"{each}/{STAR}" for each in word.templates))
        for word in starts
    )
    if word := _at_stake(emptied, command, script, _ENTIRE | {Stake.GIT, Stake.SYSTEM}):
        return Hit(command.span, word.source)
    word = _at_stake(emptied, command, script, frozenset({Stake.HERE}))
    return Hit(command.span, word.source, Decision.ASK) if word else None


def _recursive(given: Arguments) -> bool:
    return given.has("r", "R", "recursive")


def _at_stake(
    words: tuple[Word, ...], command: Command, script: Script, wanted: frozenset[Stake]
) -> Word | None:
    for word in words:
        if not wanted.isdisjoint(stakes(word, command, script)):
            return word
    return None


def _deletes(values: list[str]) -> bool:
    """Whether a `find` deletes each file that it finds, itself or with a program."""
    program: str | None = None
    for value in values:
        if program is None:
            if value == "-delete":
                return True
            program = "" if value in _EXECS else None
        elif value in _ENDS:
            program = None
        elif not program:
            program = value.rpartition("/")[2]
        elif value == "{}" and program in _DELETERS:
            return True
    return False


def _tests(values: list[str]) -> Iterator[tuple[str, str]]:
    """The options, tests and actions of a `find`, each with the word after it."""
    runs = False
    for this, following in zip(values, [*values[1:], ""], strict=True):
        if runs:
            runs = this not in _ENDS
        elif this in _EXECS:
            runs = True
        elif this.startswith("-"):
            yield this, following


def _is_no_test(test: str, value: str) -> bool:
    return test in _NO_TEST or (test, value) in _ANY_FILE


def _starts(words: tuple[Word, ...]) -> Iterator[Word]:
    for word in words:
        if word.value in {"-H", "-L", "-P"}:
            continue
        if (word.value or "")[:1] in {"-", "(", "!"} and word.value:
            return
        yield word


DOCUMENTED_REMOVALS = (
    Guard(
        name="rm",
        reason="This rm could delete the root, a home directory, a repository's .git, or all files.",
        suggestion="Write the full path of what is to be deleted, without ~, $HOME or a bare wildcard;"
        " to empty a folder, name it: rm -rf build/*.",
        find=_rm(_DOCUMENTED),
        names=frozenset({"rm"}),
        examples=("rm -rf /", "rm --rec --for ~/Documents", "rm src/.git -rf", "rm -fr .*"),
        counterexamples=("rm -rf build/*", "rm -f .git", "rm -rf '~'", "rm -r .git"),
    ),
)

REMOVALS = (
    *DOCUMENTED_REMOVALS,
    Guard(
        name="rm-here",
        reason="This rm would delete the folder the script starts in, or one above it.",
        suggestion="Name the files or folders inside it that are to be deleted.",
        find=_rm_here,
        names=frozenset({"rm"}),
        examples=("rm -rf ./*", 'rm -rf "$PWD"', "rm -rf ../.."),
        counterexamples=("rm -rf ./build", "rm -rf ../other"),
    ),
    Guard(
        name="rm-system",
        reason="This rm would delete a folder that the system or a repository is made of.",
        suggestion="Delete only what you made, by its full path; ask the user about anything else.",
        find=_rm(frozenset({Stake.SYSTEM, Stake.IN_GIT})),
        names=frozenset({"rm"}),
        examples=("rm -rf /usr", "rm -rf /etc/*", "rm -rf .git/objects"),
        counterexamples=("rm -rf /tmp/*", "rm -rf /opt/tool", "rm -rf .git/rebase-merge"),
    ),
    Guard(
        name="rm-variable",
        reason="If the variable is empty, this rm deletes from the root or all files here.",
        suggestion='Write the path out, or make an empty variable an error: "${DIR:?}"/*.',
        find=_rm(frozenset({Stake.VARIABLE}), Decision.ASK),
        names=frozenset({"rm"}),
        examples=('rm -rf "$DIR"/*', "rm -rf $DIR/usr"),
        counterexamples=('rm -rf "$DIR"', 'rm -rf "${DIR:?}"/*', 'rm -rf "$DIR/build"'),
    ),
    Guard(
        name="rm-options",
        reason="This rm is given the root or a home directory, and options that are not known.",
        suggestion="Write the options out, and the full path of what is to be deleted.",
        find=_rm_with_unknown_options,
        names=frozenset({"rm"}),
        examples=("rm $OPTIONS /",),
        counterexamples=("rm $FILES", "rm /tmp/x $FILES"),
    ),
    Guard(
        name="rm-unnamed",
        reason="A command that is known only when it runs is given the arguments of a fatal rm.",
        suggestion="Write the command's name out, and the full path of what is to be deleted.",
        find=_rm_of_some_kind,
        examples=("$(cat name) -rf /", '"$RM" -rf ~'),
        counterexamples=('"$RM" -rf build', '"$TOOL" -rf'),
    ),
    Guard(
        name="find-delete",
        reason="This find would delete every file below a folder that matters.",
        suggestion="Start it in the folder to be cleaned, and say which files: -name '*.tmp'.",
        find=_find_that_deletes,
        names=frozenset({"find"}),
        examples=("find / -delete", "find ~ -type f -exec rm -f {} +", "find . -delete"),
        counterexamples=("find . -name '*.pyc' -delete", "find /tmp/x -delete", "find / -type f"),
    ),
)
