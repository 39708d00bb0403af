"""Ordinary programs that run a command because one of their options says so."""

import re
from collections.abc import Callable, Iterator, Mapping

from nacre.model.expression import expression
from nacre.model.value import dataclass
from nacre.syntax.script import ViaKind
from nacre.syntax.word import Word
from nacre.syntax.wrappers.inner import Inner, Invocation, Reader, changed, derived
from nacre.syntax.wrappers.options import Options, Unknown, options, readings
from nacre.syntax.wrappers.prefix import names
from nacre.syntax.wrappers.remotes import local_commands

__all__ = ("CALLOUTS",)


@dataclass(frozen=True, slots=True)
class _Callout:
    """Options of which some have a command as their value."""

    options: Options
    codes: frozenset[str]


def _callout(codes: str, valued: str = "", plain: str = "", style: str = "permuted") -> _Callout:
    known = options(f"{codes} {valued}", plain, unknown=Unknown.PLAIN, style=style)
    return _Callout(known, names(codes))


_TABLE: Mapping[str, _Callout] = {
    "sort": _callout("--compress-program", "-k -o -S -t -T --key --output --field-separator"),
    "man": _callout("-P -H --pager --html", "-M -S -s -L -m -p -C -E --manpath --sections"),
    "split": _callout("--filter", "-a -b -C -l -n -t --bytes --lines --number"),
    "install": _callout("--strip-program", "-g -m -o -S -t"),
    "wget": _callout("--use-askpass", "-O -o -P -U --header --post-data --user-agent"),
    "tcpdump": _callout("-z", "-B -c -C -D -E -F -G -i -j -m -M -r -s -T -V -w -W -y -Z"),
    "zip": _callout("-TT --unzip-command", "-b -i -n -P -t -x", style="permuted worded"),
    "rg": _callout("--pre --hostname-bin", "-e -f -g -A -B -C -m -t -T -r -M -j --glob --type"),
    "ack": _callout("--pager", "-A -B -C -m --type"),
    "ag": _callout("--pager", "-A -B -C -m -G -p"),
    "bat": _callout("--pager", "-l -r -H --language --theme --style"),
    "fzf": _callout("--preview", "-q -f -d -n -m --query --filter --height --border --bind"),
    "nc": _callout("-e -c", "-i -I -m -M -O -p -P -q -s -T -V -w -W -x -X"),
    "ncat": _callout(
        "-e -c --exec --sh-exec --lua-exec", "-g -G -i -m -d -o -p -s -w -x --proxy --source"
    ),
    "go": _callout("-exec -toolexec -vettool", "-run -o -tags", style="permuted worded exact"),
    "cargo-watch": _callout("-s --shell", "-w -i -d --watch --ignore --delay"),
    "crash": _callout("-c"),
    "logrotate": _callout("-m --mail", "-s -l --state --log"),
    "bpftrace": _callout("-c", "-e -p -o -f -B"),
    "sbatch": _callout("--wrap", "-A -c -J -n -N -o -p -t"),
    "chokidar": _callout("-c --command", "-d -t --debounce --throttle"),
    "cpio": _callout("--rsh-command", "-C -E -F -H -I -M -O -R"),
    "scp": _callout("-S", "-c -D -F -i -J -l -o -P -X"),
    "sftp": _callout("-S", "-B -b -c -D -F -i -J -l -o -P -R -s -X"),
}
_SSH_OPTION = names("-o")
_NO_COMMAND = frozenset({"", "never", "auto", "always"})


def _by_table(invocation: Invocation) -> Iterator[Inner]:
    callout = _TABLE[invocation.name]
    via = invocation.via(ViaKind.CODE)
    for reading in readings(invocation.arguments, callout.options):
        for code in reading.values(callout.codes):
            if code.value not in _NO_COMMAND:
                yield Inner(via=via, code=(code,))
        if invocation.name in {"scp", "sftp"}:
            yield from local_commands(invocation, reading.values(_SSH_OPTION))


_TAR_LETTERS = "-b -C -f -F -g -H -I -K -L -N -T -V -X"
_TAR_LONG = (
    " --checkpoint-action --to-command --use-compress-program --info-script --new-volume-script"
    " --rsh-command --file --directory --exclude --files-from --transform --owner --group --mode"
)
_TAR_PLAIN = "--checkpoint --use-set-x --to-stdout --gzip --bzip2 --xz --zstd --create --extract"
_TAR = options(
    _TAR_LETTERS + _TAR_LONG, _TAR_PLAIN, "--checkpoint", unknown=Unknown.PLAIN, style="permuted"
)
_OLD_TAR = options(
    _TAR_LETTERS + _TAR_LONG, _TAR_PLAIN, unknown=Unknown.PLAIN, style="permuted detached"
)
_TAR_CODES = names(
    "-I -F --to-command --use-compress-program --info-script --new-volume-script --rsh-command"
)
_CHECKPOINT = names("--checkpoint-action")
_LETTERS = expression(r"[A-Za-z]+$")


def _tar(invocation: Invocation) -> Iterator[Inner]:
    """Commands given to `tar`; its first word may be letters without a dash."""
    words, known = invocation.arguments, _TAR
    if words and _LETTERS.match(words[0].templates[0]):
        words, known = (changed(words[0], lambda text: f"-{text}"), *words[1:]), _OLD_TAR
    via = invocation.via(ViaKind.CODE)
    for reading in readings(words, known):
        codes = reading.values(_TAR_CODES)
        for action in reading.values(_CHECKPOINT):
            if action.templates[0].startswith("exec="):
                codes.append(changed(action, lambda text: text.removeprefix("exec=")))
        yield from (Inner(via=via, code=(code,)) for code in codes)


_RSYNC = options(
    "-e -f -M -B -T --rsh --rsync-path --exclude --include --filter --exclude-from --include-from"
    " --files-from --bwlimit --port --log-file --partial-dir --temp-dir --compare-dest --link-dest"
    " --backup-dir --suffix --timeout --chmod --chown --info --out-format --password-file",
    "",
    unknown=Unknown.PLAIN,
    style="permuted",
)
_RSH = names("-e --rsh")
_RSYNC_PATH = names("--rsync-path")


def _rsync(invocation: Invocation) -> Iterator[Inner]:
    for reading in readings(invocation.arguments, _RSYNC):
        for code in reading.values(_RSH):
            yield Inner(via=invocation.via(ViaKind.CODE), code=(code,))
        for code in reading.values(_RSYNC_PATH):
            yield Inner(via=invocation.via(ViaKind.REMOTE), code=(code,))


def _socat(text: str) -> str:
    kind, _, rest = text.partition(":")
    return rest if kind.upper() in {"EXEC", "SYSTEM", "SHELL"} else ""


def _apt(text: str) -> str:
    key, _, value = text.partition("=")
    return value if "invoke" in key.lower() else ""


def _make(text: str) -> str:
    """The text of `$(shell ...)`."""
    start, end = text.find("(shell "), text.rfind(")")
    return text[start + 7 : end] if 0 <= start < end else ""


def _part(extract: Callable[[str], str]) -> Reader:
    """Read a part of any word as a command."""

    def read(invocation: Invocation) -> Iterator[Inner]:
        via = invocation.via(ViaKind.CODE)
        for word in invocation.arguments:
            for code in map(extract, word.templates):
                if code:
                    yield Inner(via=via, code=(derived(word, code),))

    return read


_EX_COMMAND = expression(
    r"(?:^|[|\n])[: \t]*(?![: \t])(?:sil(?:ent)?!?[ \t]+(?![ \t]))?[%\d,.$;'<>]*[ \t]*"
    r"(?:(?:r(?:ead)?|w(?:rite)?)[ \t]*)?!([^\n]+)"
    r"|\bsystem(?:list)?\([ \t]*(?:\"([^\"]*)\"|'([^']*)')"
)
_GDB_COMMAND = expression(
    r"(?:^|\n)[ \t]*(?:!|shell[ \t]|make[ \t])([^\n]+)|\bsystem\(\"([^\"]*)\"\)"
)
_SQL_COMMAND = expression(
    r"(?:^|[\n;])[ \t]*(?:\\!|\\?\.?(?:shell|system)[ \t])([^\n]+)", re.IGNORECASE
)
_LISP_COMMAND = expression(
    r"\([ \t]*(?:shell-command(?:-to-string)?|call-process-shell-command)[ \t]+\"([^\"]*)\""
)
_FTP_COMMAND = expression(r"(?:^|\n)[ \t]*!([^\n]+)")


@dataclass(frozen=True, slots=True)
class _Editor:
    """A program with a language of its own, some of whose lines a shell reads."""

    options: Options
    codes: frozenset[str]
    escape: re.Pattern[str]
    operands: bool = False


_VIM = _Editor(
    options(
        "-c -S -s -t -T -u -U -w -W -i --cmd --servername --remote-expr --remote-send",
        "-e -E -es -R -n -N -y -b -d -o -O -p -v -X -Z --clean --noplugin --not-a-term",
        unknown=Unknown.PLAIN,
        style="permuted",
    ),
    names("-c --cmd"),
    _EX_COMMAND,
)
_GDB = _Editor(
    options(
        "-ex -iex -eval-command -init-eval-command -x -command -d -cd -p -pid -c -core -s -e -o"
        " -O -b -k -S",
        "-args -batch -nx -n -q -quiet -silent -return-child-result -tui",
        unknown=Unknown.PLAIN,
        style="worded",
    ),
    names("-ex -iex -eval-command -init-eval-command -o -O"),
    _GDB_COMMAND,
)
_SQL = _Editor(
    options(
        "-c -e -d -h -U -p -f -v -u -P -cmd -separator --command --execute --dbname --host --user",
        unknown=Unknown.PLAIN,
        style="permuted",
    ),
    names("-c -e -cmd --command --execute"),
    _SQL_COMMAND,
    operands=True,
)
_EMACS = _Editor(
    options(
        "-eval -execute -f -l -load -funcall",
        unknown=Unknown.PLAIN,
        style="permuted worded",
    ),
    names("-eval -execute"),
    _LISP_COMMAND,
)
_FTP = _Editor(options(unknown=Unknown.PLAIN), frozenset(), _FTP_COMMAND)
_EDITORS = {
    **dict.fromkeys(names("vim vi nvim view ex vimdiff gvim rvim ed red"), _VIM),
    **dict.fromkeys(names("gdb lldb"), _GDB),
    **dict.fromkeys(names("sqlite3 sqlite psql mysql mariadb"), _SQL),
    **dict.fromkeys(names("emacs emacsclient"), _EMACS),
    **dict.fromkeys(names("ftp telnet"), _FTP),
}
_LINE_READERS = names("ex ed red sqlite3 sqlite psql mysql mariadb ftp gdb lldb")
_EX_MODE = names("-e -E")
_GDB_ARGS = names("-args")


def _editor(invocation: Invocation) -> Iterator[Inner]:
    """Shell commands among an editor's or a debugger's own, and the program it debugs."""
    editor = _EDITORS[invocation.name]
    via = invocation.via(ViaKind.CODE)
    for reading in readings(invocation.arguments, editor.options):
        texts = reading.values(editor.codes)
        if editor.operands:
            texts += reading.operands
        if editor is _VIM:
            texts += (_after_plus(word) for word in reading.operands)
        if invocation.stdin and (invocation.name in _LINE_READERS or reading.has(_EX_MODE)):
            texts.append(invocation.stdin)
        for text in texts:
            yield from (Inner(via=via, code=(code,)) for code in _escaped(editor.escape, text))
        if editor is _GDB and (reading.has(_GDB_ARGS) or reading.before is not None):
            words = tuple(reading.operands)
            if words:
                yield Inner(via=invocation.via(ViaKind.EXEC), words=words)


def _after_plus(word: Word) -> Word:
    return changed(word, lambda text: text[1:] if text[:1] == "+" else "")


def _escaped(escape: re.Pattern[str], text: Word) -> Iterator[Word]:
    for template in text.templates:
        for found in escape.finditer(template):
            code = next((each for each in found.groups() if each), "")
            yield derived(text, code)


CALLOUTS: Mapping[str, Reader] = {
    **dict.fromkeys(_TABLE, _by_table),
    **dict.fromkeys(_EDITORS, _editor),
    **dict.fromkeys(names("tar gtar bsdtar"), _tar),
    **dict.fromkeys(names("apt apt-get aptitude"), _part(_apt)),
    **dict.fromkeys(names("make gmake"), _part(_make)),
    "rsync": _rsync,
    "socat": _part(_socat),
}
