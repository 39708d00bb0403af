"""Words expanded as bash would, as far as it can be known.

One written word becomes no, one or many words, and sometimes it is not known
which: then there are several *readings* of it. What a variable could hold comes
from the `State`; what a substitution prints is asked of the reader.
"""

from collections.abc import Callable
from itertools import islice, product
from math import prod
from typing import TypeGuard

from nacre.model.expression import expression
from nacre.syntax.ansi import number
from nacre.syntax.braces import expand_braces
from nacre.syntax.fields import Growing, Option, Reading, append, as_readings, globbed
from nacre.syntax.parameters import operate
from nacre.syntax.state import State, Templates, either
from nacre.syntax.tree import Arithmetic, Parameter, Part, RawWord, Span, Substitution, Text
from nacre.syntax.word import FIELDS, HOLE, HOME, SET, Expansion, Word, known

__all__ = ("Expander", "Reading")

_SPECIAL = expression(r"[*?\[{~]")
_TILDE = expression(r"~([A-Za-z0-9_.+-]*)(?=/|$)")
_TILDE_VALUE = expression(r"(^|:)~([A-Za-z0-9_.+-]*)(?=[/:]|$)")
_ASSIGNS = expression(r"[A-Za-z_][A-Za-z0-9_]*=")
_NAMES = expression(r"[A-Za-z_][A-Za-z0-9_]*")
_COUNTS = frozenset({"#", "?", "$", "!", "-", "UID", "EUID", "PPID", "RANDOM", "SECONDS"})
_BLANK = (" \t\n",)
_MOST_PARTS = 500
_MOST_READINGS = 8
# Not in the environment of any shell, and empty if the script never set it.
_OWN_NAME = expression(r"[a-z_][a-z0-9_]*")


class Expander:
    """Expands words in a state.

    `substitute` reads the commands of a substitution and returns what they print
    if that is known; `reread` is given text that bash would expand once more.
    """

    def __init__(
        self,
        substitute: Callable[[Substitution], Templates | None],
        reread: Callable[[str], None],
    ) -> None:
        self.state = State()
        self._substitute = substitute
        self._reread = reread
        self._shown: list[Expansion] = []

    def readings(self, raw: RawWord, source: str, *, named: bool = False) -> tuple[Reading, ...]:
        """Every way to read one written word; `named` if it may be a command's name."""
        if word := self.simply(raw, source):
            return ((word,),)
        self._shown = []
        whole: list[tuple[Reading, ...]] = []
        for parts in expand_braces(raw.parts):
            grown = self._grow(parts, named=named)
            shown = tuple(dict.fromkeys(self._shown))
            whole.append(as_readings(grown, source, raw.span, shown))
        if len(whole) == 1:
            return whole[0]
        return tuple(
            tuple(word for reading in chosen for word in reading)
            for chosen in islice(product(*whole), _MOST_READINGS)
        )

    def simply(self, raw: RawWord, source: str) -> Word | None:
        """The word, if it is one plain or quoted text or one quoted variable, as most are."""
        if len(raw.parts) != 1:
            return None
        part = raw.parts[0]
        if isinstance(part, Text):
            if part.quoted or not _SPECIAL.search(part.value):
                return Word(source, raw.span, (part.value,))
        elif _is_one_value(part):
            shown = (Expansion(part.name, ""),)
            return Word(source, raw.span, self._values(part.name), shown)
        return None

    def value(self, raw: RawWord, source: str, *, tilde: bool = True) -> Word:
        """A word that is neither split nor globbed: assigned, redirected to, a here-document."""
        if (word := self.simply(raw, source)) and not source.startswith("~"):
            return word
        self._shown = []
        choices: list[Templates] = []
        for index, part in enumerate(raw.parts):
            if isinstance(part, Text):
                expands = tilde and not part.quoted
                text = self._tildes(part.value, start=index == 0) if expands else part.value
                choices.append((text,))
            else:
                options = [" ".join(each.fields) for each in self._options(part)]
                if self._may_vanish(part, raw.parts, index):
                    options.append("")
                choices.append(tuple(dict.fromkeys(options)))
        templates = tuple(each.replace(FIELDS, HOLE) for each in _combined(choices))
        return Word(source, raw.span, templates, tuple(dict.fromkeys(self._shown)))

    def visit(self, parts: tuple[Part, ...]) -> None:
        """Expand for what it runs only: arithmetic, subscripts, patterns."""
        for part in parts:
            if isinstance(part, Text):
                self.evaluate(part.value)
            else:
                self._options(part)

    def _tildes(self, text: str, *, start: bool) -> str:
        """Tildes of an assigned value: at its start and after colons."""
        if "~" not in text:
            return text
        return _TILDE_VALUE.sub(
            lambda found: found[1] + self._home(found[2]) if found[1] or start else found[0], text
        )

    def _home(self, user: str) -> str:
        match user:
            case "+":
                return self.state.cwd[0]
            case "-":
                return HOLE
            case _:
                return HOME  # somebody's

    def _grow(self, parts: tuple[Part, ...], *, named: bool) -> list[Growing]:
        growing = [Growing()]
        if len(parts) > _MOST_PARTS:
            self.visit(parts)
            return [Growing(current=FIELDS, begun=True)]
        for index, part in enumerate(parts):
            if isinstance(part, Text):
                options = [self._literal(part, parts, index)]
            else:
                options = self._options(part, named=named)
                if self._may_vanish(part, parts, index):
                    options = [Option(("",)), *options]
            grown = [
                append(each, option, separators)
                for separators in self._separators()
                for each in growing
                for option in options
            ]
            growing = list(dict.fromkeys(grown))[:_MOST_READINGS]
        return growing

    def _may_vanish(self, part: Part, parts: tuple[Part, ...], index: int) -> bool:
        """Whether it is a variable that nobody set, in the middle of other text.

        Not before a slash: an empty folder's name is what guards ask about themselves.
        """
        if not isinstance(part, Parameter) or part.operator or len(parts) == 1:
            return False
        if part.name in self.state.variables or not _OWN_NAME.fullmatch(part.name):
            return False
        after = parts[index + 1] if index + 1 < len(parts) else None
        return index > 0 or not (isinstance(after, Text) and after.value.startswith("/"))

    def _separators(self) -> Templates:
        """What could part words; the usual blanks, too, if it could be anything."""
        found = self.state.variables.get("IFS", _BLANK)
        return found if all(map(known, found)) else either(_BLANK, found)

    def _literal(self, part: Text, parts: tuple[Part, ...], index: int) -> Option:
        if part.quoted:
            return Option((part.value,))
        text = part.value
        if index == 0 and "~" in text:
            text = self._leading_tilde(text, alone=len(parts) == 1)
        return Option((globbed(text),), splits=False)

    def _leading_tilde(self, text: str, *, alone: bool) -> str:
        if assigned := _ASSIGNS.match(text):
            return assigned[0] + self._tildes(text[assigned.end() :], start=True)
        found = _TILDE.match(text)
        if found and (alone or found.end() < len(text)):
            return self._home(found[1]) + text[found.end() :]
        return text

    def _options(self, part: Part, *, named: bool = False) -> list[Option]:
        match part:
            case Text():
                return [Option((part.value,))]
            case Arithmetic():
                self.visit(part.parts)
                return [Option((SET,))]
            case Substitution():
                return self._substituted(part)
            case Parameter():
                return self._parameter(part, named=named)

    def _substituted(self, part: Substitution) -> list[Option]:
        shown = self._shown
        printed = self._substitute(part)
        self._shown = shown
        if part.opener in {"<(", ">("}:
            return [Option(("/dev/fd/" + SET,))]
        if printed is None:
            return [Option((HOLE if part.quoted else FIELDS,))]
        return [Option((each,), splits=not part.quoted) for each in printed]

    def _parameter(self, part: Parameter, *, named: bool) -> list[Option]:
        name, operator = part.name, part.operator
        if operator.startswith(("[", "![", "length[")):
            return self._element(part)
        if not name:
            self.visit(part.operand)
            return [Option((HOLE if part.quoted else FIELDS,))]
        if name in {"@", "*"} and operator in {"", ":"}:
            self.visit(part.operand)
            return self._all(self.state.arguments if not operator else None, part)
        values = self._values(name)
        if operator == "!":
            values = self._indirect(name, values)
        elif operator.startswith("!"):
            self._shown.append(Expansion(name, operator))
            values = (HOLE,)
        elif operator:
            values = self._operated(part, values)
        else:
            self._shown.append(Expansion(name, ""))
        if not part.quoted:
            values = tuple(FIELDS if each == HOLE else each for each in values)
            if named and values == (FIELDS,) and not operator and _OWN_NAME.fullmatch(name):
                values = ("", FIELDS)
        return [Option((each,), splits=not part.quoted) for each in values]

    def _operated(self, part: Parameter, values: Templates) -> Templates:
        """Apply `${name<operator>operand}`."""
        if part.operator == "length":
            return (SET,)
        shown = list(self._shown)
        self._visit_offset(part)
        operand = self.value(RawWord(Span(0, 0), part.operand), "", tilde=True)
        self._shown = [*shown, *operand.expansions]
        if part.operator not in {":+", "+"}:
            self._shown.append(Expansion(part.name, part.operator))
        if part.operator == "@" and operand.value == "P":
            for value in values:
                self._reread(value)
        result = operate(part.operator, values, operand.templates)
        if part.operator in {":=", "="} and part.name.isidentifier():
            self.state.assign(part.name, result)
        return result

    def _visit_offset(self, part: Parameter) -> None:
        """An offset is arithmetic: names in it are evaluated."""
        if part.operator == ":":
            for each in part.operand:
                if isinstance(each, Text):
                    self.evaluate(each.value)

    def _values(self, name: str) -> Templates:
        state = self.state
        if name in state.variables:
            return state.variables[name]
        if name in state.arrays:
            return state.arrays[name][0] if state.arrays[name] else ("",)
        if name == "PWD":
            return state.cwd
        if name in _COUNTS:
            return (SET,)
        if (place := number(name)) and state.arguments is not None:
            return state.arguments[place - 1] if place <= len(state.arguments) else ("",)
        return (HOLE,)

    def _indirect(self, name: str, values: Templates) -> Templates:
        self._shown.append(Expansion(name, "!"))
        result: Templates = ()
        for value in values:
            if not value.isidentifier():
                return (HOLE,)
            self._shown.append(Expansion(value, ""))
            result = either(result, self._values(value))
        return result or (HOLE,)

    def _element(self, part: Parameter) -> list[Option]:
        """`${a[1]}`, `${a[@]}`, `${!a[@]}`, `${#a[@]}`."""
        self.visit(part.operand)
        if part.operator.startswith("length"):
            return [Option((SET,))]
        self._shown.append(Expansion(part.name, part.operator))
        subscript = part.operand[0] if part.operand else None
        elements = self.state.arrays.get(part.name)
        if elements is not None and part.operator == "[" and isinstance(subscript, Text):
            if subscript.value in {"@", "*"}:
                return self._all(elements, part)
            index = number(subscript.value)
            if index is not None and index >= 0:
                values = elements[index] if index < len(elements) else ("",)
                return [Option((each,), splits=not part.quoted) for each in values]
        return [Option((HOLE if part.quoted and not _plural(subscript) else FIELDS,))]

    def _all(self, elements: tuple[Templates, ...] | None, part: Parameter) -> list[Option]:
        """`$@` and its like: a field for each element, unless `*` joins them."""
        if elements is None:
            return [Option((FIELDS,))]
        rows = [tuple(row) for row in islice(product(*elements), _MOST_READINGS)]
        if part.quoted and (part.name == "*" or part.operand[:1] == (Text("*"),)):
            rows = [(" ".join(row),) for row in rows]
        return [Option(row, splits=not part.quoted) for row in rows]

    def evaluate(self, text: str) -> None:
        """Arithmetic evaluates what a variable holds, commands in subscripts included."""
        for name in _NAMES.findall(text):
            for value in self.state.variables.get(name, ()):
                if "$(" in value or "`" in value:
                    self._reread(value)


def _is_one_value(part: Part) -> TypeGuard[Parameter]:
    """Whether it is `"$name"`, which is one word whatever it holds."""
    return (
        isinstance(part, Parameter)
        and part.quoted
        and not part.operator
        and part.name not in {"@", "*"}
    )


def _combined(choices: list[Templates]) -> Templates:
    """Every text that parts with several values could make; unknown if there are too many."""
    most = prod(map(len, choices))
    if most > _MOST_READINGS:
        choices = [each if len(each) == 1 else (HOLE,) for each in choices]
    return tuple(dict.fromkeys("".join(each) for each in product(*choices)))


def _plural(subscript: Part | None) -> bool:
    return isinstance(subscript, Text) and subscript.value in {"@", "*"}
