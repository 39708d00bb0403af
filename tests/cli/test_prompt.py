"""The question on the terminal: the real `nacre run`, on a pseudoterminal, with somebody typing."""

import fcntl
import os
import pty
import select
import signal
import struct
import subprocess
import sys
import termios
import time
from collections.abc import Callable, Generator
from contextlib import ExitStack
from pathlib import Path
from typing import Self

import pytest

from hosts import nacre

RULES = "[permissions]\nask = ['Bash(touch:*)', 'Bash(sh:*)']\n"
QUESTION = "[N]o? "


class Terminal:
    """`nacre run` with a person before it."""

    def __init__(self, folder: Path, script: str, *words: str, columns: int = 100) -> None:
        self.workspace = folder / "workspace"
        self.state = folder / "state"
        (folder / "rules.toml").write_text(RULES)
        self._ours, theirs = pty.openpty()
        fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 40, columns, 0, 0))
        rules = ("--rules", str(folder / "rules.toml"), "--workspace", str(self.workspace))
        self.run = subprocess.Popen(
            [sys.executable, "-m", "nacre", "run", *rules, *words, "--", script],
            stdin=theirs,
            stdout=theirs,
            stderr=theirs,
            env={
                **os.environ,
                "TERM": "xterm",
                "NO_COLOR": "1",
                "NACRE_STATE": str(self.state),
                "COLUMNS": str(columns),
            },
            start_new_session=True,
            preexec_fn=_take_terminal,  # noqa: PLW1509 (no other threads here)
        )
        os.close(theirs)
        self.said = ""
        self._heard = 0

    def type(self, text: str) -> Self:
        """What a person's keys send; a line ends with Enter."""
        os.write(self._ours, text.encode())
        return self

    def shows(self, text: str, within: float = 30) -> str:
        """Wait for a text, and return what was said since the last time."""
        deadline = time.monotonic() + within
        while text not in self.said[self._heard :]:
            self._listen(deadline, text)
        end = self.said.index(text, self._heard) + len(text)
        heard, self._heard = self.said[self._heard : end], end
        return heard

    def ends(self, code: int, within: float = 30) -> str:
        """Wait for the end, and return what was said until then."""
        deadline = time.monotonic() + within
        try:
            while True:
                self._listen(deadline, "the end")
        except EOFError:
            pass
        assert self.run.wait(within) == code, self.said
        return self.said[self._heard :]

    def _listen(self, deadline: float, awaited: str) -> None:
        ready, _, _ = select.select([self._ours], [], [], max(0, deadline - time.monotonic()))
        assert ready, f"{awaited!r} did not come, but {self.said!r}"
        try:
            data = os.read(self._ours, 65536)
        except OSError:  # how a terminal says that nobody is at its other end
            raise EOFError(f"{awaited!r} did not come, but {self.said!r}") from None
        self.said += data.decode().replace("\r\n", "\n")

    def close(self) -> None:
        """Leave, whatever still runs."""
        self.run.kill()
        self.run.wait()
        os.close(self._ours)

    @property
    def files(self) -> set[str]:
        """What there is in the workspace."""
        return {each.name for each in self.workspace.iterdir()}


def _take_terminal() -> None:
    fcntl.ioctl(0, termios.TIOCSCTTY, 0)


Started = Callable[..., Terminal]


@pytest.fixture
def started(tmp_path: Path, workspace: Path) -> Generator[Started]:
    del workspace
    with ExitStack() as stack:

        def start(script: str, *words: str, columns: int = 100) -> Terminal:
            terminal = Terminal(tmp_path, script, *words, columns=columns)
            stack.callback(terminal.close)
            return terminal

        yield start


def test_the_script_its_part_the_reason_and_the_choices_are_shown(started: Started) -> None:
    terminal = started("ls; touch new", columns=400)
    shown = terminal.shows(QUESTION).split("\n")
    assert shown[0] == "nacre: may this run?"
    assert "  1 | ls; touch new" in shown
    underlined = shown.index("  1 | ls; touch new", 2)
    assert shown[underlined + 1] == "    |     ^^^^^^^^^"
    assert any(line.startswith("  ask: `touch new` needs approval by the rule") for line in shown)
    assert any("held to: workspace, network deny" in line for line in shown)
    assert "  always would allow Bash(touch new) here, until `nacre grants revoke`" in shown
    assert shown[-1] == "[y]es once, [a]lways, [N]o? "
    terminal.type("y\n").ends(0)
    assert terminal.files == {"new"}


def test_once_is_once_and_always_lasts_until_it_is_revoked(started: Started) -> None:
    for _ in range(2):
        once = started("touch new")
        once.shows(QUESTION)
        once.type("yes\n").ends(0)
    always = started("touch new")
    always.shows(QUESTION)
    always.type("a\n").ends(0)
    asked_no_more = started("touch new")
    assert QUESTION not in asked_no_more.ends(0)
    listed = nacre("grants", state=always.state).out
    assert "Bash(touch new)" in listed
    assert f"in {always.workspace}, held to: workspace" in listed
    nacre("grants", "revoke", listed.split()[0], state=always.state)
    asked_again = started("touch new")
    asked_again.shows(QUESTION)
    asked_again.type("n\n").ends(126)


@pytest.mark.parametrize("typed", ["n\n", "\n", "yess\n", "\x1b[A\n", "\x04", "ÿ\n"])
def test_whatever_is_no_yes_is_a_no(started: Started, typed: str) -> None:
    terminal = started("touch new")
    terminal.shows(QUESTION)
    said = terminal.type(typed).ends(126)
    assert "denied: the user was asked, and said no" in said
    assert terminal.files == set()


def test_what_was_typed_before_the_question_answers_nothing(started: Started) -> None:
    terminal = started("touch new").type("y\ny\n")
    terminal.shows(QUESTION)
    assert terminal.run.poll() is None
    terminal.type("n\n").ends(126)
    assert terminal.files == set()


def test_an_interrupt_at_the_question_ends_the_command_and_runs_nothing(started: Started) -> None:
    terminal = started("touch new")
    terminal.shows(QUESTION)
    terminal.type("\x03").ends(130)
    assert terminal.files == set()
    assert "given up: " in nacre("journal", "--json", state=terminal.state).out


def test_a_terminal_that_goes_away_runs_nothing(started: Started) -> None:
    terminal = started("touch new")
    terminal.shows(QUESTION)
    terminal.run.send_signal(signal.SIGHUP)
    terminal.run.wait(30)
    assert terminal.files == set()


def test_a_long_script_is_shown_when_asked_for_and_only_then_allowed_for_always(
    started: Started,
) -> None:
    lines = [": " + "x" * 40 for _ in range(60)]
    terminal = started("\n".join([*lines, "touch new"]))
    shown = terminal.shows(QUESTION)
    assert "  a script of 61 lines and 2,589 characters\n" in shown
    assert shown.endswith("[y]es once, [s]how the whole script, [N]o? ")
    assert " 1 | : xxx" not in shown
    assert "not shown whole yet" in terminal.type("a\n").shows(QUESTION)
    shown = terminal.type("s\n").shows(QUESTION)
    assert "   1 | : xxx" in shown
    assert "  61 | touch new\n" in shown
    assert shown.endswith("[y]es once, [a]lways, [N]o? ")
    terminal.type("a\n").ends(0)
    assert terminal.files == {"new"}
    assert "Bash(touch new)" in nacre("grants", state=terminal.state).out


def test_a_shell_is_never_allowed_for_always(started: Started) -> None:
    terminal = started("sh -c true")
    assert terminal.shows(QUESTION).endswith("[y]es once, [N]o? ")
    assert "no plain command" in terminal.type("always\n").shows(QUESTION)
    terminal.type("n\n").ends(126)
    assert nacre("grants", state=terminal.state).out == ""


def test_nothing_that_an_agent_wrote_is_obeyed_or_begins_a_line(started: Started) -> None:
    fake = "nacre: may this run?"
    script = f"touch new # \x1b[2J\x9b\u202e\x07\n: {' ' * 95}{fake}\n: '{'x' * 200}'"
    terminal = started(script, columns=60)
    shown = terminal.shows(QUESTION)
    assert "\\x1b[2J\\x9b\\u202e\\x07" in shown
    for line in shown.split("\n")[1:-1]:
        assert line.startswith("  ")
        assert len(line) <= 60
    terminal.type("n\n").ends(126)


def test_without_a_terminal_it_is_denied_and_says_who_could_approve(
    tmp_path: Path, workspace: Path, state: Path
) -> None:
    (tmp_path / "rules.toml").write_text(RULES)
    words = ("--rules", str(tmp_path / "rules.toml"), "--workspace", str(workspace))
    done = nacre("run", *words, "--", "touch new", state=state)
    assert done.code == 126
    assert "it needs approval, and nobody is here to give it" in done.err
    assert "Only the user can approve it" in done.err
    assert list(workspace.iterdir()) == []


def test_the_time_a_person_takes_is_not_the_scripts(started: Started) -> None:
    terminal = started("touch new; read -t 0.2 < <(sleep 9); echo waited", "--timeout", "1")
    terminal.shows(QUESTION)
    signal.sigtimedwait([], 1.5)
    assert "waited" in terminal.type("y\n").ends(0)
