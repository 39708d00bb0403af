"""The documentation is run, so that it cannot promise what the code does not do.

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

import json
import os
import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGES = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")])
DEMO = ROOT / "docs" / "demo.py"
MOST_README_WORDS = 500
# What a host without bubblewrap has in its log; the pages are the same for it.
WEAKER = re.compile(r"bubblewrap does not work here, so .*\n")
# Between the outputs of two commands: no command prints it.
SEPARATOR = "\x1e"
FENCE = re.compile(r"^```([^\n]*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\]\(([^)\s]+)\)")
HEADING = re.compile(r"^#+ (.+)$", re.MULTILINE)


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


BLOCKS = [block for page in PAGES for block in blocks(page)]


def of_kind(kind: str) -> list[object]:
    return [pytest.param(block, id=block.place) for block in BLOCKS if block.kind == kind]


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


def run(arguments: list[str], folder: Path) -> subprocess.CompletedProcess[str]:
    work = folder / "work"
    for each in (work, folder / "home"):
        each.mkdir()
    done = subprocess.run(
        arguments,
        cwd=work,
        env=environment(folder),
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


@pytest.mark.parametrize("block", of_kind("python"))
def test_an_example_runs(block: Block, tmp_path: Path) -> None:
    file = tmp_path / "example.py"
    file.write_text(block.text, "utf-8")
    done = run([sys.executable, str(file)], tmp_path)
    assert done.returncode == 0, done.stdout
    if block.follower and block.follower.kind == "output":
        assert_alike(block.follower.text, done.stdout)


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


@pytest.mark.parametrize("block", of_kind("console"))
def test_commands_print_what_the_page_says(block: Block, tmp_path: Path) -> None:
    dialogue = steps(block.text)
    # One shell for the whole block; `$?` is that of the command before.
    script = "".join(
        f"{step.command}status=$?; printf '{SEPARATOR}'; (exit $status)\n" for step in dialogue
    )
    done = run(["bash", "-c", script], tmp_path)
    printed = done.stdout.split(SEPARATOR)
    assert len(printed) == len(dialogue) + 1, done.stdout
    for step, said in zip(dialogue, printed, strict=False):
        assert_alike(step.expected, said)


@pytest.mark.parametrize("block", of_kind("verdicts"))
def test_verdicts_are_what_the_page_says(block: Block, tmp_path: Path) -> None:
    said = [line.split(maxsplit=2) for line in block.text.splitlines()]
    scripts = tmp_path / "scripts.jsonl"
    asked = [{"script": script, "cwd": "/srv/app"} for _, _, script in said]
    scripts.write_text("".join(f"{json.dumps(each)}\n" for each in asked))
    done = run(["bash", "-c", f"nacre check --jsonl <{scripts}"], tmp_path)
    answers = [json.loads(line) for line in done.stdout.splitlines()]
    found = [
        [answer.get("decision"), answer.get("rule") or "-", script]
        for answer, (_, _, script) in zip(answers, said, strict=True)
    ]
    assert found == said


@pytest.mark.parametrize("block", of_kind("json"))
def test_servers_that_a_page_names_are_there(block: Block, tmp_path: Path) -> None:
    pytest.importorskip("mcp", reason="the MCP SDK is not installed")
    for server in json.loads(block.text)["mcpServers"].values():
        code = f"""
import anyio
from mcp import Client, StdioServerParameters

async def main():
    async with Client(StdioServerParameters(command={server["command"]!r}, args={server["args"]!r})) as client:
        print(*(tool.name for tool in (await client.list_tools()).tools))

anyio.run(main)
"""
        folder = tmp_path / str(len(list(tmp_path.iterdir())))
        folder.mkdir()
        done = run([sys.executable, "-c", code], folder)
        assert done.stdout.startswith("Bash"), done.stdout


def test_every_block_says_what_it_is() -> None:
    known = {"console", "json", "output", "python", "text", "verdicts"}
    assert [block.place for block in BLOCKS if block.kind not in known] == []


def test_every_expected_output_follows_an_example() -> None:
    followers = {b.follower.place for b in BLOCKS if b.kind == "python" and b.follower}
    assert {block.place for block in BLOCKS if block.kind == "output"} <= followers


def test_the_readme_is_short() -> None:
    assert len((ROOT / "README.md").read_text("utf-8").split()) <= MOST_README_WORDS


def slug(heading: str) -> str:
    """A heading's anchor, as the usual hosting pages make it."""
    return re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_between_pages_resolve(page: Path) -> None:
    for target in LINK.findall(FENCE.sub("", page.read_text("utf-8"))):
        if "://" in target:
            continue
        name, _, anchor = target.partition("#")
        other = (page.parent / name).resolve() if name else page
        assert other.exists(), f"{page.name} links to {target}"
        if anchor:
            headings = HEADING.findall(other.read_text("utf-8"))
            assert anchor in map(slug, headings), f"{page.name} links to {target}"


def test_every_page_is_linked_from_another() -> None:
    linked = {
        (page.parent / target.partition("#")[0]).resolve()
        for page in PAGES
        for target in LINK.findall(page.read_text("utf-8"))
        if "://" not in target
    }
    assert [page.name for page in PAGES if page not in linked and page.name != "README.md"] == []


def test_the_table_of_conformance_is_what_the_data_say(tmp_path: Path) -> None:
    done = run([sys.executable, str(ROOT / "docs" / "conformance.py")], tmp_path)
    assert done.stdout == (ROOT / "docs" / "conformance.md").read_text("utf-8"), "run `make docs`"


def test_the_demo_runs_without_colour_and_leaves_nothing(tmp_path: Path) -> None:
    done = run([sys.executable, str(DEMO)], tmp_path)
    assert done.returncode == 0, done.stdout
    assert "\x1b" not in done.stdout
    assert "is gone" in done.stdout
    kept = {path.name for path in (tmp_path / "state").rglob("*") if path.is_file()}
    assert kept <= {"journal.db", "journal.db.lock"}
