"""Which words of a command name files whose content it shows, copies or sends.

A program that is not known here is taken to read every file it is given: most do.
Those that do not are listed, and so are those that take some words for something
else: a pattern, a program, a name to write to.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from itertools import pairwise
from types import MappingProxyType

from nacre.model.expression import expression
from nacre.policy.credentials.copiers import copied, packed_by_tar, packed_by_zip, shown_by_git
from nacre.policy.credentials.inline_code import CODE_TOOLS
from nacre.policy.credentials.known_programs import SILENT, TEXT_TOOLS
from nacre.policy.reading.flags import Grammar, arguments
from nacre.syntax.script import Command, Place
from nacre.syntax.word import Word

__all__ = ("COPIERS", "read_words")

COPIERS = frozenset({"cp", "mv", "ln", "install", "scp", "rsync", "gcp", "gmv", "rclone"})

_Reader = Callable[[tuple[Word, ...]], Iterator[Word]]

_FOLDERS_OF_PROGRAMS = ("/bin/", "/usr/bin/", "/usr/local/bin/", "/sbin/", "/usr/sbin/")
_WEB = expression(r"\w+://")
_NO_FILE = expression(r"\s|:/")
_URL = expression(r"file://(?:localhost)?(?=/)", re.IGNORECASE)


def read_words(command: Command) -> Iterator[Word]:
    """The words of a command that it reads as files."""
    if not command.words:
        return
    names = command.names
    if not names:
        yield from _of_unknown(command.words[1:])
    for name in names:
        if _is_somebodys_program(command.words[0]):
            continue
        reader = _READERS.get(name) or _ordinary(name)
        # Of a text that is not bash, an unknown word is no program.
        if reader is not _of_unknown or Place.GUESSED not in command.places:
            yield from reader(command.words[1:])


def _ordinary(name: str) -> _Reader:
    if name in SILENT:
        return _nothing
    return _of_text_tool if name in TEXT_TOOLS else _of_unknown


def _nothing(words: tuple[Word, ...]) -> Iterator[Word]:
    del words
    yield from ()


def _is_somebodys_program(word: Word) -> bool:
    """Whether it is started by a path of its own, so that nothing is known of its words."""
    return all("/" in value and not value.startswith(_FOLDERS_OF_PROGRAMS) for value in word.values)


def _of_text_tool(words: tuple[Word, ...]) -> Iterator[Word]:
    for word in words:
        if not _is_option(word):
            yield word
        elif "=" in word.templates[0]:
            yield _after(word, "=")


def _of_unknown(words: tuple[Word, ...]) -> Iterator[Word]:
    """Operands, without what is likely the value of an option, or a text."""
    previous = ""
    for word in words:
        text = word.templates[0]
        if _URL.match(text):
            yield _after(word, "://")
        elif not (_is_option(word) or _names_no_file(previous) or _NO_FILE.search(text)):
            yield word
        previous = text


def _names_no_file(option: str) -> bool:
    return option == "-i" or (option.startswith("--") and len(option) > len("--"))


def _is_option(word: Word) -> bool:
    text = word.templates[0]
    return len(text) > 1 and text[0] == "-"


def _after(word: Word, mark: str) -> Word:
    return word._replace(templates=tuple(each.partition(mark)[2] for each in word.templates))


def _searcher(words: tuple[Word, ...]) -> Iterator[Word]:
    given = arguments(words, _GREP)
    if given.has("q", "l", "L", "c", "quiet", "silent", "count", "files-with-matches", "files"):
        return
    has_pattern = given.has("e", "f", "regexp", "file")
    yield from given.operands[0 if has_pattern else 1 :]


def _editor_of_streams(words: tuple[Word, ...]) -> Iterator[Word]:
    given = arguments(words, _SED)
    # Changed in place, nothing of it is shown.
    if given.has("i", "in-place"):
        return
    if not given.has("e", "f", "expression", "file"):
        yield from _named_in_sed(given.operands[:1])
        yield from given.operands[1:]
    else:
        yield from _named_in_sed(words)
        yield from given.operands


def _named_in_sed(words: tuple[Word, ...]) -> Iterator[Word]:
    for word in words:
        for found in _SED_READS.finditer(word.templates[0]):
            yield word._replace(templates=(found[1],))


def _filter_first(grammar: Grammar) -> _Reader:
    """Of a program whose first operand is not a file, but what to do with the others."""

    def read(words: tuple[Word, ...]) -> Iterator[Word]:
        given = arguments(words, grammar)
        yield from given.operands[0 if given.has("f", "file", "from-file") else 1 :]
        for option, _, value in zip(words, words[1:], words[2:], strict=False):
            if option.value in {"--rawfile", "--slurpfile"}:
                yield value

    return read


def _cutter(words: tuple[Word, ...]) -> Iterator[Word]:
    texts = "".join(word.templates[0] for word in words if _is_short(word))
    # The names in a file of variables, without their values.
    if "-d=" in texts and "-f1" in texts:
        return
    yield from _of_text_tool(words)


def _is_short(word: Word) -> bool:
    return len(word.templates[0]) <= len("-d=")


def _converter(words: tuple[Word, ...]) -> Iterator[Word]:
    for word in words:
        if word.templates[0].startswith("if="):
            yield _after(word, "=")


def _comparer(words: tuple[Word, ...]) -> Iterator[Word]:
    given = arguments(words, _DIFF)
    if not given.has("q", "brief", "s", "silent", "quiet"):
        yield from given.operands


def _batch_editor(words: tuple[Word, ...]) -> Iterator[Word]:
    """An editor that is told what to do; one that is only opened shows nothing to an agent."""
    if any(_EDITOR_TOLD.match(word.templates[0]) for word in words):
        yield from _of_text_tool(words)


def _copier(words: tuple[Word, ...]) -> Iterator[Word]:
    if any(word.value == "-d" for word in words):
        # `install -d` makes folders.
        return
    for word in copied(words)[0]:
        # `host:file` is read elsewhere.
        if ":" not in word.templates[0].partition("/")[0]:
            yield word


def _only_after(*options: str) -> _Reader:
    """Of a program that shows only the file that is the value of an option."""

    def read(words: tuple[Word, ...]) -> Iterator[Word]:
        for word, value in zip(words, (*words[1:], None), strict=False):
            text = word.templates[0]
            if text in options and value is not None:
                yield value
            elif text.startswith("--") and text.partition("=")[0] in options:
                yield _after(word, "=")

    return read


def _shell(words: tuple[Word, ...]) -> Iterator[Word]:
    """A shell that is told to say what it reads."""
    told = [word.templates[0] for word in words if _is_option(word)]
    if any(set(text) & set("vx") for text in told if text[1] != "-"):
        yield from (word for word in words if not _is_option(word))


def _address(words: tuple[Word, ...]) -> Iterator[Word]:
    """`socat FILE:name,option -`."""
    for word in words:
        head, _, rest = word.templates[0].partition(":")
        if head.upper() in {"FILE", "OPEN", "GOPEN"}:
            yield word._replace(templates=(rest.partition(",")[0],))


def _sender(words: tuple[Word, ...]) -> Iterator[Word]:
    """curl: what it fetches from here, and what it sends."""
    for word in words:
        text = word.templates[0]
        if _URL.match(text):
            yield _after(word, "://")
        elif "@" in text and not _WEB.match(text):
            yield _after(word, "@")


def _part_of(*subcommands: tuple[str, ...]) -> _Reader:
    """Of a program that reads files only in some of its subcommands."""

    def read(words: tuple[Word, ...]) -> Iterator[Word]:
        operands = tuple(
            word
            for before, word in zip((None, *words), words, strict=False)
            if not _is_option(word) and not (before and before.templates[0].startswith("--"))
        )
        said = tuple(word.templates[0] for word in operands)
        for subcommand in subcommands:
            if said[: len(subcommand)] == subcommand:
                yield from operands[len(subcommand) :]

    return read


def _interpreter(words: tuple[Word, ...]) -> Iterator[Word]:
    """What it is given to run; the rest is that program's affair."""
    given = arguments(words, _INTERPRETER)
    if given.has("i"):
        return
    if given.has("n", "p") and given.has("e", "E"):
        yield from given.operands
    elif given.has("m"):
        modules = [value for flag, value in pairwise(words) if flag.value == "-m"]
        if any(module.value in _SHOWING_MODULES for module in modules):
            yield from given.operands
    elif not given.has("c", "e", "r", "p", "E", "eval", "print"):
        yield from given.operands[:1]


_GREP = Grammar(
    long=frozenset(
        {"regexp", "file", "include", "exclude", "exclude-dir", "quiet", "silent", "count"}
        | {"files-with-matches", "files", "max-count", "glob", "type", "context"}
    ),
    valued=frozenset("efmABCdDgtT")
    | {"regexp", "file", "include", "exclude", "exclude-dir", "max-count", "glob", "type"}
    | {"context", "after-context", "before-context", "exclude-from", "ignore"},
)
_SED = Grammar(
    long=frozenset({"expression", "file", "in-place", "quiet", "line-length"}),
    valued=frozenset({"e", "f", "l", "expression", "file", "line-length"}),
)
_SED_READS = expression(r"(?:^|[\s;{}/$0-9])[rR]\s*([^\s;}]+)")
_AWK = Grammar(
    long=frozenset({"file", "assign", "field-separator"}),
    valued=frozenset({"f", "v", "F", "file", "assign", "field-separator"}),
)
_JQ = Grammar(long=frozenset({"from-file"}), valued=frozenset({"f", "L", "from-file", "indent"}))
_DIFF = Grammar(
    long=frozenset({"brief", "silent", "quiet", "label", "exclude", "unified"}),
    valued=frozenset({"L", "U", "x", "label", "exclude"}),
)
_INTERPRETER = Grammar(
    long=frozenset({"eval", "print", "require", "env-file"}),
    valued=frozenset(
        {"c", "e", "r", "E", "I", "X", "W", "m", "M", "eval", "require", "loader"}
        | {"env-file", "env-file-if-exists", "import", "conditions"}
    ),
)
_SHOWING_MODULES = frozenset(
    ["ast", "base64", "dis", "gzip", "json.tool", "quopri", "tarfile", "tokenize", "uu", "zipfile"]
)
_EDITOR_TOLD = expression(r"-[A-Za-z]*[ecsS]|\+.|--cmd|--batch")

_READERS: Mapping[str, _Reader] = MappingProxyType(
    dict.fromkeys(
        ["grep", "egrep", "fgrep", "zgrep", "rg", "ag", "ack", "ugrep", "pcregrep", "ripgrep"],
        _searcher,
    )
    | dict.fromkeys(["sed", "gsed", "ssed"], _editor_of_streams)
    | dict.fromkeys(["awk", "gawk", "mawk", "nawk", "goawk"], _filter_first(_AWK))
    | dict.fromkeys(["jq", "gojq", "jaq", "yq", "dasel", "fx"], _filter_first(_JQ))
    | dict.fromkeys(["diff", "cmp", "colordiff", "sdiff", "delta", "difft"], _comparer)
    | dict.fromkeys(["vim", "vi", "nvim", "ex", "view", "emacs", "kak"], _batch_editor)
    | dict.fromkeys(CODE_TOOLS - {"awk", "gawk", "mawk", "nawk", "jq", "gojq", "jaq"}, _interpreter)
    | dict.fromkeys(["bash", "sh", "dash", "zsh", "ksh"], _shell)
    | dict.fromkeys(COPIERS, _copier)
    | {
        "curl": _sender,
        "cut": _cutter,
        "logger": _only_after("-f", "--file"),
        "file": _only_after("-f", "--files-from"),
        "parallel": _only_after("-a", "--arg-file"),
        "socat": _address,
        "wget": _only_after("-i", "--input-file"),
        "xargs": _only_after("-a", "--arg-file"),
        "git": shown_by_git,
        "tar": packed_by_tar,
        "bsdtar": packed_by_tar,
        "zip": packed_by_zip,
        "dd": _converter,
        "aws": _part_of(("s3", "cp"), ("s3", "mv"), ("s3", "sync")),
        "gsutil": _part_of(("cp",), ("mv",), ("rsync",), ("cat",)),
        "gcloud": _part_of(("storage", "cp"), ("compute", "scp")),
        "gh": _part_of(("gist", "create"), ("release", "upload"), ("release", "create")),
        "docker": _part_of(("cp",), ("container", "cp")),
        "podman": _part_of(("cp",), ("container", "cp")),
        "kubectl": _part_of(("cp",)),
    }
)
