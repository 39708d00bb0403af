"""What allow rules cover: a command is allowed if it is surely no more than a rule says.

A rule covers a command's words. It does not cover the files it writes by
redirection, the variables it sets, the options that run other programs, or what
a wrapper runs.
"""

from collections.abc import Iterator, Sequence

from nacre.policy.rules.against import runs_unknown_code
from nacre.policy.rules.lines import known_lines, written_line
from nacre.policy.rules.pattern import Pattern, collapsed
from nacre.policy.rules.reach import further_reach
from nacre.policy.rules.reach_git import harmless_globals, inside
from nacre.policy.rules.rule import Rule
from nacre.policy.rules.safe import redirection_gap, setting_gap, steering_name
from nacre.syntax.script import Command, Place, Script, ViaKind
from nacre.syntax.tree import Span
from nacre.syntax.word import CWD, HOME, Word, shown

__all__ = ("Allowed", "Cover", "runs")

# They run no program, and change nothing outside the script.
_NOTHING = frozenset({":", "[", "break", "continue", "exit", "false", "return", "test", "true"})

# Wrappers that no rule with a star covers, whatever it says of what they run.
_NEVER_BY_STAR = frozenset({"flock", "ionice", "setsid", "watch"})

# Programs whose name in a rule does not say that any code is meant.
_READERS = frozenset({"awk", "gawk", "gsed", "jq", "make", "mawk", "nawk", "sed"})

_MADE_UP = frozenset("$`{*?[")


class Allowed:
    """Allow rules, found quickly by the word they begin with."""

    def __init__(self, rules: Sequence[Rule]) -> None:
        patterns = [(rule.pattern, rule) for rule in rules if rule.pattern]
        self.everything = any(pattern.everything for pattern, _ in patterns)
        self.exact = frozenset(pattern.text for pattern, _ in patterns if pattern.exact)
        self._any_word: list[tuple[Pattern, Rule]] = []
        self._by_word: dict[str, list[tuple[Pattern, Rule]]] = {}
        for each in patterns:
            word = each[0].first_word
            if word is None:
                self._any_word.append(each)
            else:
                self._by_word.setdefault(word, []).append(each)

    def beginning(self, *words: str) -> Iterator[tuple[Pattern, Rule]]:
        """The rules that could match a line with one of these words in front."""
        for word in dict.fromkeys(words):
            yield from self._by_word.get(word, ())
        yield from self._any_word


class Cover:
    """Allow rules, laid over one script."""

    def __init__(self, allowed: Allowed, script: Script) -> None:
        self._allowed = allowed
        self._script = script
        self._commands = script.commands
        self._runs = runs(script.commands)

    def gap(self) -> tuple[Span, str] | None:
        """The first part that no rule covers, with the reason."""
        if self._allowed.everything:
            return None
        plain = [at for at, command in enumerate(self._commands) if not command.via]
        for at in sorted(plain, key=lambda at: self._commands[at].span.start):
            if gap := self._gap(at):
                return self._commands[at].span, gap
        return None

    def _gap(self, at: int) -> str:
        """Why a command is not covered; nothing if it is."""
        command = self._commands[at]
        if Place.ITERATES in command.places:
            steered = (each.name for each in command.assignments if steering_name(each.name))
            return next((f"it sets {name}" for name in steered), "")
        kinds = {self._kind(at, each) for each in self._runs.get(at, ())}
        if ViaKind.FUNCTION in kinds:
            return self._gap_beside_words(command) or self._gap_in_runs(at)
        if self._spelled_out(command):
            return ""
        if gap := self._gap_beside_words(command):
            return gap
        if not command.words or (not kinds and _is_free(command, self._script)):
            return ""
        if not _is_plain(command):
            return f"what {shown(command.words[0].source)} runs is not known"
        transparent = kinds == {ViaKind.TRANSPARENT} and self._is_transparent(command)
        if transparent and not self._gap_in_runs(at):
            return ""
        return self._gap_in_rules(at)

    def _is_transparent(self, command: Command) -> bool:
        """Whether a wrapper is the one of that name, and does nothing of its own."""
        return "/" not in command.words[0].source and not any(further_reach(command, self._script))

    def _gap_beside_words(self, command: Command) -> str:
        gap = redirection_gap(command)
        return gap or ("" if self._settings_line(command) else setting_gap(command))

    def _gap_in_runs(self, at: int) -> str:
        gaps = (self._gap(each) for each in self._runs[at])
        return next((gap for gap in gaps if gap), "")

    def _spelled_out(self, command: Command) -> bool:
        """Whether a rule without a star is the command to the letter, redirections and all."""
        if command.via or not self._allowed.exact:
            return False
        return collapsed(self._script.text[slice(*command.span)]) in self._allowed.exact

    def _settings_line(self, command: Command) -> str:
        """The command with the assignments before it, if a rule begins with those."""
        if not command.assignments or not command.words or command.via:
            return ""
        settings = collapsed(self._script.text[command.span.start : command.words[0].span.start])
        begun = any(
            pattern.head.startswith(f"{settings} ")
            for pattern, _ in self._allowed.beginning(settings.partition(" ")[0])
        )
        return f"{settings} {written_line(command)}" if begun else ""

    def _kind(self, at: int, run: int) -> ViaKind:
        return self._commands[run].via[len(self._commands[at].via)].kind

    def _gap_in_rules(self, at: int) -> str:
        command = self._commands[at]
        settings = self._settings_line(command)
        lines = [(settings,)] if settings else [*_lines(command, self._script)]
        gap = "no allow rule covers it"
        for pattern, rule in self._allowed.beginning(
            *(line[0].partition(" ")[0] for line in lines)
        ):
            if any(all(map(pattern.matches, each)) for each in lines):
                beyond = "" if pattern.exact else self._beyond(pattern, at)
                if not beyond:
                    return ""
                gap = f"{rule.text} does not cover {beyond}"
        return gap

    def _beyond(self, pattern: Pattern, at: int) -> str:
        """What a command does that a pattern with a star does not speak of."""
        command = self._commands[at]
        name = command.words[0].value or ""
        said = pattern.words if name != "find" else ()
        for reach in further_reach(command, self._script):
            if reach not in said:
                return shown(reach)
        if name in _NEVER_BY_STAR or any(
            not self._speaks_of(pattern, at, run) for run in self._runs.get(at, ())
        ):
            return f"what {name} runs"
        return f"what {name} reads" if runs_unknown_code(self._script, at) else ""

    def _speaks_of(self, pattern: Pattern, at: int, run: int) -> bool:
        """Whether the pattern, before its star, also says what a wrapper is to run."""
        command, inner = self._commands[at], self._commands[run]
        match self._kind(at, run):
            case ViaKind.REMOTE:
                return True
            case ViaKind.INTERPRETER:
                return command.words[0].value not in _READERS
            case ViaKind.FUNCTION:
                return False
            case ViaKind.CODE | ViaKind.EXEC | ViaKind.FANOUT | ViaKind.TRANSPARENT:
                said = " ".join(word.source for word in _up_to(command, inner))
                return bool(said) and f"{pattern.head} ".startswith(f"{collapsed(said)} ")


def _up_to(command: Command, inner: Command) -> Sequence[Word]:
    """The words of a command up to the one that names what it runs; none if none does."""
    at = inner.words[0].span.start if inner.words else -1
    for position, word in enumerate(command.words[1:], start=2):
        if word.span.start <= at < word.span.end:
            return command.words[:position]
    return ()


def _lines(command: Command, script: Script) -> Iterator[tuple[str, ...]]:
    """The ways to spell a command; a rule has to match each line of one of them."""
    yield (written_line(command),)
    yield from filter(None, (known_lines(command),))
    words = [word.templates[0] for word in command.words]
    at = harmless_globals(words, command, script) if words[0] == "git" else None
    if at is not None and all(len(word.templates) == 1 for word in command.words[1:at]):
        shorter = Command((command.words[0], *command.words[at:]), command.span)
        yield from filter(None, (known_lines(shorter),))


def _is_free(command: Command, script: Script) -> bool:
    """Whether it needs no rule: it does nothing, or goes to a folder below the first."""
    name = command.words[0].source
    if name != "cd":
        return name in _NOTHING
    operands = [word for word in command.words[1:] if word.value not in {"-P", "-L", "--"}]
    return len(operands) == 1 and all(
        not each.startswith("-") and inside(each, command, script) for each in operands[0].templates
    )


def _is_plain(command: Command) -> bool:
    """Whether its name is what is written there, quotes aside."""
    name = command.words[0]
    if name.source == name.value:
        return True
    template = name.templates[0].removeprefix(HOME).removeprefix(CWD)
    return len(name.templates) == 1 and template.isprintable() and _MADE_UP.isdisjoint(name.source)


def runs(commands: Sequence[Command]) -> dict[int, list[int]]:
    """For each command that runs others, which: they come right after it."""
    found: dict[int, list[int]] = {}
    above: list[int] = []
    for at, command in enumerate(commands):
        while above and len(commands[above[-1]].via) >= len(command.via):
            above.pop()
        if above:
            found.setdefault(above[-1], []).append(at)
        above.append(at)
    return found
