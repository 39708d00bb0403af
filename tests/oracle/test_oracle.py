"""What runs is in the reading: a sample; `make oracle` runs the whole."""

from collections.abc import Iterator

import pytest

from oracle.campaign import Finding, cases, fuzz, tried
from oracle.generate import generated
from oracle.judge import FAILURES, Answer
from oracle.namespace import Namespace
from oracle.shrink import shrunk

_SEED = 7
_SCRIPTS = 300

needs_namespace = pytest.mark.needs("namespace")


@pytest.fixture(scope="module")
def place() -> Iterator[Namespace]:
    with Namespace() as place:
        yield place


def _misreads(findings: list[Finding]) -> list[Finding]:
    return [finding for finding in findings if finding.answer in FAILURES]


@needs_namespace
def test_the_reading_of_a_generated_script_knows_everything_that_runs() -> None:
    report = tried(fuzz(_SEED, _SCRIPTS), workers=2)
    assert _misreads(report.findings) == []
    assert report.ran > _SCRIPTS * 0.8
    assert report.literally[Answer.OPAQUE] < report.literal * 0.02


@needs_namespace
def test_the_reading_of_a_shared_case_knows_everything_that_runs() -> None:
    samples = cases()[::12]
    if not samples:
        pytest.skip("the shared cases are not here")
    assert _misreads(tried(samples, workers=2).findings) == []


@needs_namespace
@pytest.mark.parametrize(
    ("script", "calls"),
    [
        ("rm -rf / 'a b' ''", [("rm", "-rf", "/", "a b", "")]),
        ("env -i rm a", [("env", "-i", "rm", "a"), ("rm", "a")]),
        ("command -p git a", [("git", "a")]),
        ("bash -lc 'reboot'", [("reboot",)]),
        ("/bin/rm a; /usr/bin/rm b", [("rm", "a"), ("rm", "b")]),
        ("sudo -u x rm a", [("sudo", "-u", "x", "rm", "a"), ("rm", "a")]),
        ("(rm a &); true", [("rm", "a")]),
        ("git a\necho 'x", [("git", "a")]),
        ("echo rm", []),
    ],
)
def test_a_run_tells_which_programs_were_called(
    place: Namespace, script: str, calls: list[tuple[str, ...]]
) -> None:
    assert list(place.run(script).calls) == calls


@needs_namespace
def test_a_script_cannot_hurt_anything_or_change_what_the_next_one_sees(place: Namespace) -> None:
    assert place.run("kill -9 -1; echo a >/etc/passwd && rm bad").calls == ()
    assert place.run(": >/tmp/left; cd /; echo a >b && rm bad").calls == ()
    assert place.run("[ -e /tmp/left ] && rm bad; [ -w /usr/bin ] && rm bad").calls == ()
    assert place.run("(: </dev/tcp/127.0.0.1/1) && rm bad; ls /sys /run /var && rm bad").calls == ()
    assert place.run(":(){ :|:& };:").status is not None
    assert place.run("git still here").calls == (("git", "still", "here"),)


def test_the_same_number_makes_the_same_script() -> None:
    assert [generated(seed) for seed in range(50)] == [generated(seed) for seed in range(50)]


def test_a_script_is_shrunk_to_what_matters() -> None:
    script = "echo a\nif true; then\n  git push 'x y' && rm -rf /\nfi\n"
    assert shrunk(script, lambda text: "rm" in text and "if" in text) == "ifrm"
