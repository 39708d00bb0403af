"""The walk over a tree, in the order bash would run it."""

import re
from dataclasses import replace
from itertools import islice, product

from nacre.model.expression import expression
from nacre.syntax.budget import Budget
from nacre.syntax.effects import changes_shell
from nacre.syntax.expand import Reading
from nacre.syntax.listing import Context, Lister
from nacre.syntax.script import Assigned, Command, Place, Redirection
from nacre.syntax.state import MOST_ELEMENTS, State, Templates, either
from nacre.syntax.tree import (
    Array,
    Assignment,
    Compound,
    CompoundKind,
    Coproc,
    Function,
    Node,
    Pipeline,
    RawWord,
    Redirect,
    Sequence,
    Simple,
    Span,
)
from nacre.syntax.word import FIELDS, HOLE, Word

__all__ = ("Walk",)

_MOST_READINGS = 6
# A longer loop is not searched for what it assigns: it could be anything.
_MOST_SEARCHED = 1 << 16
_LOOPS = frozenset(
    {
        CompoundKind.FOR,
        CompoundKind.SELECT,
        CompoundKind.WHILE,
        CompoundKind.UNTIL,
        CompoundKind.ARITHMETIC_FOR,
    }
)
_CHANGES_ANY = expression(
    r"\b(?:read|mapfile|readarray|getopts|let|eval|source|unset|printf)\b|\(\(|^\.\s", re.MULTILINE
)
_COMPARES = frozenset({"-v", "-R", "-eq", "-ne", "-lt", "-le", "-gt", "-ge"})
_ASSIGNED = expression(r"(?<![A-Za-z0-9_])([A-Za-z_][A-Za-z0-9_]*)(?:\[[^]\n]{0,200}\])?\+?=")


class Walk(Lister):
    """Lists the commands of a text.

    Each method that takes a node returns what that node prints, if it is known.
    """

    def __init__(self, text: str, budget: Budget) -> None:
        super().__init__(text, budget)
        self._pipelines = 0

    def script(self, tree: Sequence) -> None:
        """List the commands of a whole script, and of functions that it never called."""
        self._sequence(tree, Context())
        self.state.forget()
        self.state.arguments = None
        while self.uncalled:
            _, body = self.uncalled.popitem()
            self.node(body, Context().at(Place.FUNCTION))

    def look_through(self, command: Command) -> None:
        """List a command that was found elsewhere, and what it runs."""
        self.emit(command, Context(places=command.places))

    def _sequence(self, sequence: Sequence, context: Context) -> str | None:
        said, told_any = "", not sequence.items
        conditional = False
        for node, separator in sequence.items:
            here = context
            outer = self.state
            if separator == "&":
                here = here.at(Place.BACKGROUND)
            if conditional:
                here = here.at(Place.BRANCH)
            forked = (conditional or separator == "&") and self._changes_state(node)
            if forked:
                self.expander.state = outer.copy()
            told = self.node(node, here)
            if forked and separator == "&":
                self.expander.state = outer
            elif forked:
                self.state.join(outer)
            if told is not None:
                told_any = True
                said += told
            elif context.read:
                said += HOLE + "\n"
            conditional = separator in {"&&", "||"}
        return said if told_any else None

    def _changes_state(self, node: Node) -> bool:
        """Whether a command could change more than files."""
        if not isinstance(node, Simple) or not node.words:
            return True
        name = node.words[0].plain
        return name is None or changes_shell(name) or name in self.state.functions

    def node(self, node: Node, context: Context) -> str | None:
        """Walk over a node, and return what it prints if that is known."""
        self.budget.spend()
        match node:
            case Simple():
                return self._simple(node, context)
            case Pipeline():
                return self._pipeline(node, context)
            case Sequence():
                return self._sequence(node, context)
            case Compound():
                return self._compound(node, context)
            case Function():
                return self._define(node)
            case Coproc():
                here = context.at(Place.BACKGROUND)._replace(stdin=_input(None))
                return self.apart(node.body, here)

    def _define(self, function: Function) -> str:
        self.state.functions[function.name] = function.body
        self.uncalled[id(function.body)] = function.body
        return ""

    def _pipeline(self, node: Pipeline, context: Context) -> str | None:
        if len(node.stages) == 1:
            return self.node(node.stages[0], context)
        self._pipelines += 1
        here = context._replace(pipeline=self._pipelines)
        said: str | None = ""
        for index, stage in enumerate(node.stages):
            places: list[Place] = []
            if index:
                places.append(Place.PIPED_IN)
                here = here._replace(stdin=_input(said))
            if index < len(node.stages) - 1:
                places.append(Place.PIPED_OUT)
            said = self.apart(stage, here.at(*places)._replace(stage=index))
        return said

    def _compound(self, node: Compound, context: Context) -> str | None:
        self.context, self.here = context, node.span
        if node.redirects:
            redirections = tuple(self._redirection(each) for each in node.redirects)
            self.emit(self._command((), node.span, context, redirections=redirections), context)
            stdin = _stdin(redirections)
            context = context._replace(stdin=stdin) if stdin else context
        if node.kind in _LOOPS:
            self._loop(node, context.at(Place.LOOP))
            return None
        match node.kind:
            case CompoundKind.GROUP:
                return self._sequence(node.bodies[0], context)
            case CompoundKind.SUBSHELL:
                return self.apart(node.bodies[0], context.at(Place.SUBSHELL))
            case CompoundKind.IF:
                self._branches(node.bodies, context)
                return None
            case _:
                for word in node.words:
                    self.expander.visit(word.parts)
                if node.kind is CompoundKind.TEST:
                    self._evaluate_operands(node.words)
                if node.kind is CompoundKind.ARITHMETIC:
                    self._forget_assigned(node.span)
                before = self.state
                for body in node.bodies:
                    self._branch(body, context, before)
                return None if node.bodies else ""

    def _evaluate_operands(self, words: tuple[RawWord, ...]) -> None:
        """`-eq` and its like evaluate what they compare, commands in subscripts included."""
        if not any(word.plain in _COMPARES for word in words):
            return
        for word in words:
            for template in self._value(word).templates:
                if "$(" in template or "`" in template:
                    self.reread(template)

    def _branch(self, body: Sequence, context: Context, before: State) -> None:
        """Walk a body that may be skipped, from a state that it is joined to."""
        self.expander.state = before.copy()
        self._sequence(body, context.at(Place.BRANCH))
        before.join(self.state)
        self.expander.state = before

    def _branches(self, bodies: tuple[Sequence, ...], context: Context) -> None:
        """Walk `if`: conditions one after another, a branch after each, `else` last."""
        branches: list[State] = []
        for index, body in enumerate(bodies):
            otherwise = index == len(bodies) - 1 and index % 2 == 0
            if index % 2 == 0 and not otherwise:
                self._sequence(body, context.at(Place.BRANCH) if index else context)
                continue
            main = self.state
            self.expander.state = main.copy()
            self._sequence(body, context.at(Place.BRANCH))
            branches.append(self.state)
            self.expander.state = main
        if len(bodies) % 2:
            self.expander.state = branches.pop()
        for branch in branches:
            self.state.join(branch)

    def _loop(self, node: Compound, context: Context) -> None:
        before = self.state.copy()
        if node.kind in {CompoundKind.FOR, CompoundKind.SELECT}:
            values: Templates = ()
            words = [
                word for raw in node.words for reading in self._readings(raw) for word in reading
            ]
            assigned = (Assigned(node.name, tuple(words)),)
            here = context.at(Place.ITERATES)
            self.emit(self._command((), node.span, here, assigned), here)
            for word in words:
                values = either(values, word.templates)
            values = tuple(each.replace(FIELDS, HOLE) for each in values)
            self._forget_assigned(node.span)
            self.state.assign(node.name, values or (HOLE,))
        else:
            self._forget_assigned(node.span)
            for raw in node.words:
                self.expander.visit(raw.parts)
        for body in node.bodies:
            self._sequence(body, context)
        self.state.join(before)

    def _forget_assigned(self, span: Span) -> None:
        """Let everything that is assigned in a part of the text have any value."""
        part = self.text[span.start : span.end]
        if not 0 < len(part) <= _MOST_SEARCHED or _CHANGES_ANY.search(part):
            self.state.forget()
        else:
            self.state.forget(_ASSIGNED.findall(part))

    def _simple(self, node: Simple, context: Context) -> str | None:
        self.context, self.here = context, node.span
        self.piped = []
        self.fed = []
        assigned = self._assignments(node) if node.assignments else ()
        redirections = tuple(map(self._redirection, node.redirects)) if node.redirects else ()
        if not node.words:
            command = self._command((), node.span, context, assigned, redirections)
            self.emit(command, context)
            return "" if not redirections else None
        if redirections:
            context = _redirected(context, redirections)
        readings = self._command_readings(node.words)
        piped, fed = self.piped, self.fed
        said: str | None = None
        for words in readings:
            command = self._command(words, node.span, context, assigned, redirections)
            said = self.emit(command, context, piped)
            for folder in self.state.cwd[1:]:
                # It may run there as well; what it does to this shell is done already.
                self.commands.append(replace(command, cwd=folder))
        said = said if len(readings) == 1 else None
        for body in fed:
            self.apart(body, context._replace(stdin=_input(said)).at(Place.PIPED_IN))
        return said

    def _assignments(self, node: Simple) -> tuple[Assigned, ...]:
        """Assign one after another; before a command, only for as long as it takes."""
        outer = self.state
        if node.words:
            self.expander.state = outer.copy()
        assigned: list[Assigned] = []
        for assignment in node.assignments:
            assigned.append(self._assigned(assignment))
            self._assign(assignment, assigned[-1])
        self.expander.state = outer
        return tuple(assigned)

    def _command_readings(self, raws: tuple[RawWord, ...]) -> list[Reading]:
        """Every way to read the words of a command; nearly always there is one."""
        whole: list[tuple[Reading, ...]] = []
        named, single = True, True
        text, simply = self.text, self.expander.simply
        for raw in raws:
            if word := simply(raw, text[raw.span.start : raw.span.end]):
                whole.append(((word,),))
                named = False
                continue
            readings = self._readings(raw, named=named)
            named = named and any(not reading for reading in readings)
            single = single and len(readings) == 1
            whole.append(readings)
        if single:
            return [tuple([word for (reading,) in whole for word in reading])]
        return [
            tuple(word for reading in chosen for word in reading)
            for chosen in islice(product(*whole), _MOST_READINGS)
        ]

    def _readings(self, raw: RawWord, *, named: bool = False) -> tuple[Reading, ...]:
        source = self.text[raw.span.start : raw.span.end]
        return self.expander.readings(raw, source, named=named)

    def _value(self, raw: RawWord) -> Word:
        return self.expander.value(raw, self.text[raw.span.start : raw.span.end])

    def _assigned(self, assignment: Assignment) -> Assigned:
        if assignment.subscript:
            self.expander.visit(assignment.subscript.parts)
        if isinstance(assignment.value, Array):
            words = tuple(
                word
                for raw in assignment.value.words
                for reading in self._readings(raw)[:1]
                for word in reading
            )
            return Assigned(assignment.name, words)
        return Assigned(assignment.name, (self._value(assignment.value),))

    def _assign(self, assignment: Assignment, assigned: Assigned) -> None:
        state, name = self.state, assignment.name
        if isinstance(assignment.value, Array):
            elements = tuple(word.templates for word in assigned.words)
            plain = all(len(each) == 1 and FIELDS not in each[0] for each in elements)
            subscripted = any(word.source.startswith("[") for word in assigned.words)
            old = state.arrays.get(name, ()) if assignment.append else ()
            state.assign(name, (HOLE,))
            if plain and not subscripted and len(old) + len(elements) <= MOST_ELEMENTS:
                del state.variables[name]
                state.arrays[name] = old + elements
            return
        values = assigned.words[0].templates
        for value in values if name == "PS4" or self.numbers else ():
            if "$(" in value or "`" in value:
                self.reread(value)  # as arithmetic, or before each line that `set -x` prints
            else:
                self.expander.evaluate(value)
        if assignment.subscript:
            state.assign(name, (HOLE,))
        elif assignment.append:
            before = state.variables.get(name, (HOLE,))
            state.assign(name, tuple(head + tail for head in before for tail in values))
        else:
            state.assign(name, values)

    def _redirection(self, redirect: Redirect) -> Redirection:
        target = self._value(redirect.target) if redirect.target else None
        body = None
        if redirect.heredoc:
            raw = redirect.heredoc.body
            body = self.expander.value(raw, self.text[raw.span.start : raw.span.end], tilde=False)
        return Redirection(redirect.operator, redirect.descriptor, target, body)

    def _command(
        self,
        words: tuple[Word, ...],
        span: Span,
        context: Context,
        assigned: tuple[Assigned, ...] = (),
        redirections: tuple[Redirection, ...] = (),
    ) -> Command:
        return Command(
            words,
            span,
            assigned,
            redirections,
            context.via,
            context.places,
            self.state.cwd[0],
            context.pipeline,
            context.stage,
        )


def _redirected(context: Context, redirections: tuple[Redirection, ...]) -> Context:
    """A context whose standard input is what a command's redirections say."""
    if stdin := _stdin(redirections):
        return context._replace(stdin=stdin)
    if any(each.reads or each.operator == "<&" for each in redirections):
        return context._replace(stdin=_input(None))
    return context


def _input(said: str | None) -> Word:
    """What one command prints, as another reads it."""
    return Word("", Span(0, 0), (HOLE if said is None else said,))


def _stdin(redirections: tuple[Redirection, ...]) -> Word | None:
    """The text that comes in, if it is written in the script."""
    for redirection in reversed(redirections):
        if redirection.descriptor not in {"", "0"}:
            continue
        if redirection.body is not None:
            return redirection.body
        if redirection.operator == "<<<":
            return redirection.target
    return None
