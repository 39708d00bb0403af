"""Two readings of a script: along tree-sitter's tree, and by the strict parser alone."""

import json
import os
import random
from pathlib import Path

import pytest

from nacre.syntax.budget import Budget
from nacre.syntax.parser.cursor import NotBashError
from nacre.syntax.parser.grammar import Grammar
from nacre.syntax.parser.treesitter import parse_with_treesitter

SHARED = Path(__file__).parents[3] / "shared" / "corpus"
CORPUS = Path(os.environ.get("NACRE_CORPUS", SHARED))
AT_MOST = 400  # scripts of each kind; all of them if NACRE_CORPUS is set

SCRIPTS = [
    "ls",
    "ls -la | grep x > out 2>&1",
    "cd a && make -j4 || echo failed; exit 1",
    "a & b & wait",
    "A=1 B=$x c d",
    "A=1 B=2",
    "A=",
    "A+=b a[1]=c",
    "arr=(a b 'c d' $(e))",
    "export A=1 B C=(x y) D",
    "declare -a list=(a b) && local x=1 y",
    "readonly X; unset Y; unset -f z",
    "> f",
    "> f cat < g",
    "cat 2> /dev/null < in > out -n more words",
    "a <<< b c",
    'a <<< "$x" | b',
    "exec 3>&1 4>&- 2>>log",
    "a &> f; b &>> f; c >| f; e >&2",
    "for i; do a; done",
    "! a",
    "! a | b && ! c",
    "a | b |& c",
    "a |\n  b |\n  # why\n  c",
    "a &&\n b ||\n\n c",
    "a \\\n  -b \\\n  -c",
    "a; b;\nc ;\n\n# d\n  e # f\n",
    '#!/bin/bash\nset -euo pipefail\n\nmain "$@"\n',
    '[ -f x ] && [ "$a" = b ] || [ ! -d y ]',
    "[ a -a b -o c ]",
    "[[ a == b* && -f $x || ! ( c < d ) ]] && e",
    '[[ $x =~ ^(a|b)+$ ]]; [[ -n "$y" ]] 2> f',
    "((a = b + c)) && ((d++)) > f",
    "if a; then b; fi",
    "if a\nthen\n  b\n  c\nelif d; then e\nelse\n  f\nfi > log 2>&1",
    "if a && b | c; then d & fi",
    "if ! a; then b; else if c; then d; fi; fi",
    'while read -r x; do echo "$x"; done < f | sort',
    "until a; b; do c; sleep 1; done &",
    'for i in a b "$@" {1..3} *.c; do d "$i"; done',
    "for ((i = 0; i < 3; i++)); do a; done",
    "for ((;;)) { a; break; }",
    "select x in a b; do c; break; done",
    "case $x in a) b ;; c | d) e; f ;; (g) ;; *) h ;& i) j ;;& k) l\nesac",
    'case "$1" in\n  # first\n  start)\n    a\n    ;;\n  --*) b;;\nesac > f',
    "case a in esac",
    "( a; b ) && { c; d; } > f",
    "(a) | (b; c &) | { d; }",
    "{\n a\n}\n",
    "f() { a; }; f",
    "f () ( a )",
    "f()\n{\n  local x=$1\n  b\n}",
    "function f { a; } > log",
    "function f() { a; }",
    "f() if a; then b; fi",
    "f() [[ a ]]",
    "echo 'a b' \"c $d\" $'e\\n' \\; {f,g} ~/h *.i [j] k=l #m",
    "echo a#b c=d -- -e --f=g @ % + , : . / ^ ?",
    "echo $x ${x} ${x:-a b} ${x%%.*} ${x//a/b} ${#x} ${!x} ${x[1]} ${x[@]:1} $1 $? $$ $@",
    "echo $((1 + 2)) $(a | b) `c` <(d) >(e)",
    'echo "$(a "$(b \'c\')")" "`d`" "${e:-$(f)}"',
    'x=$(a && b; c) y=`d` z="$(e)"',
    "x=$(\n  a |\n  b\n)",
    "git commit -m 'rm -rf /; sudo x' && git push",
    "grep -E '^(a|b)' f | awk '{print $1}' | xargs -I{} rm {}",
    "find . -name '*.o' -exec rm {} \\; -o -print",
    "docker run --rm -v \"$PWD:/w\" img sh -c 'a && b'",
    "echo é ü && rm 'ß' # ñ\nls",
    "a \u3000b",
    "a\tb\t|\tc",
    "a;b|c&&d||e&f",
    "echo {a,b}>f",
    "x=1; y=2 ; z=3 &",
    "a() { b; }\n\n\nc() { d; }\n\na\nc\n",
    "let x=1 y+=2",
    'test a = b && eval "$x"',
    "a=$b/c d; e=f:g:h",
    "a 1>f 2>g 10>h",
    "a>f<g",
    "a `b` c",
    "a ;\tb",
]

# Bash, all of it, but tree-sitter-bash 0.25.1 does not think so, or thinks something else.
ALONE = [
    "for i in; do b; done",
    "for i\nin a\ndo\n  b\ndone",
    "for i in a; { b; }",
    "time a",
    "a <> f",
    "echo if then done { } ! in",
    "a\r\nb\r\n",
    "cat <<E; a\nb\nE",
    "{fd}> f a",
    "a &\\\n& b",
]
WORDS = r"""
a b -rf / foo x=y 1 {a,b} * ~ é --k=v a.b , + {} : [ ] ! a#b { } if done in = == ? - _ 'a;b' "a&b"
"$x" $'a\'b' \; \| \( '' "" $x ${x} ${x:-a} ${x##b} $((1+2)) $1 $* ${#x} `a` "`a`"
"""
TEXTS = [*WORDS.split(), "a\\\nb", "'a b'", '"a\nb"']
NAMES = ("a", "b", "rm", "git", "x1", "_y", "echo", "export", "declare", "unset", "test")
ASSIGNED = ("A=1", "B=", "C=$x", "a[1]=2", "A+=b", "D=(b c)", 'E="x y"')
REDIRECTS = (">f", "2> /dev/null", "< $x", '>> "a b"', "<<< c", "&>f", "2>&1")
JOINS = (" && ", " || ", "; ", ";", " & ", "\n", " &&\n", "\n\n", " # c ; d\n", " | ", "|", " |\n")
ENDS = ("; ", "\n", " ;\n", " & ", "\n\n", " # c\n")
SUBSTITUTIONS = ("$(@)", '"$(@)"', "<(@)", "x$(@)y", "${x:-$(@)}")
# A `@` stands for commands, a `%` for commands with blanks around and an end.
COMPOUNDS = (
    "(@)",
    "{%}",
    "if%then%fi",
    "if%then%elif%then%fi",
    "if%then%else%fi",
    "while%do%done",
    "until%do%done",
    "for x in a $y; do%done",
    "for x; do%done",
    "for ((i=0;i<3;i++)); do%done",
    "select x in a b; do%done",
    "case $x in a|b)%;; *) @;; esac",
    "f() {%}",
    "function f {%}",
    "g() (@)",
    "[[ $x = a* && -f y ]]",
    "((a<b))",
    "[ -f x ]",
    "! @",
)
DAMAGE = [*";|&()'\"`}\n\\<>#", "$(", " fi ", "\\\n"]


class Maker:
    """Puts commands together; the same ones for the same number."""

    def __init__(self, seed: int) -> None:
        self.pick = random.Random(seed)  # noqa: S311

    def commands(self, depth: int) -> str:
        text = self.command(depth)
        while self.pick.random() < 0.35:
            text += self.pick.choice(JOINS) + self.command(depth)
        return text

    def command(self, depth: int) -> str:
        if not depth or self.pick.random() < 0.6:
            return self.simple(depth)
        text = self.filled(self.pick.choice(COMPOUNDS), depth)
        return text + self.pick.choice(("", "", " ")) + self.perhaps(REDIRECTS)

    def simple(self, depth: int) -> str:
        words = [self.perhaps(ASSIGNED), self.pick.choice(NAMES)]
        words += self.pick.choices(TEXTS, k=self.pick.randrange(4))
        if depth and self.pick.random() < 0.3:
            words.append(self.filled(self.pick.choice(SUBSTITUTIONS), depth))
        words.insert(self.pick.randrange(len(words) + 1), self.perhaps(REDIRECTS))
        return self.pick.choice((" ", " ", "  ", "\t", " \\\n")).join(filter(None, words))

    def filled(self, shape: str, depth: int) -> str:
        text = shape
        while "%" in text:
            body = self.commands(depth - 1)
            text = text.replace("%", self.pick.choice(" \n") + body + self.pick.choice(ENDS), 1)
        return text.replace("@", self.commands(depth - 1))

    def perhaps(self, choices: tuple[str, ...]) -> str:
        return self.pick.choice(choices) if self.pick.random() < 0.15 else ""

    def damaged(self, text: str) -> str:
        place = self.pick.randrange(len(text) + 1)
        return text[:place] + self.pick.choice(DAMAGE) + text[place + self.pick.randrange(2) :]


def agree(script: str) -> bool:
    """Whether there were two readings; if so they must be the same."""
    budget = Budget(100_000, 10_000_000_000)
    guided = parse_with_treesitter(script, budget)
    if guided is None:
        return False
    strict = Grammar(script, budget).lines((NotBashError,))
    assert strict.error is None, script
    # Not by themselves: named tuples are equal to others with the same fields.
    assert repr(guided) == repr(strict.tree), script
    return True


@pytest.mark.parametrize("script", SCRIPTS)
def test_both_read_the_same(script: str) -> None:
    assert agree(script)


@pytest.mark.parametrize("script", ALONE)
def test_the_strict_parser_reads_what_treesitter_cannot(script: str) -> None:
    assert not agree(script)
    assert Grammar(script, Budget()).lines((NotBashError,)).error is None


def test_both_read_the_same_in_whatever_is_put_together() -> None:
    makers = [Maker(seed) for seed in range(AT_MOST)]
    both = sum(agree(maker.commands(depth=2)) for maker in makers)
    assert both > AT_MOST / 2


def test_both_read_the_same_in_what_is_damaged() -> None:
    makers = [Maker(seed) for seed in range(AT_MOST)]
    both = sum(agree(maker.damaged(maker.commands(depth=1))) for maker in makers)
    assert both > AT_MOST / 4


@pytest.mark.parametrize(
    "name",
    [
        "gha_run_blocks.json",
        "doc_bash_fences.json",
        "intercode_llm_actions.json",
        "nl2bash.txt",
        "tldr.txt",
    ],
)
def test_both_read_the_same_in_what_people_write(name: str) -> None:
    path = CORPUS / name
    if not path.exists():
        pytest.skip("the corpus is not here")
    text = path.read_text("utf-8")
    found: list[str] = json.loads(text) if path.suffix == ".json" else text.splitlines()
    if "NACRE_CORPUS" not in os.environ:
        found = random.Random(1).sample(found, AT_MOST)  # noqa: S311
    assert sum(map(agree, found)) > len(found) * 0.8
