import json
from pathlib import Path

from hosts import nacre


def test_each_value_is_printed_with_where_it_came_from(
    state: Path, workspace: Path, tmp_path: Path
) -> None:
    own = tmp_path / "config" / "nacre"
    own.mkdir(parents=True)
    (own / "nacre.toml").write_text("timeout = 60\npass_env = ['A', 'B']\n")
    project = workspace / "nacre.toml"
    project.write_text(
        "timeout = 600\non_timeout = 'kill'\n[permissions]\nmode = 'strict'\nallow = ['Bash(ls)']\n"
    )
    variables = {"XDG_CONFIG_HOME": str(tmp_path / "config"), "NACRE_DIALECT": "nacre"}
    words = ("config", "--workspace", str(workspace))
    done = nacre(*words, state=state, variables=variables)
    assert (done.code, done.err) == (0, "")
    table = done.out.split("\n\n")[0].splitlines()
    rows = {line.split()[0]: line.split(maxsplit=1)[1] for line in table}
    assert rows["timeout"].split() == ["60", "user", f"{own}/nacre.toml"]
    assert rows["on_timeout"].endswith(f"project {project}")
    assert rows["dialect"].endswith("NACRE_DIALECT")
    assert rows["sandbox"].endswith("default")
    assert rows["state"].split() == [str(state), "NACRE_STATE"]
    assert rows["pass_env"].startswith("A B ")
    assert rows["rules"].endswith(f"project {project}")
    assert f"it does not count: timeout = 600 in project {project}" in done.out

    found = json.loads(nacre(*words, "--json", state=state, variables=variables).out)
    assert found["settings"]["timeout"] == {"value": 60.0, "source": f"user {own}/nacre.toml"}
    assert found["settings"]["pass_env"]["value"] == ["A", "B"]
    assert found["rules"] == [
        {
            "source": f"project {project}",
            "mode": "strict",
            "default": None,
            "deny": [],
            "ask": [],
            "allow": ["Bash(ls)"],
        }
    ]
    assert found["set_aside"][0]["setting"] == "timeout"


def test_an_ordered_table_is_shown_as_one(state: Path, tmp_path: Path) -> None:
    file = tmp_path / "table.toml"
    file.write_text(
        "[permissions]\ndefault_action = 'ask'\n"
        "[[permissions.rule]]\ntool = 'Bash'\npattern = 'ls*'\naction = 'allow'\n"
    )
    found = json.loads(nacre("config", "--rules", str(file), "--json", state=state).out)
    assert found["rules"] == [
        {"source": f"given {file}", "default_action": "ask", "rule": ["allow Bash 'ls*'"]}
    ]
    assert "1 in order, else ask" in nacre("config", "--rules", str(file), state=state).out


def test_a_file_that_cannot_be_used_is_one_sentence(state: Path, workspace: Path) -> None:
    (workspace / "nacre.toml").write_text("\npass_env = ['TOKEN']\n")
    done = nacre("config", "--workspace", str(workspace), state=state)
    assert (done.code, done.out) == (1, "")
    assert done.err.startswith(f"nacre: {workspace}/nacre.toml:2:1: a project's file may not set")
    assert done.err.count("\n") == 1
