import gc
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from typing import cast

import pytest

from nacre.syntax.budget import Budget
from nacre.syntax.parser.treesitter import parse_with_treesitter
from nacre.syntax.tree import Pipeline, Sequence, Simple, Span


def read(text: str) -> Sequence | None:
    return parse_with_treesitter(text, Budget())


# Valid bash in which tree-sitter-bash 0.25.1 finds something else, without an error in its tree.
MISREAD = [
    "ls | grep x | head -30\nrm -rf / && cd s",
    "ls |& grep x | head\n\nrm -rf / && cd s",
    "ls | grep x | head # c\nrm -rf / && cd s",
    "time rm x",
    "time -p rm x",
    "time { rm x; }",
    "time if a; then rm x; fi",
    "coproc rm x",
    "coproc { rm x; }",
    "coproc N { rm x; }",
    "! { rm x; }",
    "! if a; then rm x; fi",
    "echo `a` `rm x`",
    "[ a || rm x ]",
    "[ a && rm x ]",
    "[ a | rm x ]",
    "A=$B/a:$C/b rm x",
    "r\\\nm x",
    "i\\\nf a; then rm x; fi",
    "find $A/$B/c -delete",
    "find . -exec rm {}\\;",
    "a \\ -b",
    "a x`b`y",
    "! ((1))",
]

# What is not tried: tree-sitter reads these badly, or for too long.
UNTRIED = [
    "cat <<E\n$(rm x)\nE",
    "cat <<-E\n\tx\n\tE\n",
    "a\0b",
    "echo " + "x" * 4_096,
    "a 'quote that is not closed",
    "echo a; fi",
    "if a; then b",
    "a |",
    "(a",
    "a )",
]


@pytest.mark.parametrize("script", MISREAD)
def test_what_treesitter_misreads_is_left_to_the_strict_parser(script: str) -> None:
    assert read(script) is None


@pytest.mark.parametrize("script", UNTRIED)
def test_what_treesitter_is_no_good_at_is_left_to_the_strict_parser(script: str) -> None:
    assert read(script) is None


@pytest.mark.parametrize(
    ("script", "names"),
    [
        ("echo `a``rm x`", ["echo", "a", "rm"]),
        ('echo "${v%%$(rm x)}" ${v:=`git y`}', ["echo", "rm", "git"]),
        ("echo `a \\`rm x\\``", ["echo", "a", "rm"]),
        ("cat <<< $(rm x)", ["cat", "rm"]),
        ("cat <(rm x) > >(tee y)", ["cat", "rm", "tee"]),
    ],
)
def test_what_treesitter_does_not_see_inside_of_words_the_lexer_does(
    script: str, names: list[str]
) -> None:
    tree = read(script)
    assert tree is not None
    assert [word for word in _commands(tree) if word] == names


def _commands(node: object) -> list[str]:
    found: list[str] = []
    if isinstance(node, Simple) and node.words:
        found.append(node.words[0].plain or "")
    if isinstance(node, tuple):
        for each in cast("tuple[object, ...]", node):
            found += _commands(each)
    return found


def test_a_redirection_belongs_to_the_command_it_follows() -> None:
    tree = read("a && b > f | c 2>&1 -x")
    assert tree is not None
    first, second = (item.node for item in tree.items)
    assert isinstance(first, Simple)
    assert not first.redirects
    assert isinstance(second, Pipeline)
    stages = [stage for stage in second.stages if isinstance(stage, Simple)]
    assert [stage.redirects[0].operator for stage in stages] == [">", ">&"]
    assert [word.plain for word in stages[1].words] == ["c", "-x"]


def test_positions_are_characters_also_after_some_that_take_more_bytes() -> None:
    tree = read("echo 'ä€😀' é; rm ü")
    assert tree is not None
    node = tree.items[1].node
    assert isinstance(node, Simple)
    assert [(word.plain, word.span) for word in node.words] == [
        ("rm", Span(14, 16)),
        ("ü", Span(17, 18)),
    ]


def test_an_empty_text_is_no_command() -> None:
    assert read("") == Sequence(Span(0, 0))
    assert read("\n# only this\n") == Sequence(Span(0, 13))


@pytest.mark.parametrize("piece", ["a|", ")", "x=(", "((a", ">", "a;", "a&&", "{ ", "$(", "`"])
def test_it_gives_up_in_time_whatever_it_is_given(piece: str) -> None:
    script = (piece * 4_096)[:4_096]
    gc.disable()  # to collect the garbage of thousands of tests takes as long
    try:
        began = time.thread_time()
        read(script)
        assert time.thread_time() - began < 0.5
    finally:
        gc.enable()


@pytest.mark.parametrize(
    ("opener", "closer"),
    [
        ("{ ", "; }"),
        ("( ", " )"),
        ("f() { ", "; }"),
        ("case x in x) ", ";; esac"),
        ("if ", "; then b; fi"),
        ("while ", "; do b; done"),
    ],
)
def test_nesting_has_an_end(opener: str, closer: str) -> None:
    assert read(opener * 10 + "a" + closer * 10) is not None
    assert read(opener * 100 + "a" + closer * 100) is None


def test_only_what_was_read_is_paid_for() -> None:
    budget = Budget(100)
    assert parse_with_treesitter("echo a; rm b; ! { x; }", budget) is None
    assert budget.left == 100
    assert parse_with_treesitter("echo a; rm b", budget) is not None
    assert budget.left < 100
    assert parse_with_treesitter("a; b; c", Budget(2)) is None


def test_threads_read_at_the_same_time() -> None:
    scripts = [f"a{number} x | b && {{ c; d{number}; }}\n" * 5 for number in range(40)]
    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(read, scripts)) == [read(script) for script in scripts]


def test_treesitter_is_imported_by_the_first_script() -> None:
    code = "import sys, nacre.syntax.parser.treesitter; print('tree_sitter' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert done.stdout.strip() == "False"
