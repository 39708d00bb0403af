"""Options and operands of a command, as its program would tell them apart.

Every template of a word counts: what a command could be given, it is taken to be
given. A word that is not known is an operand.
"""

from collections.abc import Iterator
from dataclasses import field

from nacre.model.value import dataclass
from nacre.syntax.word import Word

__all__ = ("Arguments", "Grammar", "arguments")


@dataclass(frozen=True, slots=True, kw_only=True)
class Grammar:
    """The options of one program.

    `long` are its long options, without dashes, of which a beginning is enough if
    only one has it. `valued` are those, long or of one letter, whose value is the
    next word unless it is joined to them. `permutes` says that options may follow
    operands.
    """

    long: frozenset[str] = frozenset()
    valued: frozenset[str] = frozenset()
    permutes: bool = True

    def full(self, name: str) -> str:
        """The option that a name, perhaps shortened, stands for; itself if it is none or several."""
        if name in self.long:
            return name
        found = [each for each in self.long if each.startswith(name)]
        return found[0] if len(found) == 1 else name


@dataclass(frozen=True, slots=True, kw_only=True)
class Arguments:
    """What a command was given: its options by letter or full name, and the rest."""

    options: frozenset[str]
    operands: tuple[Word, ...]

    def has(self, *options: str) -> bool:
        """Whether it was given one of these."""
        return not self.options.isdisjoint(options)


@dataclass(slots=True)
class _Reading:
    grammar: Grammar
    options: set[str] = field(default_factory=set[str])
    operands: list[Word] = field(default_factory=list[Word])

    def take(self, words: Iterator[Word]) -> None:
        for word in words:
            if word.value == "--":
                break
            if not any(_is_option(template) for template in word.templates):
                self.operands.append(word)
                if not self.grammar.permutes:
                    break
            elif self._note(word):
                next(words, None)
        self.operands.extend(words)

    def _note(self, word: Word) -> bool:
        """Note the options a word could be; whether one of them takes the next word."""
        takes = False
        for template in word.templates:
            if template.startswith("--"):
                takes |= self._note_long(template[2:])
            elif template.startswith("-"):
                takes |= self._note_letters(template[1:])
        return takes

    def _note_long(self, option: str) -> bool:
        name, joined, _ = option.partition("=")
        full = self.grammar.full(name)
        self.options.add(full)
        return full in self.grammar.valued and not joined

    def _note_letters(self, letters: str) -> bool:
        if self.grammar.valued.isdisjoint(letters):
            self.options.update(letters)
            return False
        for at, letter in enumerate(letters, start=1):
            self.options.add(letter)
            if letter in self.grammar.valued:
                return at == len(letters)
        return False


def _is_option(template: str) -> bool:
    return len(template) > 1 and template[0] == "-"


def arguments(words: tuple[Word, ...], grammar: Grammar) -> Arguments:
    """Tell the options of a command from its operands; `words` are those after its name."""
    reading = _Reading(grammar)
    reading.take(iter(words))
    return Arguments(options=frozenset(reading.options), operands=tuple(reading.operands))
