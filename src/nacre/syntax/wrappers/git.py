"""The commands that git runs because its options or settings say so."""

import re
from collections.abc import Iterator, Mapping, Sequence

from nacre.model.expression import expression
from nacre.syntax.script import ViaKind
from nacre.syntax.word import Word
from nacre.syntax.wrappers.inner import Inner, Invocation, Reader, changed, derived, quoted
from nacre.syntax.wrappers.options import Unknown, options, readings
from nacre.syntax.wrappers.prefix import Prefix, behind, names
from nacre.syntax.wrappers.split import split

__all__ = ("git",)

_GLOBAL = options(
    "-C -c --git-dir --work-tree --namespace --super-prefix --config-env --attr-source",
    "-p -P -h -v --paginate --no-pager --bare --no-replace-objects --literal-pathspecs"
    " --glob-pathspecs --noglob-pathspecs --icase-pathspecs --no-optional-locks --no-lazy-fetch"
    " --html-path --man-path --info-path --no-advice",
    "--exec-path --list-cmds",
)
_SETTING = names("-c")

# Settings whose value is a command. Some are about one thing each: `filter.NAME.clean`.
_COMMAND_SETTING = expression(
    r"(?:core\.(?:pager|sshcommand|editor|askpass|fsmonitor|gitproxy|alternaterefscommand)"
    r"|sequence\.editor|diff\.external|interactive\.difffilter|gpg\.program"
    r"|uploadpack\.packobjectshook|pager\..*|credential\.(?:.*\.)?helper"
    r"|(?:diff|filter|merge|mergetool|difftool|browser|man|guitool|trailer|gpg|sendemail|remote"
    r"|tar|submodule)\..*\.?(?:command|textconv|clean|smudge|process|driver|cmd|program"
    r"|uploadpack|receivepack|update|defaultkeycommand)"
    r"|sendemail\.(?:sendmailcmd|tocmd|cccmd|headercmd|smtpserver))$",
)
_NO_COMMAND = frozenset({"", "true", "false", "yes", "no", "on", "off", "0", "1"})
_RUN_OPTIONS = {
    "rebase": "-x --exec",
    "difftool": "-x --extcmd",
    "clone": "-u --upload-pack",
    "fetch": "--upload-pack",
    "pull": "--upload-pack",
    "ls-remote": "--upload-pack --exec",
    "fetch-pack": "--upload-pack --exec",
    "push": "--receive-pack --exec",
    "send-pack": "--receive-pack --exec",
    "archive": "--exec",
    "filter-branch": "--tree-filter --index-filter --env-filter --msg-filter --commit-filter"
    " --parent-filter --tag-name-filter --setup",
    "send-email": "--to-cmd --cc-cmd --header-cmd --sendmail-cmd --smtp-server",
    "instaweb": "--httpd --browser",
}
_TRANSPORT = expression(r"ext::(.*)", re.DOTALL)


_CODES = {name: names(each) for name, each in _RUN_OPTIONS.items()}
_CODES["grep"] = names("-O --open-files-in-pager")
_OPTIONS = {
    name: options(f"{each} --config -o", unknown=Unknown.PLAIN, style="permuted")
    for name, each in _RUN_OPTIONS.items()
}
_OPTIONS["grep"] = options(
    "-e -f -m -A -B -C", "", "-O --open-files-in-pager", unknown=Unknown.PLAIN, style="permuted"
)
_CLONE_SETTING = names("-c --config")
_CLONE = options("-c --config", unknown=Unknown.PLAIN, style="permuted")
_FOREACH = Prefix(options=options("", "--recursive -q --quiet"), kind=ViaKind.FANOUT, joins=True)


def git(invocation: Invocation) -> Iterator[Inner]:
    """Aliases, settings and options that name a command, and subcommands that run one."""
    for reading in readings(invocation.arguments, _GLOBAL):
        settings = reading.values(_SETTING)
        yield from _set(invocation, settings)
        if not reading.operands:
            continue
        name, rest = reading.operands[0].value or "", tuple(reading.operands[1:])
        yield from _aliased(invocation, settings, name, rest)
        if name in _OPTIONS:
            yield from _optioned(invocation, name, rest)
        elif name in _RUNS:
            yield from _RUNS[name](invocation._replace(arguments=rest))
        yield from _transported(invocation, rest)


def _set(invocation: Invocation, settings: Sequence[Word]) -> Iterator[Inner]:
    for word in settings:
        key, _, value = word.templates[0].partition("=")
        if value.lower() not in _NO_COMMAND and _COMMAND_SETTING.match(key.lower()):
            code = changed(word, lambda text: text.partition("=")[2].removeprefix("!"))
            yield Inner(via=invocation.via(ViaKind.CODE), code=(code,))


def _aliased(
    invocation: Invocation, settings: Sequence[Word], name: str, rest: tuple[Word, ...]
) -> Iterator[Inner]:
    for word in settings:
        for template in word.templates:
            key, _, value = template.partition("=")
            if not name or key.lower() != f"alias.{name.lower()}":
                continue
            if value.startswith("!"):
                code = (derived(word, value[1:]), *(quoted(each) for each in rest))
                yield Inner(via=invocation.via(ViaKind.CODE), code=code)
            else:
                words = (derived(word, each) for each in split(value))
                yield Inner(
                    via=invocation.via(ViaKind.EXEC), words=(invocation.program, *words, *rest)
                )


def _optioned(invocation: Invocation, name: str, rest: tuple[Word, ...]) -> Iterator[Inner]:
    via = invocation.via(ViaKind.FANOUT if name == "rebase" else ViaKind.CODE)
    for reading in readings(rest, _OPTIONS[name]):
        codes = reading.values(_CODES[name])
        yield from (Inner(via=via, code=(code,)) for code in codes)
    if name == "clone":
        for reading in readings(rest, _CLONE):
            yield from _set(invocation, reading.values(_CLONE_SETTING))


def _transported(invocation: Invocation, words: Sequence[Word]) -> Iterator[Inner]:
    """`ext::command` in the place of an address; `% ` in it is a blank."""
    for word in words:
        if found := _TRANSPORT.match(word.templates[0]):
            code = derived(word, found[1].replace("% ", " "))
            yield Inner(via=invocation.via(ViaKind.CODE), code=(code,))


def _submodule(invocation: Invocation) -> Iterator[Inner]:
    words = [word for word in invocation.arguments if word.value not in {"-q", "--quiet"}]
    if words and words[0].value == "foreach":
        yield from behind(_FOREACH, invocation._replace(arguments=tuple(words[1:])))


def _bisect(invocation: Invocation) -> Iterator[Inner]:
    words = invocation.arguments
    if len(words) > 1 and words[0].value == "run":
        yield Inner(via=invocation.via(ViaKind.FANOUT), words=words[1:])


def _for_each_repo(invocation: Invocation) -> Iterator[Inner]:
    known = options("--config", "--keep-going")
    for reading in readings(invocation.arguments, known):
        words = (invocation.program, *reading.operands)
        yield Inner(via=invocation.via(ViaKind.FANOUT), words=words)


_RUNS: Mapping[str, Reader] = {
    "submodule": _submodule,
    "bisect": _bisect,
    "for-each-repo": _for_each_repo,
}
