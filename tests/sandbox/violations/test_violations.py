"""What is told, in which words, and what never is."""

import time
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nacre.model.confinement import Confinement, Enforcement, Limits
from nacre.model.violation import Violation, ViolationKind
from nacre.sandbox.violations import violations
from nacre.sandbox.violations.evidence import Evidence
from nacre.sandbox.violations.find import _distinct, _found
from sandbox.violations.recorded import confinement, enforcement, evidence, host


def _sentences(found: Evidence) -> list[str]:
    return [each.sentence for each in _distinct(_found(found, host()))]


@pytest.mark.parametrize(
    ("sandbox", "script", "output", "sentence"),
    [
        (
            "bubblewrap",
            "touch ~/project/x",
            "touch: cannot touch '/home/dev/project/x': Read-only file system\n",
            (
                "the sandbox stopped a write to /home/dev/project/x: only /srv/project and the private /tmp"
                " are writable; write inside /srv/project, or ask the user to run with"
                " --write /home/dev/project"
            ),
        ),
        (
            "landlock",
            "echo > /tmp/x",
            "bash: line 1: /tmp/x: Permission denied\n",
            (
                "the sandbox stopped a write to /tmp/x: only /srv/project and $TMPDIR are"
                " writable; write to $TMPDIR instead"
            ),
        ),
        (
            "bubblewrap",
            "touch memo/x",
            "touch: cannot touch 'memo/x': Read-only file system\n",
            (
                "the sandbox stopped a write to /srv/project/memo/x: /srv/project/memo is protected;"
                " leave it as it is, or ask the user to change it"
            ),
        ),
        (
            "landlock",
            "cat ~/.ssh/id_rsa",
            "cat: /home/dev/.ssh/id_rsa: Permission denied\n",
            (
                "the sandbox stopped a read of /home/dev/.ssh/id_rsa: /home/dev/.ssh is not readable"
                " in here; do without it, or ask the user, whose settings (--deny-read,"
                " --confinement) decide"
            ),
        ),
        (
            "landlock",
            "curl https://example.com",
            "curl: (6) Could not resolve host: example.com\n",
            (
                "the sandbox stopped a connection to example.com: the network is denied; work without"
                " it, or ask the user to run with --network inherit"
            ),
        ),
        (
            "bubblewrap",
            "sudo id",
            'sudo: The "no new privileges" flag is set, which prevents sudo from running as root.\n',
            (
                "the sandbox stopped sudo: scripts gain no privileges; do without it, or ask the user"
                " to do this step"
            ),
        ),
    ],
)
def test_it_says_what_was_stopped_by_which_rule_and_what_to_do(
    sandbox: str, script: str, output: str, sentence: str
) -> None:
    assert _sentences(evidence(output, script=script, sandbox=sandbox)) == [sentence]


@pytest.mark.parametrize("path", ["/home/dev/x", "/x", "/srv/x", "/home/dev/.ssh/x"])
def test_nobody_is_told_to_open_a_home_or_a_store_of_secrets_for_one_file(path: str) -> None:
    everywhere = dict.fromkeys(("/", "/home", "/home/dev", "/srv", "/home/dev/.ssh"), "drwx")
    found = evidence(f"touch: cannot touch '{path}': Permission denied\n", script="make")
    (violation,) = _distinct(_found(found, replace(host(), paths=everywhere)))
    assert violation.kind is ViolationKind.WRITE
    assert "--write" not in violation.remedy


@pytest.mark.parametrize(
    ("script", "output", "exit_code", "told"),
    [
        ("git fetch -q", "", 128, True),
        ("curl -s https://example.com", "", 6, True),
        ("curl -s https://example.com", "", 22, False),
        ("curl -s http://127.0.0.1:9", "", 7, False),
        ("git fetch -q", "", 0, False),
        ("git fetch -q", "", 124, False),
        ("git fetch", "fatal: not a git repository\n", 128, False),
        ("yarn test", "3 of 10\n" * 30, 1, False),
        ("make", "", 2, False),
    ],
)
def test_a_command_that_needs_the_network_and_failed_in_silence_gets_the_hint(
    script: str, output: str, exit_code: int, *, told: bool
) -> None:
    found = _sentences(evidence(output, script=script, exit_code=exit_code))
    assert bool(found) == told
    assert all("--network inherit" in each for each in found)


def test_a_limit_is_named_with_its_value() -> None:
    held = confinement(limits=Limits(file_bytes=10 << 30))
    found = evidence("", script="yes > x", exit_code=None, signal=25, held=held)
    assert _sentences(found) == [
        (
            "the sandbox's limit was reached for the size of one file: it is limited to 10 GiB;"
            " use less, or ask the user to raise it with --limit file_bytes=..."
        )
    ]


def test_a_target_that_is_not_known_is_not_made_up() -> None:
    violation = Violation(kind=ViolationKind.NETWORK, rule="a", remedy="b")
    assert violation.sentence == "the sandbox stopped a connection to the network: a; b"


DENIED = "touch: cannot touch '/home/dev/x': Permission denied\n"


def test_nothing_is_told_where_nothing_is_enforced() -> None:
    found = evidence(DENIED, script="touch ~/x")
    unconfined = Confinement(name="open", writable=None)
    bare = Evidence(
        script=found.script,
        cwd=found.cwd,
        output=DENIED,
        exit_code=1,
        signal=None,
        confinement=unconfined,
        enforcement=Enforcement(),
    )
    assert violations(found, host()) != ()
    assert violations(bare, host()) == ()


def test_a_layer_that_is_not_in_force_cannot_have_answered() -> None:
    held = confinement()
    read_only = DENIED.replace("Permission denied", "Read-only file system")
    assert _sentences(evidence(read_only, script="touch ~/x", sandbox="landlock")) == []
    without = Enforcement(by=dict(enforcement("landlock", held).by) | {"write": "none"})
    found = evidence(DENIED, script="touch ~/x", held=held)
    missing = Evidence(
        script=found.script,
        cwd=found.cwd,
        output=DENIED,
        exit_code=1,
        signal=None,
        confinement=held,
        enforcement=without,
        home=found.home,
        tmp=found.tmp,
    )
    assert _sentences(found) != []
    assert _sentences(missing) == []


def test_a_script_that_could_not_be_read_is_believed_and_replayed_all_the_same() -> None:
    assert len(_sentences(evidence(DENIED, script=None))) == 1
    assert _sentences(evidence(DENIED.replace("/home/dev/x", "/etc/x"), script=None)) == []


def test_a_handful_is_enough() -> None:
    output = "".join(DENIED.replace("/x", f"/x{each}") for each in range(1000))
    assert len(_sentences(evidence(output, script="make"))) == 4


def test_the_same_denial_is_told_once() -> None:
    assert len(_sentences(evidence(DENIED * 50, script="make"))) == 1


@pytest.mark.parametrize("filler", ["line of a build\n" * 20000, "x" * 300_000])
def test_it_is_found_at_either_end_of_a_long_output(filler: str) -> None:
    assert len(_sentences(evidence(f"{filler}\n{DENIED}{'ok' * 500}", script="make"))) == 1
    assert len(_sentences(evidence(f"{DENIED}{filler}", script="make"))) == 1


def test_a_target_keeps_to_its_line() -> None:
    output = "touch: cannot touch '/home/dev/\x1b]0;x\x07\u2028y': Permission denied\n"
    (sentence,) = _sentences(evidence(output, script="make"))
    assert sentence.isprintable()
    (sentence,) = _sentences(evidence(DENIED.replace("/x", "/" + "y" * 1000), script="make"))
    assert len(sentence) < 600


def test_a_path_through_a_link_is_judged_by_where_it_leads(tmp_path: Path) -> None:
    workspace, outside = tmp_path / "workspace", tmp_path / "outside"
    workspace.mkdir()
    outside.mkdir()
    (workspace / "way").symlink_to(outside)
    found = Evidence(
        script=None,
        cwd=workspace,
        output="touch: cannot touch 'way/x': Read-only file system\n",
        exit_code=1,
        signal=None,
        confinement=Confinement(name="workspace", writable=(workspace,)),
        enforcement=Enforcement(by={"write": "mount+landlock", "protected": "mount"}),
    )
    (violation,) = violations(found)
    assert violation.target == str(outside / "x")


_PARTS = st.sampled_from(
    [
        "Permission denied",
        "[Errno 13]",
        "'/home/dev/x'",
        ": ",
        "/srv/other/y",
        "EROFS",
        "\n",
        "bash:",
        "curl: (6) Could not resolve host: ",
        "connect to ",
        "127.0.0.1:5432",
        "socket",
        "\x00",
        "`",
        "No such file or directory",
        "kill: (4242) - No such process",
        "ptrace",
        "\N{RIGHT SINGLE QUOTATION MARK}",
        "\N{LEFT SINGLE QUOTATION MARK}",
        "\r",
        " ",
    ]
)


@settings(max_examples=60)
@given(
    st.lists(_PARTS | st.text(max_size=5), max_size=40), st.sampled_from(["landlock", "bubblewrap"])
)
def test_no_output_makes_it_fail(parts: list[str], sandbox: str) -> None:
    for script in (None, "make", "cat x; curl http://127.0.0.1/"):
        found = evidence("".join(parts), script=script, sandbox=sandbox)
        assert all(each.sentence.isprintable() for each in _distinct(_found(found, host())))


@pytest.mark.parametrize(
    "output",
    [
        DENIED * 20000,
        "Permission denied " * 10000,
        "'" * 100_000 + ": Permission denied",
        ": " * 50_000 + "Permission denied",
        ("/a" * 1000 + ": Permission denied\n") * 60,
        ("lookup " + "a-" * 900 + "\n") * 100,
        "memory thread socket connect " * 6000,
        "\x1b[" * 50_000 + "denied",
    ],
    ids=range(8),
)
def test_no_output_takes_long(output: str) -> None:
    found = evidence(output, script="make")
    start = time.process_time()
    _distinct(_found(found, host()))
    assert time.process_time() - start < 1
