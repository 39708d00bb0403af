"""Shell commands that programs in other languages run, where they are written as literals.

Only what stands in the place of a command counts: a text that is printed,
compared or assigned is a text.
"""

import re
from collections.abc import Iterator, Mapping
from enum import Enum

from nacre.model.expression import expression
from nacre.syntax.word import HOLE
from nacre.syntax.wrappers.inner import restored
from nacre.syntax.wrappers.literals import Kind, Token
from nacre.syntax.wrappers.program import Program

__all__ = ("calls",)

_DEEPEST = 3
_MOST_CALLS = 200
_LONGEST = 200_000
_ROUGH_CALL = expression(
    r"\b(?:system|p?open|exec\w*|run|call|check_\w+|spawn\w*|rmtree|shell_exec|passthru)"
    r"[ \t]*(?![ \t])\(?\s*(?!\s)\[?\s*[\"'](?=[^\"'\s])([^\"'\n]+)",
    re.IGNORECASE,
)


class _Runs(Enum):
    """How a function is given what it runs."""

    CODE = "one text for a shell"
    WORDS = "one text for a shell, or several words"
    ARRAY = "a list of words, or a program and such a list"
    SHELL_ARRAY = "a list of words, or a text if it is told to use a shell"
    SPREAD = "a path, the name it is run by, and words"
    MODE_SPREAD = "a mode, and then as SPREAD"
    VECTOR = "a path, and a list with the name it is run by"
    MODE_VECTOR = "a mode, and then as VECTOR"
    PIPE = "a text with a bar, or a direction and words"
    REMOVAL = "the path of what it removes"
    RECURSIVE = "the path of what it removes, if it is told to go down"
    PROGRAM = "a program of the same language"


def _same(runs: _Runs, names: str) -> dict[str, _Runs]:
    return dict.fromkeys(names.split(), runs)


_PYTHON = {
    **_same(_Runs.CODE, "system popen popen2 popen3 popen4 getoutput getstatusoutput"),
    **_same(_Runs.CODE, "create_subprocess_shell"),
    **_same(_Runs.SHELL_ARRAY, "run call check_call check_output Popen"),
    **_same(_Runs.WORDS, "create_subprocess_exec"),
    **_same(_Runs.ARRAY, "spawn"),
    **_same(_Runs.SPREAD, "execl execlp execle execlpe"),
    **_same(_Runs.MODE_SPREAD, "spawnl spawnlp spawnle spawnlpe"),
    **_same(_Runs.VECTOR, "execv execvp execve execvpe posix_spawn posix_spawnp"),
    **_same(_Runs.MODE_VECTOR, "spawnv spawnvp spawnve spawnvpe"),
    **_same(_Runs.REMOVAL, "rmtree"),
    **_same(_Runs.PROGRAM, "exec eval compile"),
}
_JAVASCRIPT = {
    **_same(_Runs.CODE, "exec execSync"),
    **_same(_Runs.ARRAY, "spawn spawnSync execFile execFileSync execa execaSync Command"),
    **_same(_Runs.RECURSIVE, "rm rmSync rmdir rmdirSync"),
    **_same(_Runs.REMOVAL, "rimraf rimrafSync removeSync emptyDirSync"),
    **_same(_Runs.PROGRAM, "eval Function runInNewContext runInThisContext"),
}
_PERL = {
    **_same(_Runs.WORDS, "system exec"),
    **_same(_Runs.CODE, "readpipe"),
    **_same(_Runs.PIPE, "open"),
    **_same(_Runs.REMOVAL, "rmtree remove_tree"),
    **_same(_Runs.PROGRAM, "eval"),
}
_RUBY = {
    **_same(_Runs.WORDS, "system exec spawn capture2 capture2e capture3 popen2 popen2e popen3"),
    **_same(_Runs.ARRAY, "popen"),
    **_same(_Runs.CODE, "sh"),
    **_same(_Runs.PIPE, "open"),
    **_same(_Runs.REMOVAL, "rm_rf rm_r rmtree remove_dir remove_entry remove_entry_secure"),
    **_same(_Runs.PROGRAM, "eval instance_eval class_eval"),
}
_PHP = {
    **_same(_Runs.CODE, "system exec shell_exec passthru popen proc_open"),
    **_same(_Runs.VECTOR, "pcntl_exec"),
    **_same(_Runs.PROGRAM, "eval assert create_function"),
}
_FUNCTIONS: Mapping[str, Mapping[str, _Runs]] = {
    "python": _PYTHON,
    "javascript": _JAVASCRIPT,
    "perl": _PERL,
    "ruby": _RUBY,
    "php": _PHP,
    "lua": {**_same(_Runs.CODE, "execute popen"), **_same(_Runs.PROGRAM, "load loadstring")},
    "awk": _same(_Runs.CODE, "system"),
    "r": {
        **_same(_Runs.CODE, "system shell"),
        **_same(_Runs.ARRAY, "system2"),
        **_same(_Runs.RECURSIVE, "unlink"),
    },
    "julia": {},
    "applescript": _same(_Runs.CODE, "script"),
}
# Names that are common for other things; they run commands only where one of these is named.
_GATES: Mapping[tuple[str, str], tuple[str, ...]] = {
    **{
        ("python", name): ("subprocess",)
        for name, runs in _PYTHON.items()
        if runs is _Runs.SHELL_ARRAY
    },
    ("python", "spawn"): ("pty", "pexpect"),
    ("javascript", "exec"): ("child_process", "shelljs", "promisify"),
    ("javascript", "spawn"): ("child_process", "Bun"),
    ("javascript", "Command"): ("Deno",),
    ("applescript", "script"): ("shell",),
}
_SHELLS = frozenset({"sh", "bash", "/bin/sh", "/bin/bash"})
_WITHOUT_BRACKETS = frozenset({"perl", "ruby", "lua", "applescript", "php"})
_PHP_TAG = expression(r"<\?(?:php|=)?")
_TCL_CALL = expression(r"(?:^|[\n;\[{])[ \t]*(?:exec|spawn|system)[ \t]+([^\n;\]}]*)")


def calls(language: str, code: str) -> tuple[str, ...]:
    """The shell commands of a program, once each.

    A program too long to be read well is searched for literals right after a
    name that runs them.
    """
    if len(code) > _LONGEST:
        return tuple(dict.fromkeys(each[1] for each in _ROUGH_CALL.finditer(code)))[:_MOST_CALLS]
    found = (each for each in _calls(language, code, 0) if each.strip())
    return tuple(dict.fromkeys(found))[:_MOST_CALLS]


def _calls(language: str, code: str, depth: int) -> Iterator[str]:
    if language == "tcl":
        yield from (found[1] for found in _TCL_CALL.finditer(code))
        return
    if language == "php" and (opened := _PHP_TAG.search(code)):
        code = code[opened.end() :]
    program = Program(language, code)
    functions = _FUNCTIONS.get(language, {})
    for at, token in enumerate(program.tokens):
        if token.kind is Kind.SHELL:
            yield token.text
        elif token.kind is Kind.TEXT:
            yield from _piped(language, program, at)
        elif token.text in functions and _is_call(language, program, at):
            found = _run(functions[token.text], program, at)
            if functions[token.text] is not _Runs.PROGRAM:
                yield from found
            elif depth < _DEEPEST:
                for inside in found:
                    yield from _calls(language, inside, depth + 1)


def _is_call(language: str, program: Program, at: int) -> bool:
    before = program.tokens[at - 1] if at else Token(Kind.MARK, "")
    if program.tokens[at].kind is not Kind.NAME:
        return False
    if before.kind is Kind.NAME and before.text in {"def", "function", "sub", "fn", "/"}:
        return False
    gates = _GATES.get((language, program.tokens[at].text))
    if gates and not any(each in program.code for each in gates):
        return False
    following = program.tokens[at + 1] if at + 1 < len(program.tokens) else None
    if following is None:
        return False
    return following.text == "(" or (
        language in _WITHOUT_BRACKETS and (following.kind is not Kind.MARK or following.text == "[")
    )


def _piped(language: str, program: Program, at: int) -> Iterator[str]:
    """`"command" | getline` and `print | "command"` of awk; a template after `$` of JavaScript."""
    tokens = program.tokens
    before = [token.text for token in tokens[max(0, at - 2) : at]]
    after = [token.text for token in tokens[at + 1 : at + 4]]
    if language == "javascript" and before[-1:] == ["$"]:
        yield tokens[at].text
    elif language == "awk" and (
        after[:2] == ["|", "getline"] or after[:3] == ["|", "&", "getline"]
    ):
        start = program.statement_start(at)
        yield from _known(program.value(range(start, at + 1)))
    elif (
        language == "awk"
        and before != ["|", "|"]
        and (before[-1:] == ["|"] or before == ["|", "&"])
    ):
        end = program.statement_end(at)
        command = program.value(range(at, end))
        said = program.value(range(program.statement_start(at), at)) if command in _SHELLS else ""
        yield from _known(said.removeprefix(HOLE) or command)


def _run(runs: _Runs, program: Program, at: int) -> Iterator[str]:
    """The commands of one call."""
    arguments = program.arguments(at)
    if not arguments:
        return
    if runs in {_Runs.CODE, _Runs.PROGRAM}:
        yield from _known(program.value(arguments[0]))
    elif runs in {_Runs.REMOVAL, _Runs.RECURSIVE}:
        if runs is _Runs.REMOVAL or program.mentions(arguments[1:], "recursive"):
            removed = program.items(arguments[0]) or [program.value(arguments[0])]
            yield from (f"rm -rf {restored([each])}" for each in removed if each.strip(HOLE))
    elif runs is _Runs.PIPE:
        yield from _opened([program.value(each) for each in arguments[:8]])
    else:
        yield from _known(_argv(runs, program, arguments))


def _known(command: str) -> Iterator[str]:
    """A command whose beginning is known."""
    if command.strip() and command.strip("\"' ")[:1] != HOLE:
        yield command


def _argv(runs: _Runs, program: Program, arguments: list[range]) -> str:
    first = program.items(arguments[0])
    values = [program.value(each) for each in arguments]
    if runs is _Runs.SHELL_ARRAY:
        if first is not None:
            return restored(first)
        shell = program.mentions(arguments[1:], "shell")
        listed = program.mentions(arguments[:1], "split")
        return values[0] if shell or listed or " " not in values[0].strip() else ""
    if runs is _Runs.ARRAY:
        if first is not None:
            return restored(first)
        rest = program.listed(arguments[1:])
        return restored([values[0], *rest]) if rest else values[0]
    if runs is _Runs.WORDS:
        texts = [v for v, each in zip(values, arguments, strict=True) if program.has_text(each)]
        if first is not None:
            return restored(first)
        return texts[0] if len(texts) == 1 == len(values) else restored(texts)
    if runs in {_Runs.MODE_SPREAD, _Runs.MODE_VECTOR}:
        arguments, values = arguments[1:], values[1:]
    if runs in {_Runs.SPREAD, _Runs.MODE_SPREAD}:
        return restored([*values[:1], *values[2:]])
    names = program.items(arguments[1]) if len(arguments) > 1 else None
    return restored([*values[:1], *(names or [])[1:]])


def _opened(values: list[str]) -> Iterator[str]:
    """Commands that Perl's and Ruby's `open` run: `"|command"`, `"command|"`, `"-|", words`."""
    for at, value in enumerate(values):
        text = value.strip()
        if text in {"-|", "|-"}:
            rest = values[at + 1 :]
            if rest:
                yield rest[0] if len(rest) == 1 else restored(rest)
            return
        if text.startswith("|") or text.endswith("|"):
            yield text.strip("|")
