"""A tour of nacre in a few seconds: each call that is made, and what a model would read.

Run it with `make demo`. It works in a temporary folder and leaves nothing behind.
"""

import json
import os
import select
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import cast

from nacre import Bash, Reply, ToolContext

_BOLD, _CYAN, _GREEN, _GREY = "1", "36", "32", "90"
_SHOWN_LINES = 8
_PATIENCE_SECONDS = 2.0

_BUILD = 'for i in $(seq 1 100); do echo "building $i of 100"; sleep 0.2; done'
_DAEMON = ("sleep", f"3600.{os.getpid()}")  # no other process has these words
_STARTS_DAEMON = f"setsid {' '.join(_DAEMON)} & echo 'a daemon left the session and stays'"


class Tour:
    """Makes calls to one tool, and shows both sides of them."""

    def __init__(self, tool: Bash, workspace: Path) -> None:
        self._tool = tool
        self._workspace = workspace
        self._chapters = 0

    def chapter(self, title: str) -> None:
        """Begin something new."""
        self._chapters += 1
        print(f"\n{_painted(f'{self._chapters}. {title}', _BOLD)}\n")

    def call(self, name: str, *, start_in: Path | None = None, **arguments: object) -> Reply:
        """Make a call and show it, with the reply as a model reads it."""
        print(f"  {_painted('call ', _GREY)} {_painted(name, _CYAN)} {json.dumps(arguments)}")
        context = ToolContext(working_dir=start_in or self._workspace)
        reply = self._tool.call_sync(name, arguments, context)
        for line in _shortened(reply.text.splitlines()):
            print(f"  {_painted('reply', _GREY)} {line}")
        return reply

    def remark(self, sentence: str) -> None:
        """Say what has just been seen."""
        print(f"  {_painted(f'=> {sentence}', _GREEN)}")


def main() -> None:
    """Give the tour."""
    with tempfile.TemporaryDirectory(prefix="nacre-demo-") as folder:
        workspace, outside = Path(folder, "workspace"), Path(folder, "outside")
        workspace.mkdir()
        outside.mkdir()
        with Bash(workspace=workspace, state=Path(folder, "state")) as tool:
            _walk(Tour(tool, workspace), outside)
    print()


def _walk(tour: Tour, outside: Path) -> None:
    tour.chapter("A script, and one that fails")
    reply = tour.call("Bash", command="echo to stdout; echo to stderr >&2")
    if _detail(reply, "outcome") == "unstarted":
        tour.remark("nothing runs without what holds it; `nacre doctor` says what to do")
        return
    reply = tour.call("Bash", command="ls no-such-file")
    tour.remark(f"the host reads details: exit_code is {_detail(reply, 'exit_code')}")

    tour.chapter("A script that is refused, and text that only looks like it")
    reply = tour.call("Bash", command="touch begun; echo . | xargs git add")
    tour.remark(f"{_detail(reply, 'rule')}: it was read before it ran, and did not begin")
    tour.call("Bash", command="echo 'never git add .' >note; ls")

    tour.chapter("A script that writes outside its workspace, and one that wants the network")
    diary = outside / "diary"
    diary.write_text("dear diary", "utf-8")
    reply = tour.call("Bash", command="echo hello > diary", start_in=outside)
    layers = _enforced(reply, "write")
    tour.remark(f"the kernel stopped it ({layers}); the file says: {diary.read_text('utf-8')}")
    reply = tour.call("Bash", command="git ls-remote https://example.com/app.git")
    tour.remark(f"there is no way out for it ({_enforced(reply, 'tcp')})")

    tour.chapter("A script that takes too long becomes a job")
    reply = tour.call("Bash", command=_BUILD, timeout=1)
    job = _detail(reply, "id")
    tour.call("BashOutput", id=job, wait_for={"regex": "building 9 "}, timeout=10)
    tour.remark("only what is new, and as soon as it was there")
    tour.call("KillBash", id=job)
    tour.call("Jobs")

    tour.chapter("A flood of output is cut in the middle, and none of it is lost")
    reply = tour.call("Bash", command="seq 1 1000000")
    spill = Path(str(_detail(reply, "spill")))
    tour.remark(f"{len(reply.text):,} characters shown, {spill.stat().st_size:,} bytes in the file")

    tour.chapter("A script that leaves a daemon behind")
    tour.call("Bash", command=_STARTS_DAEMON)
    tour.remark(f"`{' '.join(_DAEMON)}` {'is gone' if _are_gone(_DAEMON) else 'is STILL ALIVE'}")


def _detail(reply: Reply, key: str) -> object:
    details: Mapping[str, object] = reply.details or {}
    return details.get(key)


def _enforced(reply: Reply, protection: str) -> str:
    layers = cast("Mapping[str, str]", _detail(reply, "enforced"))
    return layers.get(protection, "none")


def _are_gone(words: tuple[str, ...]) -> bool:
    """Whether all processes with these words have ended, or do so within two seconds.

    A number that a script knows is another one outside its namespace.
    """
    return all(_is_gone(int(entry)) for entry in os.listdir("/proc") if _says(entry, words))


def _says(entry: str, words: tuple[str, ...]) -> bool:
    try:
        said = Path("/proc", entry, "cmdline").read_bytes()
    except OSError:
        return False
    return entry.isdecimal() and said == b"".join(word.encode() + b"\0" for word in words)


def _is_gone(pid: int) -> bool:
    """Whether a process has ended, or does so within two seconds."""
    try:
        pidfd = os.pidfd_open(pid)
    except ProcessLookupError:
        return True
    ended, _, _ = select.select([pidfd], [], [], _PATIENCE_SECONDS)
    os.close(pidfd)
    return bool(ended)


def _shortened(lines: list[str]) -> list[str]:
    """A few lines of many; nacre's own lines are always among them."""
    if len(lines) <= _SHOWN_LINES:
        return lines
    shown = [n for n, line in enumerate(lines) if n < 3 or n >= len(lines) - 3 or line[:1] == "["]  # noqa: PLR2004
    short: list[str] = []
    for before, n in zip([-1, *shown], shown, strict=False):
        if n > before + 1:
            short.append(_painted(f"({n - before - 1:,} more lines are shown to the model)", _GREY))
        short.append(lines[n])
    return short


def _painted(text: str, code: str) -> str:
    """The text in colour, on a terminal only and never under NO_COLOR."""
    if not sys.stdout.isatty() or os.environ.get("NO_COLOR"):
        return text
    return f"\x1b[{code}m{text}\x1b[0m"


if __name__ == "__main__":
    main()
