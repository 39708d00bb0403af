"""Words that make a command do more than its name says: run a program, write a file.

A rule `Bash(find:*)` allows looking for files; it does not allow `-delete`. Such
a word is only covered by a rule that has it.
"""

import re
from collections.abc import Callable, Iterator, Sequence

from nacre.model.expression import expression
from nacre.model.value import dataclass
from nacre.policy.rules.reach_git import git_reach
from nacre.policy.rules.reach_text import awk_only_prints, sed_only_prints
from nacre.policy.rules.safe import steering_name
from nacre.syntax.script import Command, Script
from nacre.syntax.word import MARKS, UNKNOWN, Word

__all__ = ("further_reach",)

_LONGEST_PROGRAM = 10_000
_MOST_VALUES = 64
_SHORTEST = len("--o")
_UNKNOWN = expression(f"[{MARKS}]")


@dataclass(frozen=True, slots=True)
class _Options:
    """Options that reach further.

    `long` may be shortened by the writer. `letters` may be bundled; `valued` are
    those letters after which the rest of a bundle is a value. `words` start with
    one dash, or with none if they are beginnings of operands.
    """

    long: str = ""
    letters: str = ""
    valued: str = ""
    words: str = ""


_TABLE: dict[str, _Options] = {
    "ack": _Options("--pager --output"),
    "ag": _Options("--pager"),
    "bat": _Options("--pager --config-file"),
    "batcat": _Options("--pager --config-file"),
    "cargo": _Options("--config"),
    "date": _Options("--set", "s", "dfr"),
    "diff3": _Options("--diff-program"),
    "enable": _Options("", "f", ""),
    "fd": _Options("--exec --exec-batch", "xX", "deEtSgc"),
    "fdfind": _Options("--exec --exec-batch", "xX", "deEtSgc"),
    "file": _Options("--compile", "C", "emFfP"),
    "find": _Options(words="-exec -execdir -ok -okdir -delete -fprint -fprint0 -fprintf -fls"),
    "g++": _Options(words="-wrapper -fplugin= -specs="),
    "gcc": _Options(words="-wrapper -fplugin= -specs="),
    "go": _Options(
        words="-exec -exec= -toolexec -toolexec= -vettool -vettool= --exec --exec= --toolexec "
        "--toolexec= --vettool --vettool="
    ),
    "hash": _Options("", "p", ""),
    "iconv": _Options("--output", "o", "ftc"),
    "less": _Options("--log-file --LOG-FILE --lesskey-file --lesskey-src", "oOk", "", "+"),
    "make": _Options("--eval", "E", "fCIojlW", "SHELL= .SHELLFLAGS="),
    "gmake": _Options("--eval", "E", "fCIojlW", "SHELL= .SHELLFLAGS="),
    "man": _Options("--pager --html --config-file --preprocessor", "PHCp", "CRLmMSserEP"),
    "mapfile": _Options("", "C", ""),
    "npm": _Options("--script-shell --node-options"),
    "printf": _Options("", "v", ""),
    "psql": _Options("--output --log-file", "oL", "cdfhpUv", "\\! \\o \\copy"),
    "readarray": _Options("", "C", ""),
    "rg": _Options("--pre --hostname-bin"),
    "rsync": _Options("--rsh --rsync-path", "e", "fMTB"),
    "sdiff": _Options("--diff-program --output", "o", "IW"),
    "shuf": _Options("--output", "o", "ein"),
    "sort": _Options("--output --compress-program", "o", "kStT"),
    "split": _Options("--filter", "", ""),
    "sqlite3": _Options("", "", "", ".shell .system .output .once .save .load .excel -cmd .import"),
    "tar": _Options(
        "--checkpoint-action --to-command --use-compress-program --info-script "
        "--new-volume-script --rsh-command --rmt-command",
        "IF",
        "fCTXbgHKLNV",
    ),
    "tcpdump": _Options("", "zw", "cCFGiIrsTVyEjm"),
    "time": _Options("--output", "o", "f"),
    "tree": _Options("", "o", "LPITH"),
    "vi": _Options("--cmd", "cS", "", "+"),
    "vim": _Options("--cmd", "cS", "", "+"),
    "wget": _Options("--use-askpass --execute", "e", "aoOPtTQwBDAIRUX"),
    "xmllint": _Options("--output", "o", ""),
    "yq": _Options("--inplace --in-place --split-exp", "is", "op"),
    "zip": _Options("--unzip-command", "", "", "-TT"),
}
_SSH_COMMAND = expression(r"(?:proxy|local|knownhosts)command", re.IGNORECASE)
_SETTERS = (
    *("declare", "export", "local", "readonly", "typeset"),
    *("getopts", "mapfile", "read", "readarray", "unset"),
)


def further_reach(command: Command, script: Script) -> Iterator[str]:
    """The words that make a command reach further than its name.

    Every value that is known counts. Of a word that is not known, its beginning.
    """
    name = command.words[0].templates[0].rpartition("/")[2]
    if special := _SPECIAL.get(name):
        yield from _by_value(command, script, special)
    if options := _TABLE.get(name):
        yield from _given(command, options)


_Special = Callable[[Sequence[str], Command, Script], Iterator[str]]


def _by_value(command: Command, script: Script, special: _Special) -> Iterator[str]:
    """What the first values of its words say, then the others, one word at a time."""
    values = [word.templates if special is git_reach else _filled(word) for word in command.words]
    first = [each[0] for each in values]
    yield from special(first, command, script)
    if sum(map(len, values)) - len(values) > _MOST_VALUES:
        yield "words with so many values"
        return
    for at, each in enumerate(values):
        for value in each[1:]:
            yield from special([*first[:at], value, *first[at + 1 :]], command, script)


def _filled(word: Word) -> tuple[str, ...]:
    """The values of a word, where what comes from a variable is taken to be harmless.

    A script that is allowed has not set it, so it is the user's. What a command
    prints, or is given by its input, stays unknown.
    """
    if "$(" in word.source or "$" not in word.source:
        return word.templates
    return tuple(_UNKNOWN.sub("1", each) for each in word.templates)


def _given(command: Command, options: _Options) -> Iterator[str]:
    long, words = tuple(options.long.split()), tuple(options.words.split())
    for word in command.words[1:]:
        if word.value == "--":
            break
        for template in word.templates:
            known, *unknown = _UNKNOWN.split(template, maxsplit=1)
            if (
                _is_long(known, long, unfinished=bool(unknown))
                or _is_word(known, words, unfinished=bool(unknown))
                or (known[:1] == "-" and _in_bundle(known[1:], options))
            ):
                yield template


def _is_long(word: str, long: tuple[str, ...], *, unfinished: bool) -> bool:
    if not word.startswith("--") or (len(word) < _SHORTEST and not unfinished):
        return False
    name = word.partition("=")[0]
    return any(each.startswith(name) for each in long)


def _is_word(word: str, words: tuple[str, ...], *, unfinished: bool) -> bool:
    if word and unfinished and any(each.startswith(word) for each in words):
        return True
    return any(
        word == each if each[0] == "-" and each[-1] != "=" else word.startswith(each)
        for each in words
    )


def _in_bundle(letters: str, options: _Options) -> bool:
    if letters[:1] == "-":
        return False
    for letter in letters:
        if letter in options.letters:
            return True
        if letter in options.valued:
            return False
    return False


def _is_known(program: str) -> bool:
    return len(program) <= _LONGEST_PROGRAM and not _UNKNOWN.search(program)


def _sed_reach(words: Sequence[str], command: Command, script: Script) -> Iterator[str]:
    del command, script
    programs: list[str] = []
    operands: list[str] = []
    rest = iter(words[1:])
    for word in rest:
        name, _, value = word.partition("=")
        if word[:1] != "-" or word == "-":
            operands.append(word)
        elif word == "--":
            operands.extend(rest)
        elif len(name) >= _SHORTEST and "--expression".startswith(name):
            programs.append(value or next(rest, ""))
        elif word.startswith("--"):
            if name[:3] in {"--i", "--f"} and not "--follow-symlinks".startswith(name):
                yield word
        else:
            letters, found, script_text = word[1:].partition("e")
            if set(letters) & {"i", "f"}:
                yield word
            if found:
                programs.append(script_text or next(rest, ""))
    program = "\n".join(programs) if programs else "".join(operands[:1])
    if not (_is_known(program) and sed_only_prints(program)):
        yield program


def _awk_reach(words: Sequence[str], command: Command, script: Script) -> Iterator[str]:
    del command, script
    rest = iter(words[1:])
    program = ""
    for word in rest:
        if word in {"-v", "-F", "--assign", "--field-separator"}:
            next(rest, None)
        elif word == "--":
            program = next(rest, "")
            break
        elif word[:1] != "-" or word == "-":
            program = word
            break
        elif word[:2] not in {
            "-v",
            "-F",
            "-W",
            "-b",
            "-n",
            "-O",
            "-P",
            "-r",
            "-S",
            "-s",
            "-c",
        } and (
            word.partition("=")[0]
            not in {
                "--assign",
                "--field-separator",
                "--posix",
                "--re-interval",
                "--sandbox",
                "--csv",
            }
        ):
            yield word
            return
    if not (_is_known(program) and awk_only_prints(program)):
        yield program


def _find_reach(words: Sequence[str], command: Command, script: Script) -> Iterator[str]:
    """A word that some command prints could be `-delete`."""
    del command, script
    yield from (word for word in words[2:] if word[:1] in frozenset(UNKNOWN))


def _ssh_reach(words: Sequence[str], command: Command, script: Script) -> Iterator[str]:
    del command, script
    options = ("-F", "-S", "-D") if words[0] != "ssh" else ("-F",)
    for word in words[1:]:
        if word.startswith(options) or (_SSH_COMMAND.search(word) and "=" in word):
            yield word


def _tar_reach(words: Sequence[str], command: Command, script: Script) -> Iterator[str]:
    """Letters without a dash: `tar cIf`."""
    del command, script
    letters = words[1] if len(words) > 1 else ""
    if letters.isalpha() and set(letters) & {"I", "F"}:
        yield letters


def _second_operand(words: Sequence[str], command: Command, script: Script) -> Iterator[str]:
    """`uniq in out` and `xxd in out` write their second operand."""
    del command, script
    operands = [word for word in words[1:] if word[:1] != "-" and not word.isdigit()]
    yield from operands[1:2]


def _steering_assignment(words: Sequence[str], command: Command, script: Script) -> Iterator[str]:
    del command, script
    yield from (word for word in words[1:] if steering_name(word.partition("=")[0]))


_SPECIAL: dict[str, _Special] = {
    "git": git_reach,
    "find": _find_reach,
    "scp": _ssh_reach,
    "sed": _sed_reach,
    "sftp": _ssh_reach,
    "ssh": _ssh_reach,
    "tar": _tar_reach,
    "gsed": _sed_reach,
    "awk": _awk_reach,
    "gawk": _awk_reach,
    "mawk": _awk_reach,
    "nawk": _awk_reach,
    "uniq": _second_operand,
    "xxd": _second_operand,
    **dict.fromkeys(_SETTERS, _steering_assignment),
}
