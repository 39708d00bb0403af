"""The strict parser: bash's grammar, by recursive descent.

It reads what bash 5.2 would read without aliases and with extended globs. It
reads complete lines one after another, as bash does, so that what stands before
a syntax error is known to have run.
"""

from typing import NamedTuple

from nacre.model.expression import expression
from nacre.syntax.parser.clauses import Clauses
from nacre.syntax.parser.cursor import NotBashError, new
from nacre.syntax.parser.heredocs import Heredocs
from nacre.syntax.tree import (
    Compound,
    CompoundKind,
    Coproc,
    Item,
    Node,
    Parameter,
    Pipeline,
    RawWord,
    Redirect,
    Sequence,
    Span,
)

__all__ = ("Grammar", "Progress")

_SEPARATOR = expression(r"&&|\|\||;;&|;;|;&|;|&(?!>)")
_SPLIT_OPERATOR = expression(r"([&|;])(?:\\\n)+([&|;])")
_BLANKS_ONLY = expression(r"(?:[ \t]|\\\n)*(?:#[^\n]*)?")
_OPERATORS = frozenset("&|;")
_ENDS_SEQUENCE = frozenset((")", ""))
_PIPE = expression(r"\|&?(?!\|)")
_NAME = expression(r"[A-Za-z_][A-Za-z0-9_]*")
_CASE_ENDS = (";;&", ";;", ";&")
_LOOPS = {"for": CompoundKind.FOR, "select": CompoundKind.SELECT}
_CONDITIONS = {"while": CompoundKind.WHILE, "until": CompoundKind.UNTIL}
_ARGUMENTS = Parameter("@", quoted=True)
_OPENS_COMPOUND = frozenset({"if", "for", "while", "until", "case", "select", "{", "[["})


class Progress(NamedTuple):
    """How far a text could be read: its commands, up to where, and why no further."""

    tree: Sequence
    end: int
    error: Exception | None = None


class Grammar(Clauses):
    """Reads commands; every method starts and ends outside of words."""

    def lines(self, failures: tuple[type[Exception], ...]) -> Progress:
        """Read the whole text, line by line, until one of these failures."""
        items: list[Item] = []
        while True:
            start = self.pos
            try:
                line = self._line()
            except failures as failure:
                return Progress(Sequence(self.span(0, start), tuple(items)), start, failure)
            if line is None:
                return Progress(Sequence(self.span(0, len(self.text)), tuple(items)), self.pos)
            items += line

    def _line(self) -> list[Item] | None:
        """Read commands up to the end of a line, or nothing at the end of the text."""
        self._skip_lines()
        if self.pos >= len(self.text):
            self.heredocs.read(self)
            return None
        items: list[Item] = []
        while True:
            node = self._pipeline(self._peek_keyword())
            separator = self._separator()
            if separator in _CASE_ENDS:
                raise NotBashError(f"unexpected {separator!r}")
            items.append(new(Item, (node, separator)))
            self._blanks()
            if separator == "\n":
                return items
            if separator in {"&&", "||"}:
                self._skip_lines()
            elif not separator and self.pos < len(self.text):
                raise NotBashError(f"unexpected {self.text[self.pos]!r}")
            elif not separator or self._at_line_end():
                return items

    def _at_line_end(self) -> bool:
        self._blanks()
        return self.pos >= len(self.text) or self.text[self.pos] == "\n"

    def commands(self, closer: str) -> Sequence:
        """Read commands up to a closing `)` or `}`, and past it."""
        outer, self.heredocs = self.heredocs, Heredocs(closer)
        body = self._sequence(closer)
        if not self.text.startswith(closer, self.pos):
            raise NotBashError(f"a {closer!r} is missing")
        self.pos += 1
        if self.heredocs.waiting:
            raise NotBashError("a here-document begins inside of a substitution and ends outside")
        self.heredocs = outer
        return body

    def inside(self, text: str, at: int | Span) -> Sequence:
        """Read a text of its own, to its end."""
        grammar = Grammar(text, self.budget, at, self.depth)
        progress = grammar.lines((NotBashError,))
        if progress.error:
            # Bash complains about it when it gets there, and goes on.
            self.budget.flaw = self.budget.flaw or str(progress.error)
        return progress.tree

    def _sequence(self, *stops: str) -> Sequence:
        """Read commands until a word or character that ends them; that is left."""
        self.budget.spend()
        self._skip_lines()
        text, start = self.text, self.pos
        items: list[Item] = []
        while (char := text[self.pos : self.pos + 1]) not in _ENDS_SEQUENCE:
            keyword = self._peek_keyword()
            if keyword in stops or (char == ";" and text.startswith(_CASE_ENDS, self.pos)):
                break
            node = self._pipeline(keyword)
            separator = self._separator()
            items.append(new(Item, (node, separator)))
            if separator in _CASE_ENDS:
                self.pos -= len(separator)
                break
            if not separator:
                break
            self._skip_lines()
        return new(Sequence, (self.span(start, self.pos), tuple(items)))

    def _separator(self) -> str:
        """Read what follows a command, from after the blanks; nothing is possible, too."""
        char = self.text[self.pos : self.pos + 1]
        if char == "\n":
            self.pos += 1
            if self.heredocs.waiting:
                self.heredocs.read(self)
            return char
        if char not in _OPERATORS:
            return ""
        if self.continued and (split := _SPLIT_OPERATOR.match(self.text, self.pos)):
            joined = split[1] + split[2]
            if joined in {"&&", "||", ";;"}:
                self.pos = split.end()
                return joined
        found = _SEPARATOR.match(self.text, self.pos)
        if found is None:
            return ""
        self.pos = found.end()
        return found[0]

    def _pipeline(self, keyword: str | None) -> Node:
        """Read commands joined by bars, the first of which begins with this keyword or none."""
        start, prefixed = self.pos, False
        stages: list[Node] = []
        while keyword in {"!", "time"}:
            prefixed = True
            self._keyword(keyword)
            if keyword == "time":
                self._time_options()
            keyword = self._peek_keyword()
        if not (prefixed and self._nothing_follows()):
            node = self._command(keyword)
            if not prefixed and self.text[self.pos : self.pos + 1] != "|":
                return node
            stages.append(node)
        while (pipe := _PIPE.match(self.text, self.pos)) and not (
            self.continued and self._splits_an_operator()
        ):
            self.pos = pipe.end()
            self._skip_lines()
            # After a bar `time` is the program of that name.
            keyword = self._peek_keyword()
            stages.append(self._simple() if keyword == "time" else self._command(keyword))
        if len(stages) == 1 and not prefixed:
            return stages[0]
        return new(Pipeline, (self.span(start, self.pos), tuple(stages)))

    def _splits_an_operator(self) -> bool:
        """Whether the bar here and one after a continued line are one operator."""
        split = _SPLIT_OPERATOR.match(self.text, self.pos)
        return split is not None and split[2] == "|"

    def _nothing_follows(self) -> bool:
        """Whether `time` or `!` stands alone, which is allowed."""
        if self.text.startswith("&>", self.pos):
            return False
        return self.pos >= len(self.text) or self.text[self.pos] in ";\n&|)"

    def _time_options(self) -> None:
        for option in ("-p", "--"):
            end = self.pos + len(option)
            if self.text.startswith(option, self.pos) and self.text[end : end + 1] in (
                *" \t\n;&|()<>",
                "",
            ):
                self.pos = end
                self._blanks()

    def command(self) -> Node:
        """Read one command, simple or compound, and the blanks after it."""
        return self._command(self._peek_keyword())

    def _command(self, keyword: str | None) -> Node:
        """Read one command that begins with this keyword, or with none."""
        self.budget.spend()
        if keyword is None:
            return self._parenthesis() if self.text.startswith("(", self.pos) else self._simple()
        self.deeper()
        node = self._compound(keyword)
        self.depth -= 1
        return node

    def _compound(self, keyword: str) -> Node:
        start = self.pos
        self._keyword(keyword)
        if keyword == "coproc":
            return self._coproc(start)
        if keyword == "function":
            return self._function(start)
        if keyword in _CONDITIONS:
            bodies = (self._until("do"), self._until("done"))
            return self._finish(start, _CONDITIONS[keyword], bodies)
        if keyword in _LOOPS:
            return self._loop(start, _LOOPS[keyword])
        match keyword:
            case "{":
                return self._finish(start, CompoundKind.GROUP, (self._until("}"),))
            case "if":
                return self._finish(start, CompoundKind.IF, self._branches())
            case "case":
                return self._case(start)
            case "[[":
                return self._test(start)
            case _:
                raise NotBashError(f"unexpected {keyword!r}")

    def _until(self, keyword: str) -> Sequence:
        """Read commands up to a keyword, and past it."""
        body = self._sequence(keyword)
        if not body.items:
            raise NotBashError(f"a command is missing before {keyword!r}")
        self._take(keyword)
        return body

    def _branches(self) -> tuple[Sequence, ...]:
        bodies = [self._until("then")]
        while True:
            body = self._sequence("elif", "else", "fi")
            if not body.items:
                raise NotBashError("a command is missing after 'then'")
            bodies.append(body)
            self._skip_lines()
            match self._peek_keyword():
                case "elif":
                    self._keyword("elif")
                    bodies.append(self._until("then"))
                case "else":
                    self._keyword("else")
                    bodies.append(self._until("fi"))
                    return tuple(bodies)
                case "fi":
                    self._keyword("fi")
                    return tuple(bodies)
                case _:
                    raise NotBashError("'fi' is missing")

    def _finish(
        self,
        start: int,
        kind: CompoundKind,
        bodies: tuple[Sequence, ...],
        words: tuple[RawWord, ...] = (),
        name: str = "",
    ) -> Compound:
        """Read the redirections after a compound command, and make it."""
        redirects: list[Redirect] = []
        after_keyword = _BLANKS_ONLY.fullmatch(self.text, self.ended, self.pos)
        end = self.ended if self.ended > start and after_keyword else self.pos
        self._blanks()
        while redirect := self._redirect():
            redirects.append(redirect)
            end = self.pos
            self._blanks()
        fields = (self.span(start, end), kind, bodies, words, name, tuple(redirects))
        return new(Compound, fields)

    def _parenthesis(self) -> Node:
        start = self.pos
        self.deeper()
        try:
            if self.text.startswith("((", start):
                self.pos += 2
                if (parts := self.arithmetic()) is not None:
                    word = RawWord(self.span(start, self.pos), parts)
                    return self._finish(start, CompoundKind.ARITHMETIC, (), (word,))
            self.pos = start + 1
            body = self._sequence(")")
            if not body.items or not self.text.startswith(")", self.pos):
                raise NotBashError("a parenthesis is not closed, or has no command")
            self.pos += 1
            return self._finish(start, CompoundKind.SUBSHELL, (body,))
        finally:
            self.depth -= 1

    def _loop(self, start: int, kind: CompoundKind) -> Compound:
        if self.text.startswith("((", self.pos):
            head = self.pos
            self.pos += 2
            parts = self.arithmetic()
            if parts is None:
                raise NotBashError("'))' is missing")
            words: list[RawWord] = [RawWord(self.span(head, self.pos), parts)]
            kind, name = CompoundKind.ARITHMETIC_FOR, ""
        else:
            name = self.word().plain or ""
            words = self._loop_values()
        self._blanks()
        if self.text.startswith(";", self.pos):
            self.pos += 1
        self._skip_lines()
        if self._peek_keyword() == "{":
            self._keyword("{")
            body = self._until("}")
        else:
            self._take("do")
            body = self._until("done")
        return self._finish(start, kind, (body,), tuple(words), name)

    def _loop_values(self) -> list[RawWord]:
        """Read `in a b c`; without it a loop goes over the arguments."""
        before = self.pos
        self._skip_lines()
        if self._peek_keyword() != "in":
            if self.text.startswith(";", before):
                self.pos = before
            return [RawWord(self.span(self.pos, self.pos), (_ARGUMENTS,))]
        self._keyword("in")
        words: list[RawWord] = []
        while self.pos < len(self.text) and self.text[self.pos] not in ";\n&|()":
            words.append(self.word())
            self._blanks()
        return words

    def _case(self, start: int) -> Compound:
        words = [self.word()]
        bodies: list[Sequence] = []
        self._take("in")
        while True:
            self._skip_lines()
            if self._peek_keyword() == "esac":
                self._keyword("esac")
                return self._finish(start, CompoundKind.CASE, tuple(bodies), tuple(words))
            words += self._patterns()
            bodies.append(self._sequence("esac"))
            self._skip_lines()
            ends = [each for each in _CASE_ENDS if self.text.startswith(each, self.pos)]
            if ends:
                self.pos += len(ends[0])
            elif self._peek_keyword() != "esac":
                raise NotBashError("'esac' is missing")

    def _test(self, start: int) -> Compound:
        """Read `[[ ... ]]`: its operators are skipped, its operands may run commands."""
        words: list[RawWord] = []
        while True:
            self._skip_lines()
            if self.pos >= len(self.text):
                raise NotBashError("']]' is missing")
            if self.text[self.pos] in "()<>|&;" and not self._substitutes():
                self.pos += 1
                continue
            word = self.word()
            plain = word.plain
            if plain == "]]":
                return self._finish(start, CompoundKind.TEST, (), tuple(words))
            words.append(word)
            if plain == "=~":
                self._blanks()
                words.append(self.regex())

    def _coproc(self, start: int) -> Coproc:
        if self._peek_keyword() is None and (name := _NAME.match(self.text, self.pos)):
            before = self.pos
            self.pos = name.end()
            self._blanks()
            opens = self._peek_keyword() in _OPENS_COMPOUND or self.text.startswith("(", self.pos)
            if self.pos == name.end() or not opens:
                self.pos = before
        body = self.command()
        return Coproc(self.span(start, self.pos), body)
