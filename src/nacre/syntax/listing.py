"""Listing a command, and everything it runs in turn."""

from abc import ABC, abstractmethod
from collections import Counter
from dataclasses import replace
from typing import NamedTuple

from nacre.model.expression import expression
from nacre.syntax.budget import Budget
from nacre.syntax.effects import affect
from nacre.syntax.expand import Expander
from nacre.syntax.parser.parse import parse
from nacre.syntax.script import Assigned, Command, Place, Via, ViaKind
from nacre.syntax.state import State, Templates, either
from nacre.syntax.tree import Node, Sequence, Span, Substitution
from nacre.syntax.word import FIELDS, HOLE, Word
from nacre.syntax.wrappers.inner import Inner, joined
from nacre.syntax.wrappers.look_through import inners, produced

__all__ = ("Context", "Lister")

_DEEPEST = 8
_TOO_DEEP = "commands inside of commands go too deep to be read"
_MOST_CALLS = 8
_MOST_TEXTS = 6
_SAME_SHELL = frozenset({"eval", "source", ".", "mapfile", "readarray"})
_SOURCES = frozenset({"source", ".", "bash", "sh", "dash", "zsh", "ksh"})
_EVALUATES = frozenset({"let", "declare", "typeset", "local", "readonly", "export"})
_ASSIGNED = expression(r"(?<![A-Za-z0-9_])([A-Za-z_][A-Za-z0-9_]*)\+?=")
_PLAIN_SHELLS = frozenset({"sh", "dash", "ash"})
_PARENTHESES = expression(r"(?<!\$)\(\(")
_LOOSE_QUOTE = expression(r"\"[^\"']*\$\{[^}\"']*'")
# Traps that run between commands, and may change what the next one means.
_TIMES = frozenset({"DEBUG", "ERR", "RETURN"})
# Where aliases count: bash expands none in a script unless it is told to.
_ALIASES = expression(r"expand_aliases|posix|\bsh\b")
_DESCRIPTORS = ("/dev/fd/", "/proc/self/fd/")
_STILL_SAME = frozenset({"command", "builtin"})


class Context(NamedTuple):
    """Where the walk is."""

    via: tuple[Via, ...] = ()
    places: frozenset[Place] = frozenset()
    pipeline: int = 0
    stage: int = 0
    stdin: Word | None = None
    depth: int = 0

    @property
    def read(self) -> bool:
        """Whether what is printed here is read by something else of the script."""
        return Place.PIPED_OUT in self.places or Place.SUBSTITUTION in self.places

    def at(self, *places: Place) -> "Context":
        """Here, and in such a place, too."""
        return self._replace(places=self.places | frozenset(places))


class Lister(ABC):
    """Lists commands, and looks through those that run others.

    The walk over the tree is called back for code that is found in words.
    """

    def __init__(self, text: str, budget: Budget) -> None:
        self.commands: list[Command] = []
        self.flaw = ""
        self.over_budget = False
        self.text = text
        self.budget = budget
        self.expander = Expander(self._substitute, self.reread)
        self.context = Context()
        self.here = Span(0, 0)
        self.piped: list[str | None] = []
        self.fed: list[Sequence] = []
        self.redirected = False  # `exec <file`: what is read from here on is not known
        self.numbers = False  # some variable was declared to hold one
        self._calls = 0
        self._calling: list[int] = []
        self.uncalled: dict[int, Node] = {}

    @property
    def state(self) -> State:
        """What is known of the shell here."""
        return self.expander.state

    @abstractmethod
    def node(self, node: Node, context: Context) -> str | None:
        """Walk over a node, and return what it prints if that is known."""

    def apart(self, node: Node, context: Context, state: State | None = None) -> str | None:
        """Walk in a shell of its own: nothing that changes there is seen here."""
        outer = self.state
        self.expander.state = state or outer.copy()
        try:
            return self.node(node, context)
        finally:
            self.expander.state = outer

    def doubt(self, flaw: str, *, over_budget: bool = False) -> None:
        """Remember that not everything could be read, and why."""
        self.flaw = self.flaw or flaw
        self.over_budget = self.over_budget or over_budget

    def emit(
        self, command: Command, context: Context, piped: list[str | None] | None = None
    ) -> str | None:
        """List a command and what it runs; return what it prints if that is known."""
        self.budget.spend()
        self.commands.append(command)
        if not command.words:
            return ""
        if self.redirected and context.stdin is None:
            context = context._replace(stdin=Word("", command.span, (HOLE,)))
        if context.depth >= _DEEPEST:
            self.doubt(_TOO_DEEP, over_budget=True)
            return None
        for inner in inners(command, context.stdin):
            self._look_into(inner, command, context)
        if _runs_here(command):
            if (name := command.words[0].value) in self.state.functions:
                return self._call(name or "", command, context)
            self._run_here(command, context, piped or [])
        if not (self.fed or context.read):
            return None
        told = produced(command, context.stdin)
        return told.templates[0] if told is not None and len(told.templates) == 1 else None

    def _look_into(self, inner: Inner, command: Command, context: Context) -> None:
        here = context._replace(via=(*command.via, inner.via), depth=context.depth + 1)
        if inner.words:
            extra = tuple(Assigned(name, (word,)) for name, word in inner.assignments)
            run = replace(
                command,
                words=inner.words,
                span=_span(inner.words, command),
                assignments=(*command.assignments, *extra),
                via=here.via,
                cwd=command.cwd if inner.cwd is None else HOLE,
            )
            self.emit(run, here)
        if inner.code:
            if context.stdin is not None and inner.code[0].templates == context.stdin.templates:
                here = here._replace(stdin=None)
            self._read_code(inner, command, here)

    def _read_code(self, inner: Inner, command: Command, context: Context) -> None:
        """Read texts that a command gives to a shell."""
        at = _span(inner.code, command)
        texts = joined(inner.code)[:_MOST_TEXTS]
        if inner.via.name in _PLAIN_SHELLS:
            # Without arithmetic commands, two parentheses are two subshells.
            texts += tuple(_PARENTHESES.sub("( (", text) for text in texts if "((" in text)
            if any(_LOOSE_QUOTE.search(text) for text in texts):
                self.doubt("not every shell reads a single quote in a quoted ${...} alike")
        for text in texts:
            parsed = parse(text, self.budget, self._origin(inner.code, text, at), context.depth)
            if inner.via.name == "trap":
                self.apart(parsed.tree, context, self._later())
                if not _TIMES.isdisjoint(word.value for word in command.words):
                    self.state.change_anytime()
            elif inner.via.name in _SAME_SHELL:
                for name, words in command.assignments:
                    before = self.state.variables.get(name, (HOLE,))
                    self.state.assign(name, either(before, _only(words)))
                self.node(parsed.tree, context)
            else:
                self.apart(parsed.tree, context, self._elsewhere(inner, command))
            if parsed.error and inner.via.kind is not ViaKind.INTERPRETER:
                self.doubt(parsed.error, over_budget=parsed.over_budget)

    def _origin(self, words: tuple[Word, ...], text: str, at: Span) -> int | Span:
        """Where a text stands in the script, if it stands there letter by letter."""
        written = self.text[at.start : at.end]
        if written == text:
            return at.start
        if len(words) == 1 and written[1:-1] == text and written[0] in "'\"":
            return at.start + 1
        return at

    def _later(self) -> State:
        """The state at some other time: what is assigned twice may have another value then."""
        state = self.state.copy()
        count = Counter(_ASSIGNED.findall(self.text))
        state.forget(name for name, times in count.items() if times > 1)
        return state

    def _elsewhere(self, inner: Inner, command: Command) -> State:
        """The state of another shell: variables given to it, arguments after its code."""
        state = self.state.elsewhere()
        for name, words in command.assignments:
            state.assign(name, _only(words))
        for name, word in inner.assignments:
            state.assign(name, word.templates)
        if inner.positional is None:
            state.arguments = None
        else:
            if inner.positional:
                state.variables["0"] = inner.positional[0].templates
            given = tuple(word.templates for word in inner.positional[1:])
            plain = all(FIELDS not in each for templates in given for each in templates)
            state.arguments = given if plain else None
        return state

    def _run_here(self, command: Command, context: Context, piped: list[str | None]) -> None:
        """Do what a builtin or function does to this shell."""
        name = command.words[0].value
        if name is not None and name.rpartition("/")[2] in _SOURCES:
            if any((word.value or "").startswith(_DESCRIPTORS) for word in command.words[1:]):
                piped = [*piped, HOLE]
            for text in piped:
                if text is not None:
                    word = Word("", command.span, (text,))
                    via = Via(ViaKind.CODE, name.rpartition("/")[2])
                    here = context._replace(via=(*command.via, via), depth=context.depth + 1)
                    self._read_code(Inner(via=via, code=(word,), positional=()), command, here)
        if name == "alias" and _ALIASES.search(self.text):
            self._read_aliases(command, context)
        elif name == "exec" and len(command.words) == 1:
            self.redirected = self.redirected or bool(command.redirections)
        elif name == "hash":
            self._run_remembered(command, context)
        elif name in _EVALUATES and (name == "let" or _declares_numbers(command)):
            self._evaluate(command)
        affect(command, self.state)

    def _run_remembered(self, command: Command, context: Context) -> None:
        """`hash -p FILE NAME` makes a name run a file: it is as good as run."""
        values = [word.value or "" for word in command.words]
        for index, value in enumerate(values):
            if value == "-p":
                files = command.words[index + 1 : index + 2]
            elif value.startswith("-p"):
                files = (command.words[index]._replace(templates=(value[2:],)),)
            else:
                continue
            via = (*command.via, Via(ViaKind.EXEC, "hash"))
            if files:
                self.emit(replace(command, words=files, via=via), context._replace(via=via))

    def _evaluate(self, command: Command) -> None:
        """Arithmetic evaluates what it is given once more, and variables by name."""
        self.numbers = True
        given = [each for word in command.words[1:] for each in word.templates]
        given += [each for _, words in command.assignments for each in _only(words)]
        for template in given:
            if "$(" in template or "`" in template:
                self.reread(template)
            else:
                self.expander.evaluate(template)

    def _read_aliases(self, command: Command, context: Context) -> None:
        """Read what aliases stand for; a script may have them expanded if it says so."""
        via = Via(ViaKind.CODE, "alias")
        here = context._replace(via=(*command.via, via), depth=context.depth + 1)
        for word in command.words[1:]:
            for template in word.templates:
                code = Word("", word.span, (template.partition("=")[2],))
                self._read_code(Inner(via=via, code=(code,)), command, here)

    def _call(self, name: str, command: Command, context: Context) -> str | None:
        """Walk the body of a function with the arguments of this call."""
        body = self.state.functions[name]
        if id(body) in self._calling:
            return None
        if self._calls >= _MOST_CALLS:
            self.uncalled[id(body)] = body
            return None
        self._calls += 1
        self.uncalled.pop(id(body), None)
        before, arguments = self.state.copy(), self.state.arguments
        given = tuple(word.templates for word in command.words[1:])
        plain = all(FIELDS not in each for templates in given for each in templates)
        self.state.arguments = given if plain else None
        via = (*command.via, Via(ViaKind.FUNCTION, name))
        here = context._replace(via=via, depth=context.depth + 1).at(Place.FUNCTION)
        self._calling.append(id(body))
        said = self.node(body, here)
        self._calling.pop()
        self.state.arguments = before.arguments = arguments
        self.state.join(before)
        return said

    def _substitute(self, part: Substitution) -> Templates | None:
        """Walk the commands of a substitution; return what they print if that is known."""
        outer, piped, fed = self.context, self.piped, self.fed
        here = outer._replace(stdin=None).at(Place.SUBSTITUTION)
        said = self.apart(part.body, here)
        self.context, self.piped, self.fed = outer, piped, fed
        if part.opener == "<(":
            self.piped.append(said)
        elif part.opener == ">(":
            self.fed.append(part.body)
        if said is None or said.strip("\n") == HOLE:
            return None
        return (said.rstrip("\n"),)

    def reread(self, text: str) -> None:
        """Walk the substitutions of a text that bash expands once more."""
        parsed = parse(f": {_quoted(text)}", self.budget, self.here, self.context.depth)
        outer, piped, fed = self.context, self.piped, self.fed
        if parsed.error or outer.depth >= _DEEPEST:
            self.doubt(parsed.error or _TOO_DEEP, over_budget=not parsed.error)
        else:
            self.apart(parsed.tree, outer._replace(depth=outer.depth + 1))
        self.context, self.piped, self.fed = outer, piped, fed


def _declares_numbers(command: Command) -> bool:
    """Whether it is `declare -i` or its like; a reference may have a subscript, too."""
    values = [word.value or "" for word in command.words[1:]]
    return any(value[:1] == "-" and ("i" in value or "n" in value) for value in values)


def _only(words: tuple[Word, ...]) -> Templates:
    """The value of a variable, unless it is an array."""
    return words[0].templates if len(words) == 1 else (HOLE,)


def _quoted(text: str) -> str:
    """A text in double quotes, its own expansions alive."""
    return '"' + text.replace('"', '\\"') + '"'


def _runs_here(command: Command) -> bool:
    """Whether it runs in the shell that reads it, so that what it changes stays changed."""
    if not command.via:
        return True
    kind, name = command.via[-1]
    return kind in {ViaKind.CODE, ViaKind.FUNCTION} or name in _STILL_SAME


def _span(words: tuple[Word, ...], command: Command) -> Span:
    """The part of the script that holds these words."""
    start, end = words[0].span.start, words[-1].span.end
    return Span(start, end) if start < end else command.span
