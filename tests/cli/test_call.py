"""`nacre call`, `specs` and `conformance`, each as a process of its own."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from hosts import nacre
from nacre.dialects.requirements import DOCUMENTED, requirements


@pytest.fixture(autouse=True)
def here(workspace: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(workspace)


def call(
    state: Path, dialect: str, tool: str, *words: str, **arguments: object
) -> dict[str, object]:
    done = nacre("call", dialect, tool, json.dumps(arguments), "--json", *words, state=state)
    assert done.code == 0, done.err
    reply: dict[str, object] = json.loads(done.out)
    assert reply.keys() == {"text", "is_error", "details"}
    return reply


def test_a_failing_script_and_malformed_arguments_are_replies(state: Path) -> None:
    assert call(state, "codegen", "Bash", command="exit 3", description="d") == {
        "text": "exit: 3\n",
        "is_error": False,
        "details": {"exit_code": 3},
    }
    done = nacre("call", "yoi", "Bash", "not json", state=state)
    assert (done.code, done.err) == (0, "")
    assert done.out.startswith("Invalid argument: invalid Bash input: ")


def test_what_nacre_cannot_do_is_its_own_error(state: Path) -> None:
    done = nacre("call", "nonsense", "Bash", "{}", state=state)
    assert (done.code, done.out) == (1, "")
    assert done.err.startswith("nacre: dialect 'nonsense' is not known; use one of nacre,")


def test_arguments_come_from_standard_input(state: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "nacre", "call", "nacre", "Bash", "-"],
        input=b'{"command": "echo from there"}',
        capture_output=True,
        check=True,
        env={**os.environ, "NACRE_STATE": str(state)},
    )
    assert done.stdout == b"from there\n"


def test_a_job_is_found_and_ended_by_later_calls(state: Path) -> None:
    started = call(
        state, "codegen", "Bash", command="sleep 600", description="d", run_in_background=True
    )
    shell = str(started["text"]).split()[1]
    assert "status: running" in str(call(state, "codegen", "BashOutput", shell_id=shell)["text"])
    assert call(state, "codegen", "KillShell", shell_id=shell)["text"] == f"killed: {shell}\n"
    gone = call(state, "codegen", "BashOutput", shell_id=shell)
    assert gone["text"] == f"unknown shell_id: {shell}"


def test_rules_and_the_folder_for_output_are_heeded(state: Path, tmp_path: Path) -> None:
    rules, output = tmp_path / "rules.yaml", tmp_path / "output"
    rules.write_text("permissions:\n  deny: ['Bash(ls:*)']\n")
    denied = call(state, "agentrail", "Bash", "--rules", str(rules), command="ls")
    assert denied["text"] == 'Permission denied for tool "Bash"'
    call(state, "yoi", "Bash", "--output-dir", str(output), command="seq 81")
    (saved,) = output.iterdir()
    assert saved.read_text().endswith("\n81\n")


def test_specs_name_the_folder_where_it_is_asked_for_or_the_document_says_so(
    state: Path, workspace: Path
) -> None:
    plain = {name: nacre("specs", name, state=state).out for name in ("yoi", "phoenix")}
    assert (str(workspace) in plain["yoi"], str(workspace) in plain["phoenix"]) == (False, True)
    assert str(workspace) in nacre("specs", "yoi", "--cwd", str(workspace), state=state).out


def test_conformance_lists_every_requirement(state: Path) -> None:
    everything = [entry.id for name in DOCUMENTED for entry in requirements(name)]
    printed = json.loads(nacre("conformance", "--json", state=state).out)
    assert [entry["id"] for entry in printed] == everything
    one = nacre("conformance", "yoi", state=state).out
    assert all(entry.test in one for entry in requirements("yoi"))


def test_a_reader_that_left_has_an_exit_code_of_its_own(state: Path) -> None:
    read, write = os.pipe()
    os.close(read)
    done = subprocess.run(
        [sys.executable, "-m", "nacre", "conformance"],
        stdout=write,
        stderr=subprocess.PIPE,
        check=False,
        env={**os.environ, "NACRE_STATE": str(state)},
    )
    os.close(write)
    assert (done.returncode, done.stderr) == (141, b"")
