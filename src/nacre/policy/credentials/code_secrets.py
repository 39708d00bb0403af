"""Secrets that code in another language reads.

Nothing is parsed: the code is searched for its name of the environment, and for
texts that are paths of secret files. What is around them tells whether they are
shown, or only asked about, written, or handed on to a process.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from types import MappingProxyType
from typing import NamedTuple

from nacre.model.expression import expression
from nacre.policy.credentials.inline_code import Language, code_of, language_of
from nacre.policy.credentials.secret_files import SecretFiles
from nacre.policy.credentials.secret_names import secret_name
from nacre.policy.guards.guard import Hit
from nacre.syntax.script import Command, Script

__all__ = ("code_dumps_environment", "code_reads_secret_file", "mentions_environ")

Find = Callable[[Command, Script], Hit | None]

_NEAR = 60


class _Environment(NamedTuple):
    """How a language says "the environment", and "this variable of it" right after."""

    whole: re.Pattern[str]
    one: re.Pattern[str]


_KEY = r"""\s*['"`:]?([A-Za-z_]\w*)"""
_ENVIRONMENTS: Mapping[Language, _Environment] = MappingProxyType(
    {
        "python": _Environment(
            expression(r"\b(?:os\.)?environb?\b|\b(?:os\.)?getenvb?(?=\(\s*['\"])"),
            expression(rf"\[{_KEY}|(?:\.(?:get|pop|setdefault|update))?\({_KEY}"),
        ),
        "node": _Environment(
            expression(r"\b(?:process|Bun|Deno)(?:\.env\b|\[['\"]env['\"]\])"),
            expression(rf"(?:\?\.|\.get\(|\.has\(|\.|\[){_KEY}"),
        ),
        "ruby": _Environment(
            expression(r"\bENV\b"),
            expression(rf"\[{_KEY}|\.(?:fetch|key\?|has_key\?|include\?|delete)[( ]{_KEY}"),
        ),
        "perl": _Environment(expression(r"[%$@]\{?ENV\b"), expression(rf"\{{{_KEY}")),
        "php": _Environment(
            expression(r"\bgetenv(?=\()|\$_ENV\b|\$_SERVER\b"), expression(rf"[\[(]{_KEY}")
        ),
        "awk": _Environment(expression(r"\bENVIRON\b"), expression(r'\[\s*"(\w+)"')),
        "jq": _Environment(
            expression(r"(?<![\w.$\"@])env\b(?!\s*[:\w\"])|\$ENV\b"),
            expression(rf"\.?\[{_KEY}|\.{_KEY}"),
        ),
        "other": _Environment(
            expression(r"\bSys\.getenv\b|\bENV\b|\bSystem\.get_env\b|\bos\.getenv(?=\()"),
            expression(rf"[\[(]{_KEY}"),
        ),
    }
)
_TO_OBJECT = expression(r"\.toObject\b")
# Before it: given to a process, asked whether it has something, or taken apart by name.
_HANDED_ON = expression(
    r"""\benv\s*[=:]\s*(?:\{\s*(?:\*\*|\.\.\.)|dict\(\s*)?$|['"]\s+(?:not\s+)?in\s+$|\bimport\s+$"""
)
_TAKEN_APART = expression(r"\{(?P<names>[^{}]*)\}\s*=\s*$")
_PRINTS_ALIAS = expression(r"(?:print|log|write|dumps?)\w*\(\s*(?:dict\()?env\b(?!\s*[.\[])")
_PRINTS = expression(
    r"\b(?:print\w*|echo|puts?|p|pp|say|log|write\w*|dump\w*|warn|die|info|debug|error|exit)\b"
)
_ONLY_ASKED = expression(
    r"(?:\b(?:bool|len|defined|isset|empty|typeof|Boolean|exists|not)\s*\(?\s*|!!?\s*)$"
)
_STATEMENT = expression(r"[;\n{]")

_CONCATENATED = expression(r"""['"]\s*[+.]\s*['"]""")
_LITERAL = expression(r"""'([^'\n]{2,200})'|"([^"\n]{2,200})"|`([^`\n]{2,200})`""")
_BLANK = expression(r"\s")
# Around a path: it is looked for, listed, written, removed, loaded, or compared.
_UNREAD_BEFORE = expression(
    r"""(?:\b(?:exists?\?? | is_?file\?? | is_?dir | existsSync | access(?:Sync)? | l?stat(?:Sync)?
        | getsize | getmtime | chmod(?:Sync)? | touch | unlink(?:Sync)? | remove | rm(?:Sync)?
        | mkdir(?:Sync)? | makedirs | listdir | readdir(?:Sync)? | load_dotenv | set_key
        | writeFile(?:Sync)? | appendFile(?:Sync)? | File\.write | endswith | startswith | includes
        | basename | configDotenv)\s*\(\s*
      | \bdotenv_path\s*=\s* | \bconfig\(\{\s*path:\s* | [=!]=\s* )$""",
    re.VERBOSE,
)
_UNREAD_AFTER = expression(
    r"""\s*(?:,\s*(?:mode\s*=\s*)?['"][wax] | :\s | (?:not\s+)?in\b
      | \)\.(?:write_text|write_bytes|exists|touch|unlink|is_file|stat)\b)""",
    re.VERBOSE,
)


def code_dumps_environment(command: Command, script: Script) -> Hit | None:
    """Find code that shows the environment, or a secret variable of it."""
    language = language_of(command)
    environment = _ENVIRONMENTS[language]
    for word in code_of(command, script):
        code = word.templates[0]
        for found in environment.whole.finditer(code):
            if said := _shows(code, found, environment, always=_always_prints(command, language)):
                return Hit(command.span, said)
    return None


def _always_prints(command: Command, language: Language) -> bool:
    return language == "jq" or (
        language == "node" and any(word.templates[0][:2] == "-p" for word in command.words)
    )


def _shows(code: str, found: re.Match[str], environment: _Environment, *, always: bool) -> str:
    before = code[max(0, found.start() - _NEAR) : found.start()]
    one = environment.one.match(code, found.end())
    if one is None or _TO_OBJECT.match(code, found.end()):
        return found[0] if _whole_is_shown(code, before) else ""
    name = next(each for each in one.groups() if each)
    if not secret_name(name) or _ONLY_ASKED.search(before):
        return ""
    statement = _STATEMENT.split(before)[-1]
    return name if always or _PRINTS.search(statement) else ""


def _whole_is_shown(code: str, before: str) -> bool:
    if taken := _TAKEN_APART.search(before):
        return any(secret_name(name) for name in re.findall(r"\w+", taken["names"]))
    if _HANDED_ON.search(before):
        return _PRINTS_ALIAS.search(code) is not None
    return True


def code_reads_secret_file(files: SecretFiles) -> Find:
    """Find code that has the path of a secret file in it, as if to read it."""

    def find(command: Command, script: Script) -> Hit | None:
        for word in code_of(command, script):
            for template in word.templates:
                code = _CONCATENATED.sub("", template)
                if not files.hinted(code):
                    continue
                for path in _paths(code):
                    if files.has_literal(path):
                        return Hit(command.span, path)
        return None

    return find


def _paths(code: str) -> Iterator[str]:
    """Texts in code that are likely to be read as paths."""
    for found in _LITERAL.finditer(code):
        text = next(each for each in found.groups() if each).lstrip("< ")
        if _BLANK.search(text):
            continue
        before = code[max(0, found.start() - _NEAR) : found.start()]
        if not _UNREAD_BEFORE.search(before) and not _UNREAD_AFTER.match(code, found.end()):
            yield text


def mentions_environ(command: Command, script: Script) -> Hit | None:
    """Find awk code with its table of the environment in it, however it is used."""
    for word in code_of(command, script):
        if "ENVIRON" in word.templates[0]:
            return Hit(command.span, "ENVIRON")
    return None
