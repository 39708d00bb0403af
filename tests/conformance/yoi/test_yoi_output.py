"""How much of an output comes back, in what form, and where the rest of it is."""

import re
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nacre import Bash, Reply
from nacre.dialects.yoi.replies import shortened, tail_lines

Ask = Callable[..., Awaitable[Reply]]


def content(reply: Reply) -> str:
    assert not reply.is_error
    assert reply.details is not None
    return str(reply.details["content"])


def logs(folder: Path) -> list[Path]:
    return sorted(folder.glob("*")) if folder.exists() else []


@pytest.mark.requirement("yoi.inline", "yoi.inline-leaves-no-file")
@pytest.mark.parametrize(
    ("command", "expected"),
    [
        ("seq 80", "".join(f"{n}\n" for n in range(1, 81))),
        ("seq 79; printf last", "".join(f"{n}\n" for n in range(1, 80)) + "last"),
        ("head -c 12288 /dev/zero | tr '\\0' x", "x" * 12288),
    ],
)
async def test_a_short_output_comes_back_whole_and_leaves_no_file(
    ask: Ask, output: Path, command: str, expected: str
) -> None:
    assert content(await ask(command)) == expected
    assert logs(output) == []


@pytest.mark.requirement("yoi.tail", "yoi.header", "yoi.spill-is-whole", "yoi.output-dir")
async def test_more_lines_come_back_as_the_last_eighty_below_the_path(
    ask: Ask, output: Path
) -> None:
    got = content(await ask("for i in $(seq 1 200); do echo line $i; done"))
    (log,) = logs(output)
    assert log.read_text() == "".join(f"line {n}\n" for n in range(1, 201))
    assert got == (
        f"[showing last 80 of 200 lines — full output (1692 bytes) at {log}]\n"
        + "".join(f"line {n}\n" for n in range(121, 201))
    )


@pytest.mark.requirement("yoi.inline-lines")
async def test_eighty_one_lines_are_too_many(ask: Ask, output: Path) -> None:
    got = content(await ask("seq 80; printf last"))
    (log,) = logs(output)
    assert got.startswith(f"[showing last 80 of 81 lines — full output (235 bytes) at {log}]\n2\n")
    assert got.endswith("\n80\nlast")


@pytest.mark.requirement("yoi.inline-bytes")
async def test_a_byte_too_many_is_saved_though_it_is_one_line(ask: Ask, output: Path) -> None:
    got = content(await ask("head -c 12289 /dev/zero | tr '\\0' x"))
    (log,) = logs(output)
    header = f"[showing last 80 of 1 lines — full output (12289 bytes) at {log}]"
    assert got == f"{header}\n{'x' * 12289}"


@pytest.mark.requirement("yoi.window", "yoi.header-window", "yoi.tail-not-head")
async def test_what_is_larger_than_the_window_is_told_by_its_bytes(ask: Ask, output: Path) -> None:
    got = content(await ask("head -c 307199 /dev/zero | tr '\\0' a; printf z"))
    (log,) = logs(output)
    header, _, rest = got.partition("\n")
    assert header == f"[showing last 80 lines (tail of 307200-byte output) — full at {log}]"
    assert rest == "a" * (256 * 1024 - 1) + "z"
    assert log.stat().st_size == 307200


@pytest.mark.requirement("yoi.window-edge")
async def test_an_output_as_large_as_the_window_has_its_lines_counted(ask: Ask) -> None:
    got = content(await ask("yes 1234567 | head -c 262144"))
    assert got.startswith("[showing last 80 of 32768 lines — full output (262144 bytes) at ")
    assert got.endswith("]\n" + "1234567\n" * 80)


@pytest.mark.requirement("yoi.file-is-unbounded")
async def test_the_file_has_all_of_an_output_far_larger_than_memory_keeps(
    ask: Ask, output: Path
) -> None:
    await ask("yes 123456789 | head -c 40000000")
    (log,) = logs(output)
    assert log.stat().st_size == 40_000_000


async def test_the_window_does_not_begin_inside_a_character(ask: Ask) -> None:
    got = content(await ask("printf x; yes é | tr -d '\\n' | head -c 300000; printf z"))
    assert got.partition("\n")[2] == "é" * 131071 + "z"


@pytest.mark.requirement("yoi.lossy")
async def test_bytes_that_are_no_text_are_replaced_and_escapes_are_kept(ask: Ask) -> None:
    got = content(await ask("printf 'a\\377\\033[31mb\\r\\nc'"))
    assert got == "a\ufffd\x1b[31mb\r\nc"


@pytest.mark.requirement("yoi.lazy-dir", "yoi.file-name")
async def test_the_folder_is_made_by_the_first_call_and_holds_named_logs(
    ask: Ask, output: Path
) -> None:
    assert not output.exists()
    await ask("seq 100")
    await ask("seq 200")
    names = [log.name for log in logs(output)]
    assert len(names) == 2
    assert all(re.fullmatch(r"bash-.+\.log", name) for name in names)


@pytest.mark.requirement("yoi.inspect", "yoi.readable")
async def test_a_saved_output_can_be_looked_at_by_another_call(ask: Ask, output: Path) -> None:
    await ask("seq 1000")
    (log,) = logs(output)
    assert content(await ask(f"grep -c 7 {log}")) == "271\n"
    assert log.read_text().startswith("1\n2\n")


@pytest.mark.requirement("yoi.removed-at-the-end")
async def test_saved_outputs_go_when_the_tool_closes_and_nothing_else_does(
    workspace: Path, state: Path, output: Path
) -> None:
    output.mkdir()
    (output / "bash-mine.log").write_text("not the tool's")
    async with Bash(dialect="yoi", workspace=workspace, state=state, output_dir=output) as tool:
        await tool.call("Bash", {"command": "seq 200"})
        await tool.call("Bash", {"command": "seq 300"})
        assert len(logs(output)) == 3
    assert [log.name for log in logs(output)] == ["bash-mine.log"]


async def test_saved_outputs_stay_for_the_next_call_where_jobs_are_detached(
    workspace: Path, state: Path, output: Path
) -> None:
    async with Bash(
        dialect="yoi", workspace=workspace, state=state, output_dir=output, jobs="detached"
    ) as tool:
        await tool.call("Bash", {"command": "seq 200"})
    assert len(logs(output)) == 1


@pytest.mark.requirement("yoi.quoted-dir")
async def test_a_folder_may_have_any_name(workspace: Path, state: Path, tmp_path: Path) -> None:
    folder = tmp_path / "it's a $(dir)"
    async with Bash(dialect="yoi", workspace=workspace, state=state, output_dir=folder) as tool:
        got = content(await tool.call("Bash", {"command": "seq 81"}))
    assert f" at {folder}/bash-" in got


@pytest.mark.requirement("yoi.dir-failure")
async def test_a_folder_that_cannot_be_made_is_an_internal_error_and_nothing_runs(
    workspace: Path, state: Path, tmp_path: Path
) -> None:
    (tmp_path / "file").write_text("")
    for folder, reason in (
        (tmp_path / "file", "File exists (os error 17)"),
        (tmp_path / "file" / "below", "Not a directory (os error 20)"),
    ):
        async with Bash(dialect="yoi", workspace=workspace, state=state, output_dir=folder) as tool:
            reply = await tool.call("Bash", {"command": "touch ran"})
        summary = f"Internal error: create bash output dir {folder}: {reason}"
        assert reply == Reply(
            text=summary,
            is_error=True,
            details={"summary": summary, "content": None, "kind": "Internal"},
        )
    assert not (workspace / "ran").exists()


@pytest.mark.requirement("yoi.path-is-text")
async def test_a_path_that_is_no_text_is_shown_escaped(
    workspace: Path, state: Path, tmp_path: Path
) -> None:
    folder = tmp_path / "\udcff"
    async with Bash(dialect="yoi", workspace=workspace, state=state, output_dir=folder) as tool:
        got = content(await tool.call("Bash", {"command": "seq 81"}))
    assert f" at {tmp_path}/\\udcff/bash-" in got


@pytest.mark.requirement("yoi.unsaved")
@pytest.mark.parametrize(
    ("script", "header"),
    [
        ("seq 100", "[showing last 80 of 100 lines — {}]"),
        ("yes | head -c 400000", "[showing last 80 lines (tail of 400000-byte output) — {}]"),
    ],
)
async def test_an_output_that_could_not_be_saved_is_said_to_be_lost(
    ask: Ask, output: Path, script: str, header: str
) -> None:
    got = content(await ask(f"rmdir {output}; : > {output}; {script}"))
    lost = "the full output could not be saved: File exists"
    assert got.splitlines()[0] == header.format(lost)
    assert len(got.splitlines()) == 81


@pytest.mark.requirement("yoi.summary-cut", "yoi.summary-is-one-line")
@pytest.mark.parametrize(
    ("command", "summary"),
    [
        ("a" * 80, "a" * 80),
        ("a" * 81, "a" * 77 + "..."),
        ("あ" * 81, "あ" * 77 + "..."),
        ("true\nfalse", "true"),
        ("true\r\nfalse", "true"),
        ("\ntrue", ""),
        ("true\r", "true\r"),
        ("", ""),
    ],
)
def test_a_summary_is_the_first_line_within_eighty_characters(command: str, summary: str) -> None:
    assert shortened(command) == summary


async def test_a_long_command_has_a_short_summary(ask: Ask) -> None:
    reply = await ask(f": {'あ' * 100}\nfalse")
    assert reply.text == f"$ : {'あ' * 75}... (exit 1)"


@pytest.mark.requirement("yoi.tail-exact")
@given(st.text("a\n\r\u2028é"), st.integers(1, 5))
def test_the_last_lines_are_the_end_of_a_text_at_a_line_s_border(text: str, most: int) -> None:
    lines = text.split("\n")
    ends = [f"{line}\n" for line in lines[:-1]] + [lines[-1]] * bool(lines[-1])
    assert tail_lines(text, most) == "".join(ends[-most:])
