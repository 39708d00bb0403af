import fcntl
import json
import os
import pty
import select
import signal
import subprocess
import sys
import termios
import time
from contextlib import suppress
from pathlib import Path

import pytest

from hosts import nacre
from processes import gone_blocking, kill_all, tag


def test_the_output_is_printed_and_the_exit_code_is_the_scripts(state: Path) -> None:
    done = nacre("run", "--", "echo out; echo err >&2; exit 3", state=state)
    assert (done.code, done.out, done.err) == (3, "out\nerr\n", "")


def test_several_words_are_one_command(state: Path) -> None:
    assert nacre("run", "--", "printf", "%s|", "a b", "$HOME", state=state).out == "a b|$HOME|"


@pytest.mark.parametrize(
    ("words", "code", "sentence"),
    [
        (["--timeout", "0.3", "--", "sleep 60"], 124, "nacre: timed out after 0.3 s"),
        (["--", "kill -9 $$"], 137, "nacre: ended by signal 9 (SIGKILL)"),
        (["--cwd", "/no/such", "--", "true"], 125, "nacre: not started: the working directory"),
        (
            ["--sandbox", "tank", "--", "true"],
            125,
            "nacre: sandbox='tank' is not known; use one of 'auto'",
        ),
        (["--dialect", "x", "--", "true"], 125, "nacre: dialect 'x' is not known"),
        (["--timeout", "-1", "--", "true"], 125, "nacre: timeout=-1.0 cannot be used"),
        (["--bogus", "--", "true"], 125, "nacre: No such option"),
        ([], 125, "nacre: Missing argument"),
    ],
)
def test_what_went_wrong_is_one_sentence_and_a_code_of_its_own(
    state: Path, words: list[str], code: int, sentence: str
) -> None:
    done = nacre("run", *words, state=state)
    assert (done.code, done.out) == (code, "")
    assert done.err.startswith(sentence)
    assert done.err.count("\n") == 1


def test_a_denied_script_is_told_why_and_exits_with_126(state: Path, workspace: Path) -> None:
    words = ("run", "--workspace", str(workspace), "--")
    done = nacre(*words, "touch begun; git add -A", state=state)
    assert (done.code, done.out) == (126, "")
    reason, part, instead, rule = done.err.splitlines()
    assert reason.startswith("nacre: denied: ")
    assert (part, rule) == ("  part: git add -A", "  rule: hazards.git-add")
    assert instead.startswith("  instead: ")
    assert list(workspace.iterdir()) == []
    reply = json.loads(nacre("run", "--json", "--", "git add -A", state=state).out)
    assert reply["is_error"]
    assert (reply["details"]["outcome"], reply["details"]["part"]) == ("denied", "git add -A")


def test_rules_come_from_flags_variables_and_the_project(
    state: Path, workspace: Path, tmp_path: Path
) -> None:
    file = tmp_path / "rules.yaml"
    file.write_text("permissions:\n  deny: ['Bash(true one:*)']\n")
    other = tmp_path / "other.toml"
    other.write_text("[permissions]\nask = ['Bash(true two:*)']\n")
    (workspace / "nacre.toml").write_text("[permissions]\ndeny = ['Bash(true three:*)']\n")

    def code(script: str) -> int:
        words = ("run", "--workspace", str(workspace), "--rules", str(file), "--", script)
        return nacre(*words, state=state, variables={"NACRE_RULES": str(other)}).code

    scripts = ("true", "true one", "true two", "true three")
    assert [code(script) for script in scripts] == [0, 126, 126, 126]


def test_what_needs_approval_is_denied_and_says_who_could_approve(
    state: Path, tmp_path: Path
) -> None:
    file = tmp_path / "rules.yaml"
    file.write_text("permissions:\n  ask: ['Bash(true:*)']\n")
    done = nacre("run", "--rules", str(file), "--", "true", state=state)
    assert done.code == 126
    assert "it needs approval, and nobody is here to give it" in done.err
    assert "Only the user can approve it" in done.err


def test_a_timeout_may_be_configured_and_a_flag_beats_it(state: Path, workspace: Path) -> None:
    words = ("run", "--workspace", str(workspace))
    (workspace / "nacre.toml").write_text("timeout = 0.2\n")
    assert nacre(*words, "--", "sleep 60", state=state).code == 124
    assert nacre(*words, "--timeout", "30", "--", "sleep 0.3", state=state).code == 0


def test_a_settings_file_that_cannot_be_used_is_one_sentence(state: Path, workspace: Path) -> None:
    (workspace / "nacre.toml").write_text("sandbox = 'none'\n")
    done = nacre("run", "--workspace", str(workspace), "--", "true", state=state)
    assert (done.code, done.out, done.err.count("\n")) == (125, "", 1)
    assert done.err.startswith(f"nacre: {workspace}/nacre.toml:1:1: a project's file may not set")


def test_a_command_that_is_none_is_unknown(state: Path) -> None:
    for command in ("serve", "nonsense"):
        done = nacre(command, state=state)
        assert (done.code, done.out) == (2, "")
        assert done.err == f"nacre: No such command '{command}'; see 'nacre --help'\n"


def test_json_is_the_reply(state: Path) -> None:
    done = nacre("run", "--json", "--", "echo hi; exit 2", state=state)
    reply = json.loads(done.out)
    assert (done.code, reply["text"], reply["is_error"]) == (2, "hi\n[exit code 2]", True)
    assert reply["details"]["enforced"]["environment"] == "cleared"


def test_a_spill_named_in_json_is_there_afterwards(state: Path) -> None:
    reply = json.loads(nacre("run", "--json", "--", "seq 100000", state=state).out)
    assert Path(reply["details"]["spill"]).read_text().endswith("\n100000\n")


def test_a_relative_workspace_and_folder_start_where_the_person_is(
    state: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "sub" / "deep").mkdir(parents=True)
    monkeypatch.chdir(tmp_path)
    assert nacre("run", "--workspace", "sub", "--", "pwd", state=state).out == f"{tmp_path}/sub\n"
    done = nacre("run", "--workspace", "sub", "--cwd", "sub/deep", "--", "pwd", state=state)
    assert done.out == f"{tmp_path}/sub/deep\n"


def test_a_full_disk_behind_the_output_is_one_sentence(state: Path) -> None:
    for words, code in ((["run", "--", "seq 100000"], 125), (["jobs", "--json"], 1)):
        with open("/dev/full", "wb") as full:
            done = subprocess.run(
                [sys.executable, "-m", "nacre", *words],
                check=False,
                stdout=full,
                stderr=subprocess.PIPE,
                env={**os.environ, "NACRE_STATE": str(state)},
            )
        assert (done.returncode, done.stderr) == (code, b"nacre: No space left on device\n")


def test_closed_standard_streams_are_no_traceback(state: Path) -> None:
    for closed, code in ((">&-", 0), ("2>&-", 0), (">&- 2>&- <&-", 3)):
        script = f"{sys.executable} -m nacre run -- 'echo hi; exit {code}' {closed}"
        done = subprocess.run(
            ["bash", "-c", script],
            check=False,
            capture_output=True,
            env={**os.environ, "NACRE_STATE": str(state)},
        )
        assert (done.returncode, done.stderr) == (code, b"")


def test_a_pipe_that_does_not_block_gets_every_byte(state: Path) -> None:
    read, write = os.pipe()
    os.set_blocking(write, False)
    run = subprocess.Popen(
        [sys.executable, "-m", "nacre", "run", "--", "seq 100000"],
        stdout=write,
        env={**os.environ, "NACRE_STATE": str(state)},
    )
    os.close(write)
    with open(read, "rb") as file:
        assert len(file.read()) == 588_895
    assert run.wait() == 0


def test_interrupting_a_flood_on_a_slow_terminal_returns_at_once(state: Path) -> None:
    run, terminal = _on_terminal(state, "run", "--", "yes")
    try:
        _read_until(terminal, b"y")
        os.write(terminal, b"\x03")
        begun = time.monotonic()
        with suppress(OSError):  # how a terminal says that nobody is at its other end
            while run.poll() is None and time.monotonic() - begun < 10:
                os.read(terminal, 4096)
                signal.sigtimedwait([], 0.01)
        assert run.wait(10) == 130
        assert time.monotonic() - begun < 3
    finally:
        run.kill()
        os.close(terminal)


def test_without_a_command_the_help_is_shown(state: Path) -> None:
    done = nacre(state=state)
    assert (done.code, done.out) == (2, "")
    assert done.err.startswith("Usage: nacre")


def test_a_run_leaves_no_file_but_the_journal(state: Path) -> None:
    nacre("run", "--", "seq 100000", state=state)
    files = {path.name for path in state.rglob("*") if path.is_file()}
    assert files == {"journal.db", "journal.db.lock"}


def test_variables_pass_by_name_only(state: Path) -> None:
    script = "echo $NAMED $OTHER"
    variables = {"NAMED": "a", "OTHER": "b"}
    done = nacre("run", "--pass-env", "NAMED", "--", script, state=state, variables=variables)
    assert done.out == "a\n"


def test_a_reader_that_leaves_ends_the_run_quietly(state: Path) -> None:
    mark = tag()
    script = f"sleep {mark} & seq 100000000"
    shell = f"{sys.executable} -m nacre run -- '{script}' | head -1"
    done = subprocess.run(
        ["bash", "-c", shell],
        check=False,
        capture_output=True,
        timeout=30,
        env={**os.environ, "NACRE_STATE": str(state)},
    )
    assert (done.stdout, done.stderr) == (b"1\n", b"")
    gone_blocking(mark)


def test_output_comes_while_the_script_runs(state: Path) -> None:
    run = subprocess.Popen(
        [sys.executable, "-m", "nacre", "run", "--", "echo first; read -r _ < gate; echo second"],
        stdout=subprocess.PIPE,
        cwd=_with_gate(state),
        env={**os.environ, "NACRE_STATE": str(state)},
    )
    assert run.stdout is not None
    assert run.stdout.readline() == b"first\n"
    (state.parent / "gate").write_text("go\n")
    assert run.stdout.readline() == b"second\n"
    assert run.wait(20) == 0
    run.stdout.close()


def _with_gate(state: Path) -> Path:
    os.mkfifo(state.parent / "gate")
    return state.parent


def test_interrupting_ends_the_tree_and_returns_at_once(state: Path) -> None:
    mark = tag()
    run, terminal = _on_terminal(state, "run", "--", f"setsid sleep {mark} & echo up; sleep {mark}")
    try:
        assert b"up" in _read_until(terminal, b"up")
        begun = time.monotonic()
        os.write(terminal, b"\x03")  # what Ctrl-C sends
        assert run.wait(10) == 130
        assert time.monotonic() - begun < 2
        gone_blocking(mark)
    finally:
        run.kill()
        kill_all(mark)
        os.close(terminal)


def test_ending_the_command_ends_the_tree(state: Path) -> None:
    mark = tag()
    run, terminal = _on_terminal(state, "run", "--", f"setsid sleep {mark} & echo up; sleep {mark}")
    try:
        _read_until(terminal, b"up")
        run.send_signal(signal.SIGTERM)
        run.wait(10)
        gone_blocking(mark)
    finally:
        kill_all(mark)
        os.close(terminal)


def test_a_long_wait_shows_a_sign_of_life_on_a_terminal_and_clears_it(state: Path) -> None:
    run, terminal = _on_terminal(state, "run", "--", "sleep 1.5; echo done")
    said = _read_until(terminal, b"done")
    assert b"running 1 s" in said
    assert said.rpartition(b"done")[0].endswith(b"\r\x1b[K")
    assert run.wait(10) == 0
    os.close(terminal)


@pytest.mark.parametrize(
    ("variables", "coloured"), [({}, True), ({"NO_COLOR": "1"}, False), ({"TERM": "dumb"}, False)]
)
def test_colour_is_for_terminals_that_want_it(
    state: Path, variables: dict[str, str], *, coloured: bool
) -> None:
    run, terminal = _on_terminal(state, "logs", "nonsense", **variables)
    said = _read_until(terminal, b"lists them")
    assert (b"\x1b[31mnacre:\x1b[0m" in said) is coloured
    assert run.wait(10) == 1
    os.close(terminal)


def test_help_has_examples_and_exit_codes(state: Path) -> None:
    commands = ("run", "jobs", "logs", "kill", "check", "display", "config", "bench")
    for words in (["--help"], *([command, "-h"] for command in commands)):
        done = nacre(*words, state=state)
        assert done.code == 0
        assert "Examples:" in done.out
    assert "124  the timeout ended it" in nacre("run", "--help", state=state).out
    assert nacre("--version", state=state).out.startswith("nacre, version 0")


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_can_be_sourced(state: Path, shell: str) -> None:
    done = nacre("completion", shell, state=state)
    assert done.code == 0
    assert "_NACRE_COMPLETE" in done.out
    if shell == "bash":
        assert subprocess.run(["bash", "-n"], input=done.out.encode(), check=False).returncode == 0


def test_completion_knows_commands_and_jobs(state: Path) -> None:
    job = nacre("run", "--background", "--", "true", state=state).out.strip()
    asking = {"_NACRE_COMPLETE": "bash_complete", "COMP_CWORD": "2"}
    words = f"nacre logs {job[:2]}"
    found = nacre(state=state, variables={**asking, "COMP_WORDS": words})
    assert f"plain,{job}" in found.out


def _on_terminal(state: Path, *words: str, **variables: str) -> tuple[subprocess.Popen[bytes], int]:
    ours, theirs = pty.openpty()
    environ = {**os.environ, "TERM": "xterm", "NACRE_STATE": str(state), **variables}
    run = subprocess.Popen(
        [sys.executable, "-m", "nacre", *words],
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        env=environ,
        start_new_session=True,
        preexec_fn=_take_terminal,  # noqa: PLW1509 (no other threads here)
    )
    os.close(theirs)
    return run, ours


def _take_terminal() -> None:
    fcntl.ioctl(0, termios.TIOCSCTTY, 0)


def _read_until(terminal: int, text: bytes, within: float = 20) -> bytes:
    said = b""
    deadline = time.monotonic() + within
    while text not in said:
        ready, _, _ = select.select([terminal], [], [], max(0, deadline - time.monotonic()))
        assert ready, said
        said += os.read(terminal, 4096)
    return said
