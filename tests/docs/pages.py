"""Pages of the documentation, their blocks, and what running those prints.

Each fenced block says by its info string what it is:

    python     a script; it runs in a fresh process and must succeed
    output     what the python block before it prints
    console    `$ command` lines (`> ` goes on), each followed by what it prints
    json       a file; each MCP server that it names is started, and lists its tools
    verdicts   lines of a decision, the guard (`-` for none) and a script that starts in /srv/app
    text       not run

In expected output `...` stands for anything within a line, and a line of
nothing else for any number of lines.
"""

import os
import re
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

__all__ = ("FENCE", "PAGES", "ROOT", "Block", "assert_alike", "assert_printed", "blocks", "run")

ROOT = Path(__file__).resolve().parents[2]
PAGES = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")])
# What a host without bubblewrap has in its log; the pages are the same for it.
WEAKER = re.compile(r"bubblewrap does not work here, so .*\n")
# Between the outputs of two commands: no command prints it.
SEPARATOR = "\x1e"
FENCE = re.compile(r"^```([^\n]*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


@dataclass(frozen=True, slots=True, kw_only=True)
class Block:
    """A fenced block, with the one after it, and where it is."""

    kind: str
    text: str
    follower: "Block | None"
    place: str


def blocks(page: Path) -> list[Block]:
    text = page.read_text("utf-8")
    found: list[Block] = []
    for match in reversed(list(FENCE.finditer(text))):
        line = text.count("\n", 0, match.start()) + 1
        place = f"{page.relative_to(ROOT)}:{line}"
        follower = found[-1] if found else None
        found.append(Block(kind=match[1], text=match[2], follower=follower, place=place))
    return found[::-1]


def environment(folder: Path) -> dict[str, str]:
    """The reader's own, without what would show in the output: a home that has no settings yet."""
    scripts = Path(sys.executable).parent
    return {
        "LANG": os.environ.get("LANG", "C.UTF-8"),
        "PATH": f"{scripts}:{os.environ.get('PATH', os.defpath)}",
        "HOME": str(folder / "home"),
        "NACRE_STATE": str(folder / "state"),
        "PYTHONWARNINGS": "error",
    }


def run(
    arguments: list[str], folder: Path, environ: Mapping[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    """Run a program in a folder for the reader's work, with a few more variables."""
    work = folder / "work"
    for each in (work, folder / "home"):
        each.mkdir(exist_ok=True)
    done = subprocess.run(
        arguments,
        cwd=work,
        env={**environment(folder), **(environ or {})},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
        timeout=60,
    )
    done.stdout = WEAKER.sub("", done.stdout)
    return done


def assert_alike(expected: str, printed: str) -> None:
    """Compare line by line, with `...` for what varies."""
    parts: list[str] = []
    for line in expected.splitlines():
        if line.strip() == "...":
            parts.append(r"(?:.*\n)*?")
        else:
            parts.append(".*?".join(map(re.escape, line.split("..."))) + r"\n")
    text = printed if not printed or printed.endswith("\n") else f"{printed}\n"
    assert re.fullmatch("".join(parts), text), f"expected\n{expected}\nbut it printed\n{printed}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """A command, and what it prints."""

    command: str
    expected: str


def steps(text: str) -> list[Step]:
    found: list[Step] = []
    for line in text.splitlines(keepends=True):
        if line.startswith("$ "):
            found.append(Step(command=line[2:], expected=""))
        elif line.startswith("> ") and not found[-1].expected:
            found[-1] = Step(command=found[-1].command + line[2:], expected="")
        else:
            found[-1] = Step(command=found[-1].command, expected=found[-1].expected + line)
    return found


def assert_printed(block: Block, folder: Path, environ: Mapping[str, str] | None = None) -> None:
    """Run the commands of a block, and compare what each prints."""
    dialogue = steps(block.text)
    # One shell for the whole block; `$?` is that of the command before.
    script = "".join(
        f"{step.command}status=$?; printf '{SEPARATOR}'; (exit $status)\n" for step in dialogue
    )
    done = run(["bash", "-c", script], folder, environ)
    printed = done.stdout.split(SEPARATOR)
    assert len(printed) == len(dialogue) + 1, done.stdout
    for step, said in zip(dialogue, printed, strict=False):
        assert_alike(step.expected, said)
