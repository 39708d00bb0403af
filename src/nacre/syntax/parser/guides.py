"""What is taken from tree-sitter's tree: commands, the parts of compound ones, borders."""

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from tree_sitter import Node

__all__ = ("BETWEEN", "REDIRECTS", "Guide", "borders", "guides", "unfolded")

# A comment may stand between all parts; the rest joins commands or ends them.
BETWEEN = frozenset({"comment", ";", "&", "&&", "||", "|", "|&", "\n"})
REDIRECTS = frozenset({"file_redirect", "herestring_redirect"})
_JOINS = frozenset({"list", "pipeline", "negated_command"})
_CLAUSES = frozenset({"do_group", "elif_clause", "else_clause"})


class Guide(NamedTuple):
    """The node of one command, or of a `!`, and the redirections that belong to it."""

    node: "Node"
    redirects: "tuple[Node, ...]" = ()

    @property
    def end(self) -> int:
        """Where it ends, redirections and all."""
        return (self.redirects[-1] if self.redirects else self.node).end_byte


def guides(nodes: "Iterable[Node]") -> Iterator[Guide]:
    """The commands of lists and pipelines, in the order written, and each `!` before one.

    What joins them is read from the text. The tree puts redirections around a
    whole list, and lists into pipelines; here they come to the command they follow.
    """
    waiting = [Guide(node) for node in nodes]
    waiting.reverse()
    while waiting:
        guide = waiting.pop()
        kind = guide.node.type
        if kind in BETWEEN:
            continue
        if kind in _JOINS:
            *before, last = guide.node.children
            waiting.append(Guide(last, guide.redirects))
            waiting.extend(Guide(node) for node in reversed(before))
        elif kind == "redirected_statement" and (inner := _redirected(guide)):
            waiting.append(inner)
        else:
            yield guide


def _redirected(guide: Guide) -> Guide | None:
    """What a redirected statement redirects, if it is more than redirections."""
    body, *redirects = guide.node.children
    return None if body.type in REDIRECTS else Guide(body, (*redirects, *guide.redirects))


def unfolded(nodes: "Iterable[Node]") -> "Iterator[Node]":
    """The parts of a compound command, with those of its clauses in their place."""
    for node in nodes:
        if node.type in _CLAUSES:
            yield from node.children
        else:
            yield node


def borders(nodes: "Iterable[Node]") -> Iterator[tuple[int, int]]:
    """Where words, assignments and redirections begin and end.

    The tree takes the words after `> file` for more files; they are words again here.
    """
    for node in nodes:
        if node.type != "file_redirect":
            yield node.start_byte, node.end_byte
            continue
        targets = node.children_by_field_name("destination")
        yield node.start_byte, targets[0].end_byte if targets else node.end_byte
        for target in targets[1:]:
            yield target.start_byte, target.end_byte
