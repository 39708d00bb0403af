from nacre.policy.reading.flags import Arguments, Grammar, arguments
from nacre.syntax.tree import Span
from nacre.syntax.word import HOLE, Word

GRAMMAR = Grammar(
    long=frozenset({"all", "force", "force-with-lease", "option"}),
    valued=frozenset({"o", "option"}),
)
FIRST_WORD_ENDS = Grammar(valued=frozenset({"C"}), permutes=False)


def given(*words: str, grammar: Grammar = GRAMMAR) -> Arguments:
    return arguments(tuple(Word(each, Span(0, 0), (each,)) for each in words), grammar)


def sources(read: Arguments) -> list[str]:
    return [word.source for word in read.operands]


def test_letters_may_share_a_dash() -> None:
    assert given("-fu", "x").options == {"f", "u"}


def test_a_long_option_may_be_shortened_while_only_one_is_meant() -> None:
    assert given("--al").has("all")
    assert given("--force").has("force")
    assert not given("--forc").has("force", "force-with-lease")
    assert given("--force-w=x").options == {"force-with-lease"}


def test_a_value_is_not_an_option() -> None:
    read = given("-o", "-f", "--option", "--all", "--option=--all", "-ofoo", "x")
    assert read.options == {"o", "option"}
    assert sources(read) == ["x"]


def test_options_may_follow_operands_until_two_dashes() -> None:
    read = given("x", "-f", "--", "-a")
    assert read.options == {"f"}
    assert sources(read) == ["x", "-a"]


def test_where_options_come_first_the_first_operand_ends_them() -> None:
    read = given("-C", "d", "push", "-f", grammar=FIRST_WORD_ENDS)
    assert read.options == {"C"}
    assert sources(read) == ["push", "-f"]


def test_a_dash_alone_and_an_unknown_word_are_operands() -> None:
    assert sources(given("-", HOLE)) == ["-", HOLE]


def test_everything_a_word_could_be_counts() -> None:
    word = Word("$x", Span(0, 2), ("-f", "-a"))
    assert arguments((word,), GRAMMAR).options == {"f", "a"}
