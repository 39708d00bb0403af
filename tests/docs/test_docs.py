"""The documentation is run, so that it cannot promise what the code does not do.

What the blocks are is said in `docs.pages`. The guide to containers, which needs an engine, is run by
`tests/containers/test_guide.py`.
"""

import json
import re
import sys
from pathlib import Path

import pytest

from docs.pages import FENCE, PAGES, ROOT, Block, assert_alike, assert_printed, blocks, run

DEMO = ROOT / "docs" / "demo.py"
GUIDE = ROOT / "docs" / "containers.md"
MOST_README_WORDS = 500
LINK = re.compile(r"\]\(([^)\s]+)\)")
HEADING = re.compile(r"^#+ (.+)$", re.MULTILINE)
BLOCKS = [block for page in PAGES if page != GUIDE for block in blocks(page)]


def of_kind(kind: str) -> list[object]:
    return [pytest.param(block, id=block.place) for block in BLOCKS if block.kind == kind]


@pytest.mark.parametrize("block", of_kind("python"))
def test_an_example_runs(block: Block, tmp_path: Path) -> None:
    file = tmp_path / "example.py"
    file.write_text(block.text, "utf-8")
    done = run([sys.executable, str(file)], tmp_path)
    assert done.returncode == 0, done.stdout
    if block.follower and block.follower.kind == "output":
        assert_alike(block.follower.text, done.stdout)


@pytest.mark.parametrize("block", of_kind("console"))
def test_commands_print_what_the_page_says(block: Block, tmp_path: Path) -> None:
    assert_printed(block, tmp_path)


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
