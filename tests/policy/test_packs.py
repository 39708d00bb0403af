import pytest

from nacre.errors import RuleError
from nacre.policy.guards.guard import Guard, Hit, Pack
from nacre.policy.packs import PACKS, load, prove, proving
from nacre.syntax.read import read
from nacre.syntax.script import Command, Script


def _finds_ls(command: Command, script: Script) -> Hit | None:
    del script
    return Hit(command.span) if "ls" in command.names else None


def pack(*, examples: tuple[str, ...] = (), counterexamples: tuple[str, ...] = ()) -> Pack:
    guard = Guard(
        name="ls",
        reason="",
        suggestion="",
        find=_finds_ls,
        examples=examples,
        counterexamples=counterexamples,
    )
    return Pack(name="mine", guards=(guard,))


@pytest.mark.parametrize("name", PACKS)
def test_every_guard_is_proven_and_says_why_and_what_instead(name: str) -> None:
    prove(load(name))
    for guard in load(name).guards:
        assert guard.examples
        assert guard.counterexamples
        assert guard.reason.endswith(".")
        assert guard.suggestion.endswith(".")


def test_a_guard_that_holds_is_accepted() -> None:
    prove(pack(examples=("cd x; ls",), counterexamples=("echo ls",)))


def test_a_guard_that_misses_its_example_is_an_error() -> None:
    with pytest.raises(RuleError, match=r"mine\.ls misses its example: pwd"):
        prove(pack(examples=("pwd",)))


def test_a_guard_that_refuses_its_counterexample_is_an_error() -> None:
    with pytest.raises(RuleError, match=r"mine\.ls refuses its counterexample: ls -l"):
        prove(pack(counterexamples=("ls -l",)))


def test_a_guard_that_stopped_working_answers_nothing() -> None:
    script = read("ls")
    guard = proving("mine", pack(examples=("pwd",)).guards[0])
    for _ in range(2):
        with pytest.raises(RuleError, match=r"mine\.ls misses its example: pwd"):
            guard.find(script.commands[0], script)


def test_an_unknown_pack_is_an_error_that_lists_the_known_ones() -> None:
    with pytest.raises(RuleError, match="hazards"):
        load("nothing")
