"""The soundness guard: a text read along tree-sitter's tree, and only what both agree on.

tree-sitter-bash misreads some valid bash without a word. So its tree is asked
only which commands there are and how they are nested. At each of its nodes the
strict lexer must stand where the node begins, must read what the node is said to
be, and must come out where it ends. Only the kinds of nodes named here are known;
any other, and any difference, ends the reading.
"""

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from nacre.syntax.parser.grammar import Grammar
from nacre.syntax.parser.guides import BETWEEN, REDIRECTS, Guide, borders, guides, unfolded
from nacre.syntax.tree import (
    Compound,
    CompoundKind,
    Function,
    Item,
    Node,
    Pipeline,
    RawWord,
    Sequence,
    Simple,
    Text,
)

if TYPE_CHECKING:
    from tree_sitter import Node as Part

__all__ = ("DistrustError", "Guided")

_SIMPLE = frozenset(
    {
        "command",
        "declaration_command",
        "redirected_statement",
        "unset_command",
        "variable_assignments",
    }
)
_COMPOUND = frozenset(
    {
        "c_style_for_statement",
        "case_statement",
        "compound_statement",
        "for_statement",
        "function_definition",
        "if_statement",
        "subshell",
        "test_command",
        "while_statement",
    }
)
_LOOPS = frozenset({"for_statement", "c_style_for_statement"})
_KEYWORDS = frozenset(
    {"if", "then", "elif", "else", "fi", "while", "until", "do", "done", "{", "}"}
)
_CASE_ENDS = frozenset({";;", ";&", ";;&"})


class DistrustError(Exception):
    """The tree and the lexer do not agree."""


class Guided(Grammar):
    """Reads commands where a tree says they are."""

    def program(self, root: "Part") -> Sequence:
        """Read the whole text along its tree.

        Raises:
            DistrustError: If the tree and the lexer do not agree.
            NotBashError: If the lexer finds that it is not bash.
            OverBudgetError: If there is too much of it.
        """
        self._skip_lines()
        items = self._items(root.children)
        self._at(len(self.text))
        return Sequence(self.span(0, len(self.text)), items)

    def _at(self, position: int) -> None:
        if self.pos != position:
            raise DistrustError("a part begins or ends elsewhere")

    def _token(self, part: "Part") -> None:
        """Read a keyword."""
        self._at(part.start_byte)
        keyword = part.type
        if self._peek_keyword() != keyword:
            raise DistrustError(f"{keyword!r} is not a keyword here")
        self._keyword(keyword)

    def _items(self, parts: "Iterable[Part]") -> tuple[Item, ...]:
        items: list[Item] = []
        commands = guides(parts)
        separator = "\n"
        for command in commands:
            if not separator or separator in _CASE_ENDS:
                raise DistrustError("a separator is missing")
            node = self._stages(command, commands)
            separator = self._separator()
            items.append(Item(node, separator))
            if separator in _CASE_ENDS:
                self.pos -= len(separator)
            elif separator:
                self._skip_lines()
        if separator in {"&&", "||"}:
            raise DistrustError("a command is missing")
        return tuple(items)

    def _stages(self, guide: Guide, following: Iterator[Guide]) -> Node:
        """Read what is joined by pipes."""
        start, stages, negated = self.pos, list[Node](), guide.node.type == "!"
        while guide.node.type == "!":
            self._token(guide.node)
            guide = _next(following)
        stages.append(self._node(guide))
        self._blanks()
        while self.text.startswith("|", self.pos) and not self.text.startswith("||", self.pos):
            self.pos += 2 if self.text.startswith("|&", self.pos) else 1
            self._skip_lines()
            stages.append(self._node(_next(following)))
            self._blanks()
        if len(stages) == 1 and not negated:
            return stages[0]
        return Pipeline(self.span(start, self.pos), tuple(stages))

    def _node(self, guide: Guide) -> Node:
        self.budget.spend()
        part = guide.node
        self._at(part.start_byte)
        kind = part.type
        if kind in _SIMPLE:
            return self._words(part.children, guide)
        if kind == "variable_assignment":
            return self._words([part], guide)
        if kind not in _COMPOUND:
            raise DistrustError(f"{kind!r} is not known")
        parts = part.children
        if parts[0].type == "[":
            return self._bracket(guide)
        self.deeper()
        node = (
            self._definition(parts, guide.redirects)
            if kind == "function_definition"
            else self._along(kind, parts, guide.redirects)
        )
        self.depth -= 1
        return node

    def _bracket(self, guide: Guide) -> Node:
        """Read `[ ... ]`, whose parts are plain words to bash."""
        node = self._simple()
        if node.span.end != guide.end:
            raise DistrustError("a test ends elsewhere")
        return node

    def _words(self, parts: "list[Part]", guide: Guide) -> Simple:
        """Read a simple command; all of its words must have the same borders."""
        if self._peek_keyword() is not None:
            raise DistrustError("a keyword is not a command")
        node = self._simple()
        if not isinstance(node, Simple):
            raise DistrustError("it defines a function")
        mine = [each.span for each in node.words]
        if node.assignments or node.redirects:
            mine += [each.span for each in node.assignments]
            mine += [each.span for each in node.redirects]
            mine.sort()
            theirs = [*borders(parts), *borders(guide.redirects)]
        else:
            theirs = [(part.start_byte, part.end_byte) for part in (*parts, *guide.redirects)]
        if mine != theirs:
            raise DistrustError("words have other borders")
        return node

    def _along(self, kind: str, parts: "list[Part]", redirects: "tuple[Part, ...]") -> Compound:
        """Read a compound command along its parts."""
        node = self._compound_of(kind, parts)
        if [each.span for each in node.redirects] != [*borders(redirects)]:
            raise DistrustError("redirections have other borders")
        return node

    def _compound_of(self, kind: str, parts: "list[Part]") -> Compound:
        start, first = self.pos, parts[0].type
        if first in {"[[", "(("}:
            return self._expression(first, parts[-1])
        if first == "(":
            return self._parenthesized(start, parts)
        if first == "case":
            return self._cases(start, parts)
        if kind in _LOOPS:
            return self._loop_over(start, parts)
        return self._finish(start, CompoundKind(first), self._bodies(parts))

    def _expression(self, opener: str, closer: "Part") -> Compound:
        """Read a test or an arithmetic command, of which only the end is compared."""
        if opener == "[[" and self._peek_keyword() != opener:
            raise DistrustError("it is not a test")
        node = self._compound(opener) if opener == "[[" else self._parenthesis()
        if not isinstance(node, Compound) or node.kind is CompoundKind.SUBSHELL:
            raise DistrustError("it is not arithmetic")
        end = node.redirects[0].span.start if node.redirects else node.span.end
        if closer.end_byte > end or self.text[closer.end_byte : end].strip():
            raise DistrustError("an expression ends elsewhere")
        return node

    def _bodies(self, parts: "Iterable[Part]") -> tuple[Sequence, ...]:
        """Read from a keyword to a keyword, with commands between them."""
        bodies: list[Sequence] = []
        between: list[Part] = []
        opened = False
        for part in unfolded(parts):
            if part.type not in _KEYWORDS:
                between.append(part)
                continue
            if opened:
                bodies.append(self._body(between))
                between = []
            self._token(part)
            opened = True
        if between:
            raise DistrustError("a keyword is missing")
        return tuple(bodies)

    def _body(self, parts: "Iterable[Part]", *, empty: bool = False) -> Sequence:
        self._skip_lines()
        start = self.pos
        items = self._items(parts)
        if not (items or empty):
            raise DistrustError("a command is missing")
        body = Sequence(self.span(start, self.pos), items)
        self._skip_lines()
        return body

    def _parenthesized(self, start: int, parts: "list[Part]") -> Compound:
        if self.text.startswith("((", start):
            # To bash this is arithmetic, and two parentheses only if that fails.
            raise DistrustError("it may be arithmetic")
        self.pos += 1
        body = self._body(parts[1:-1])
        self._at(parts[-1].start_byte)
        self.pos += 1
        return self._finish(start, CompoundKind.SUBSHELL, (body,))

    def _loop_over(self, start: int, parts: "list[Part]") -> Compound:
        """Read `for` and `select`."""
        kind, name = CompoundKind(parts[0].type), ""
        self._token(parts[0])
        head = self.pos
        if parts[1].type == "((":
            kind = CompoundKind.ARITHMETIC_FOR
            self.pos += 2
            inner = self.arithmetic() or ()
            words = [RawWord(self.span(head, self.pos), inner)]
            self._at(max(each.end_byte for each in parts if each.type == "))"))
        else:
            name = self.word().plain or ""
            self._at(parts[1].end_byte)
            words = self._loop_values()
            values = [each for each in parts[3:-1] if each.type not in BETWEEN]
            if parts[2].type == "in" and [each.span for each in words] != [*borders(values)]:
                raise DistrustError("words have other borders")
        self._blanks()
        if self.text.startswith(";", self.pos):
            self.pos += 1
        self._skip_lines()
        return self._finish(start, kind, self._bodies(parts[-1].children), tuple(words), name)

    def _cases(self, start: int, parts: "list[Part]") -> Compound:
        self._token(parts[0])
        words, bodies = [self.word()], list[Sequence]()
        self._at(parts[1].end_byte)
        self._skip_lines()
        self._token(parts[2])
        for part in parts[3:]:
            self._skip_lines()
            if part.type == "case_item":
                self._at(part.start_byte)
                words += self._patterns()
                bodies.append(self._arm(part.children))
            elif part.type != "comment":
                self._token(part)
        return self._finish(start, CompoundKind.CASE, tuple(bodies), tuple(words))

    def _arm(self, parts: "list[Part]") -> Sequence:
        """Read what a case runs, from after its patterns."""
        closer = [each.type for each in parts].index(")")
        self._at(parts[closer].end_byte)
        last = parts[-1]
        if last.type not in _CASE_ENDS:
            return self._body(parts[closer + 1 :], empty=True)
        body = self._body(parts[closer + 1 : -1], empty=True)
        self._at(last.start_byte)
        self.pos = last.end_byte
        return body

    def _definition(self, parts: "list[Part]", redirects: "tuple[Part, ...]") -> Function:
        start, head = self.pos, parts[0]
        if head.type == "function":
            self._token(head)
            head = parts[1]
        elif self._peek_keyword() is not None or self._assignment([]) is not None:
            raise DistrustError("it does not define a function")
        name = self.word()
        self._at(head.end_byte)
        self._blanks()
        if self.text.startswith("(", self.pos):
            self._empty_parentheses()
        self._skip_lines()
        own = tuple(each for each in parts if each.type in REDIRECTS)
        (body,) = (each for each in parts if each.type in _COMPOUND)
        node = self._node(Guide(body, (*own, *redirects)))
        if not isinstance(node, Compound):
            raise DistrustError("a function needs a compound command")
        text = "".join(part.value for part in name.parts if isinstance(part, Text))
        return Function(self.span(start, self.pos), text, node)


def _next(following: Iterator[Guide]) -> Guide:
    guide = next(following, None)
    if guide is None:
        raise DistrustError("a command is missing")
    return guide
