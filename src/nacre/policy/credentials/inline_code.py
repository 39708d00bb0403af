"""The code that an interpreter is given on its command line or through its input."""

import re
from collections.abc import Iterator, Mapping
from types import MappingProxyType

from nacre.model.expression import expression
from nacre.policy.credentials.neighbours import pipeline_of
from nacre.policy.reading.flags import Grammar, arguments
from nacre.syntax.script import Command, Place, Script
from nacre.syntax.word import Word

__all__ = ("CODE_TOOLS", "Language", "code_of", "language_of")

Language = str

_OPTIONS: Mapping[Language, re.Pattern[str]] = MappingProxyType(
    {
        "python": expression(r"-[A-Za-z]*c"),
        "node": expression(r"-[a-z]*[ep]|--eval|--print|eval"),
        "ruby": expression(r"-[A-Za-z]*e"),
        "perl": expression(r"-[A-Za-z0]*[eE]"),
        "php": expression(r"-[a-z]*[rBRE]"),
        "other": expression(r"-[a-z]*e|--eval"),
    }
)
_LANGUAGES: Mapping[str, Language] = MappingProxyType(
    dict.fromkeys(["python", "python2", "python3", "pypy", "pypy3", "ipython"], "python")
    | dict.fromkeys([f"python3.{minor}" for minor in range(6, 20)], "python")
    | dict.fromkeys(["node", "nodejs", "bun", "deno", "tsx", "ts-node"], "node")
    | dict.fromkeys(["awk", "gawk", "mawk", "nawk"], "awk")
    | dict.fromkeys(["jq", "gojq", "jaq"], "jq")
    | dict.fromkeys(["Rscript", "julia", "elixir", "lua"], "other")
    | {"ruby": "ruby", "perl": "perl", "php": "php"}
)

CODE_TOOLS = frozenset(_LANGUAGES)

_AWK = Grammar(valued=frozenset({"f", "v", "F", "file", "assign", "field-separator"}))
_JQ = Grammar(valued=frozenset({"f", "L", "indent", "from-file"}))
_JQ_PAIRS = frozenset({"--arg", "--argjson", "--rawfile", "--slurpfile"})


def language_of(command: Command) -> Language:
    """The language of the code a command is given; empty if it is no interpreter."""
    return next((_LANGUAGES[name] for name in command.names if name in _LANGUAGES), "")


def code_of(command: Command, script: Script) -> Iterator[Word]:
    """The code a command runs, as words: given to an option, as an operand, or as input."""
    language = language_of(command)
    if language == "awk":
        yield from arguments(command.words[1:], _AWK).operands[:1]
    elif language == "jq":
        yield from arguments(_without_pairs(command.words[1:]), _JQ).operands[:1]
    elif language:
        yield from _given(command.words[1:], _OPTIONS[language])
        yield from _input(command, script)


def _without_pairs(words: tuple[Word, ...]) -> tuple[Word, ...]:
    kept: list[Word] = []
    rest = iter(words)
    for word in rest:
        if word.value in _JQ_PAIRS:
            next(rest, None)
            next(rest, None)
        else:
            kept.append(word)
    return tuple(kept)


def _given(words: tuple[Word, ...], options: re.Pattern[str]) -> Iterator[Word]:
    for word, following in zip(words, (*words[1:], None), strict=False):
        found = options.match(word.templates[0])
        if found is None:
            continue
        if found.end() < len(word.templates[0]):
            yield word
        elif following is not None:
            yield following


def _input(command: Command, script: Script) -> Iterator[Word]:
    for each in command.redirections:
        if each.body is not None:
            yield each.body
        elif each.operator == "<<<" and each.target is not None:
            yield each.target
    if Place.PIPED_IN not in command.places:
        return
    for other in pipeline_of(command, script):
        if other.stage == command.stage - 1:
            if {"echo", "printf"} & set(other.names):
                yield from other.words[1:]
            yield from (each.body for each in other.redirections if each.body is not None)
