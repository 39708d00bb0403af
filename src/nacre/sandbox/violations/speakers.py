"""Which command of a script could have said a line, and where it stood."""

from functools import cached_property
from posixpath import dirname, join, normpath

from nacre.model.expression import expression
from nacre.sandbox.violations.complaint import Access, Complaint
from nacre.sandbox.violations.evidence import Evidence
from nacre.sandbox.violations.programs import acts, is_quiet, is_text, speaks
from nacre.sandbox.violations.wording import is_nameless, speaker_of
from nacre.syntax.script import Command
from nacre.syntax.word import CWD, HOME, Word, known

__all__ = ("Speakers", "beneath")

_FOLDER_OPTIONS = frozenset({"-C", "--directory", "-d", "--prefix"})
_PATH = expression(r"(?:(?<=['\"\s=<>(:@])|^)(?:~|\$HOME|\$\{HOME\})?/[^\s'\"`<>|;&()$*?:,\\]+")
_MOST_PATHS = 50
_MOST_COMMANDS = 200


class Speakers:
    """A script, asked who in it speaks."""

    def __init__(self, evidence: Evidence) -> None:
        self._cwd = str(evidence.cwd)
        self._home = evidence.home
        script = evidence.script
        self._text = script.text[: 1 << 16] if script else ""
        self._all = script.commands[:_MOST_COMMANDS] if script else ()
        self._unknown = script is None or bool(script.unreadable)

    def believed(self, complaint: Complaint) -> bool:
        """Whether a complaint is one, and not a text that was printed."""
        program = complaint.program
        if self._unknown or self.runs_others:
            return True
        if complaint.shell:
            return self._tied(complaint, self._all)
        if not program:
            return complaint.nameless and any(map(speaks, self._all))
        named = [command for command in self._all if program in command.names]
        if not named:
            return False
        return not all(map(is_text, named)) or self._tied(complaint, named)

    def could_say(self, line: str) -> bool:
        """Whether a line is an error of some command, and not a text that was printed."""
        if self._unknown or self.runs_others:
            return True
        program, shell = speaker_of(line)
        if shell:
            return any(map(acts, self._all)) or "/dev/" in self._text
        if not program:
            return is_nameless(line) and any(map(speaks, self._all))
        return any(program in command.names for command in self._all)

    @cached_property
    def runs_others(self) -> bool:
        """Whether a command could start programs that the script does not name."""
        return any(not is_quiet(command) for command in self._all)

    def folders(self, program: str) -> tuple[str, ...]:
        """Where a relative path of a program's message could start, most likely first."""
        named = [command for command in self._all if program and program in command.names]
        found: dict[str, None] = {}
        for command in named or self._all:
            folder = self._path(command.cwd, self._cwd) or self._cwd
            for option, value in zip(command.words, command.words[1:], strict=False):
                if option.value in _FOLDER_OPTIONS and (path := self._of(value, folder)):
                    found[path] = None
            found[folder] = None
        if not named:
            # The last folder is where it was when it failed, more often than the first.
            found = dict.fromkeys(reversed(found))
        return tuple(found) or (self._cwd,)

    def redirected(self, path: str) -> Access | None:
        """What a redirection or the name of a command does with a path."""
        for command in self._all:
            folder = self._path(command.cwd, self._cwd) or self._cwd
            for redirection in command.redirections:
                if redirection.target and self._of(redirection.target, folder) == path:
                    return Access.WRITE if redirection.writes else Access.READ
            if command.words and self._of(command.words[0], folder) == path:
                return Access.RUN
        return None

    @cached_property
    def paths(self) -> tuple[str, ...]:
        """The paths that a script names in full, in its words or in the code it hands on."""
        found: dict[str, None] = {}
        for match in _PATH.finditer(self._text):
            path = match[0]
            if not path.startswith("/"):
                path = (self._home or "") + path[path.index("/") :]
            if path.startswith("/"):
                found[normpath(path)] = None
            if len(found) == _MOST_PATHS:
                break
        return tuple(found)

    @property
    def text(self) -> str:
        """The script itself, or its start."""
        return self._text

    @property
    def last(self) -> str:
        """The name of the command that ended the script, if that is plain."""
        names = self._all[-1].names if self._all else ()
        return names[0] if len(names) == 1 else ""

    def named(self, *names: str) -> bool:
        """Whether a command with one of these names is in the script."""
        return any(name in command.names for command in self._all for name in names)

    def _tied(self, complaint: Complaint, commands: "tuple[Command, ...] | list[Command]") -> bool:
        for command in commands:
            folder = self._path(command.cwd, self._cwd) or self._cwd
            targets = [each.target for each in command.redirections if each.target]
            for word in (*command.words, *targets):
                if word.opaque and HOME not in word.templates[0]:
                    if complaint.program in command.names or complaint.shell:
                        return True
                    continue
                path = self._of(word, folder)
                said = [normpath(join(folder, each)) for each in complaint.paths]
                if path and any(beneath(each, path) or _beside(each, path) for each in said):
                    return True
        return not set(complaint.paths).isdisjoint(self.paths)

    def _of(self, word: Word, folder: str) -> str | None:
        return self._path(word.templates[0], folder)

    def _path(self, template: str, folder: str) -> str | None:
        if HOME in template and self._home:
            template = template.replace(HOME, self._home)
        template = template.replace(CWD, self._cwd)
        if not template or not known(template):
            return None
        return normpath(join(folder, template))


def beneath(path: str, root: str) -> bool:
    """Whether a path is a root or lies in it."""
    return path == root or path.startswith(root if root.endswith("/") else f"{root}/")


def _beside(path: str, named: str) -> bool:
    """Whether it could be the temporary file for a file that is to be replaced."""
    return dirname(path) == dirname(named) and path.startswith(f"{dirname(path)}/sed")
