"""Expansions as they are written: `$name`, `${...}`, `$(...)`, `$((...))`, backticks."""

import re
from itertools import groupby

from nacre.model.expression import expression
from nacre.syntax.ansi import unescape
from nacre.syntax.parser.cursor import Cursor, NotBashError, new
from nacre.syntax.tree import Arithmetic, Parameter, Part, Span, Substitution, Text
from nacre.syntax.word import MARKS

__all__ = ("Expansions", "joined")

_OPERAND_RUN = expression(r"(?:[^}'\"\\$`<>]|[<>](?!\())+")
_SINGLE_RUN = expression(r"[^'\\$`]+")
_SUBSCRIPT_RUN = expression(r"[^\]\['\"\\$`]+")
_ARITHMETIC_RUN = expression(r"[^()'\"\\$`]+")
_NAME = expression(r"[A-Za-z_][A-Za-z0-9_]*|[0-9]|[@*#?$!-]")
_BARE = expression(r"([A-Za-z_][A-Za-z0-9_]*)\}")
_BRACED = expression(r"([!#]?)([A-Za-z_][A-Za-z0-9_]*|[0-9]+|[@*#?$!-])")
_OPERATOR = expression(r":[-=?+]|:|[-=?+]|##?|%%?|//?|\^\^?|,,?|@|\*")
_SPLIT_NAME = expression(r"([A-Za-z_][A-Za-z0-9_]*)(?:\\\n)+([A-Za-z0-9_]*)")
_DEFAULTS = frozenset({":-", "-", ":=", "=", ":+", "+", ":?", "?"})
_FUNSUB = frozenset(" \t\n|")


class Expansions(Cursor):
    """Reads what a dollar or a backtick begins."""

    def dollar(self, parts: list[Part], *, quoted: bool) -> None:
        """Read what a dollar begins; alone it stands for itself."""
        start = self.pos
        if name := _NAME.match(self.text, start + 1):
            self.pos = name.end()
            parts.append(new(Parameter, (name[0], "", (), quoted)))
            return
        self.pos += 1
        self.skip_continuations()
        char = self.text[self.pos : self.pos + 1]
        if char == "(":
            self.pos += 1
            parts.append(self._dollar_parenthesis(quoted=quoted))
        elif char == "{":
            self.pos += 1
            parts.append(self._braced(quoted=quoted))
        elif char == "[":
            self.pos += 1
            self.deeper()
            parts.append(Arithmetic(tuple(self.subscript())))
            self.depth -= 1
        elif char == "'" and not quoted:
            parts.append(Text(self._ansi(), quoted=True))
        elif char == '"' and not quoted:
            self.pos += 1
            self.double(parts)
        elif name := _NAME.match(self.text, self.pos):
            self.pos = name.end()
            parts.append(Parameter(name[0], quoted=quoted))
        elif char and char in MARKS:
            # Code that is known only in part: a name, or what begins with one.
            self.pos += 1
            parts.append(Parameter("", "?", quoted=quoted))
        else:
            self.pos = start + 1
            parts.append(Text("$", quoted=True))

    def _ansi(self) -> str:
        """Read `'...'` after a dollar: backslashes are C's."""
        start = end = self.pos + 1
        while True:
            end = self.text.find("'", end)
            if end < 0:
                raise NotBashError("a $' quote is not closed")
            backslashes = end - start - len(self.text[start:end].rstrip("\\"))
            if backslashes % 2 == 0:
                break
            end += 1
        self.pos = end + 1
        return unescape(self.text[start:end])

    def _dollar_parenthesis(self, *, quoted: bool) -> Part:
        if self.text.startswith("(", self.pos):
            start = self.pos
            self.pos += 1
            if (inner := self.arithmetic()) is not None:
                return Arithmetic(inner)
            self.pos = start
        return self.substitution("$(", quoted=quoted)

    def substitution(self, opener: str, *, quoted: bool) -> Substitution:
        """Read the commands after an opening parenthesis, and the closing one."""
        self.deeper()
        body = self.commands(")")
        self.depth -= 1
        return new(Substitution, (opener, body, quoted))

    def arithmetic(self) -> tuple[Part, ...] | None:
        """Read up to `))`, or nothing if these parentheses are commands after all."""
        self.deeper()
        level, parts = 1, list[Part]()
        while level:
            if run := _ARITHMETIC_RUN.match(self.text, self.pos):
                self.pos = run.end()
                parts.append(Text(run[0]))
            char = self.text[self.pos : self.pos + 1]
            if not char:
                raise NotBashError("a parenthesis is not closed")
            if char in "()":
                level += 1 if char == "(" else -1
                self.pos += 1
            elif char == "'":
                self._loosely_quoted(parts)
            else:
                self.special(parts)
        self.depth -= 1
        self.skip_continuations()
        if not self.text.startswith(")", self.pos):
            return None
        self.pos += 1
        return tuple(parts)

    def backticks(self, *, quoted: bool) -> Substitution:
        """Read to the next backtick; one level of backslashes between them is removed first."""
        start, pos, text = self.pos, self.pos + 1, self.text
        while pos < len(text) and text[pos] != "`":
            pos += 2 if text[pos] == "\\" else 1
        if pos >= len(text):
            raise NotBashError("a backtick is not closed")
        self.pos = pos + 1
        inner = text[start + 1 : pos]
        at: int | Span = self.span(start + 1, pos)
        if "\\" in inner:
            removable = '$`\\"' if quoted else "$`\\"
            inner = re.sub(rf"\\([{re.escape(removable)}])", r"\1", inner)
        elif not isinstance(self.at, Span):
            at = self.at + start + 1
        self.deeper()
        body = self.inside(inner, at)
        self.depth -= 1
        return Substitution("`", body, quoted)

    def _braced(self, *, quoted: bool) -> Part:
        """Read `${...}` from after its brace."""
        if bare := _BARE.match(self.text, self.pos):
            # What most braces hold is read without looking for what else they may hold.
            self.deeper()
            self.depth -= 1
            self.pos = bare.end()
            return new(Parameter, (bare[1], "", (), quoted))
        self.skip_continuations()
        if self.text[self.pos : self.pos + 1] in _FUNSUB:
            # Newer shells run what stands in `${ ...; }`; bash 5.2 only complains.
            self.pos += self.text.startswith("|", self.pos)
            self.deeper()
            body = self.commands("}")
            self.depth -= 1
            return Substitution("${", body, quoted)
        self.deeper()
        part = self._braced_parameter(quoted=quoted)
        self.depth -= 1
        return part

    def _braced_parameter(self, *, quoted: bool) -> Parameter:
        found = self._braced_name()
        if found is None:
            return Parameter("", "?", self._operand(quoted=False), quoted)
        prefix, name = found
        prefix = "length" if prefix == "#" else prefix
        subscript: list[Part] = []
        if self.text.startswith("[", self.pos):
            self.pos += 1
            subscript = self.subscript()
        self.skip_continuations()
        operator = _OPERATOR.match(self.text, self.pos)
        if operator:
            self.pos = operator.end()
        sign = operator[0] if operator else ""
        operand = self._operand(quoted=quoted and sign in _DEFAULTS)
        if subscript:
            return Parameter(name, f"{prefix}[{sign}", (*subscript, *operand), quoted)
        return new(Parameter, (name, prefix + sign, operand, quoted))

    def _braced_name(self) -> tuple[str, str] | None:
        """Read `name`, `!name` or `#name`; a lone `!` or `#` is itself a name."""
        text, pos = self.text, self.pos
        if self.continued and (split := _SPLIT_NAME.match(text, pos)):
            # A continuation inside of a name: as rare as it is legal.
            self.pos = split.end()
            return "", split[1] + split[2]
        found = _BRACED.match(text, pos)
        if found is None:
            return None
        prefix, name = found[1], found[2]
        after = text[found.end() : found.end() + 1]
        if prefix and name in "-=?+@*#%!" and after != "}":
            # `${#-x}`, `${!-x}`: an operator follows, the sign itself is the name.
            self.pos = pos + 1
            return "", prefix
        self.pos = found.end()
        return prefix, name

    def _operand(self, *, quoted: bool) -> tuple[Part, ...]:
        """Read up to the closing brace, and past it.

        Inside of double quotes a default value is quoted itself: single quotes in
        it hide a brace, and nothing else.
        """
        if self.text.startswith("}", self.pos):
            self.pos += 1
            return ()
        parts: list[Part] = []
        while True:
            if run := _OPERAND_RUN.match(self.text, self.pos):
                self.pos = run.end()
                parts.append(new(Text, (run[0], quoted)))
            char = self.text[self.pos : self.pos + 1]
            if char == "}":
                self.pos += 1
                return joined(parts)
            if not char:
                raise NotBashError("a ${ is not closed")
            if char in "<>":
                self.pos += 1 if quoted else 2
                parts.append(
                    Text(char, quoted=True)
                    if quoted
                    else self.substitution(char + "(", quoted=False)
                )
            elif quoted and char in "'$":
                self._loosely_quoted(parts)
            else:
                self.special(parts)

    def _loosely_quoted(self, parts: list[Part]) -> None:
        """Read single quotes that do not keep a dollar from being special, or that dollar."""
        if not self.text.startswith("'", self.pos):
            self.dollar(parts, quoted=True)
            return
        self.budget.spend()
        self.pos += 1
        parts.append(Text("'", quoted=True))
        while not self.text.startswith("'", self.pos):
            if run := _SINGLE_RUN.match(self.text, self.pos):
                self.pos = run.end()
                parts.append(Text(run[0], quoted=True))
            elif self.pos >= len(self.text):
                raise NotBashError("a single quote is not closed")
            else:
                self.special(parts)
        self.pos += 1
        parts.append(Text("'", quoted=True))

    def subscript(self) -> list[Part]:
        """Read up to the closing bracket, and past it."""
        level, parts = 1, list[Part]()
        while True:
            if run := _SUBSCRIPT_RUN.match(self.text, self.pos):
                self.pos = run.end()
                parts.append(Text(run[0]))
            char = self.text[self.pos : self.pos + 1]
            if not char:
                raise NotBashError("a bracket is not closed")
            if char in "[]":
                self.pos += 1
                level += 1 if char == "[" else -1
                if not level:
                    return parts or [Text("")]
                parts.append(Text(char))
                self.budget.spend()
            elif char == "'":
                self._loosely_quoted(parts)
            else:
                self.special(parts)


def joined(parts: list[Part]) -> tuple[Part, ...]:
    """Parts with neighbouring unquoted, or quoted, texts made one."""
    if len(parts) == 1:
        return (parts[0],)
    before = None
    for part in parts:
        quoting = part.quoted if isinstance(part, Text) else None
        if quoting is not None and quoting is before:
            break
        before = quoting
    else:
        return tuple(parts)
    joined: list[Part] = []
    for quoted, group in groupby(parts, _quoting):
        if quoted is None:
            joined += group
        else:
            text = "".join(part.value for part in group if isinstance(part, Text))
            joined.append(Text(text, quoted))
    return tuple(joined)


def _quoting(part: Part) -> bool | None:
    return part.quoted if isinstance(part, Text) else None
