import math
import os
import tomllib
from collections.abc import Callable
from pathlib import Path

import pytest
from platformdirs import user_config_path, user_state_path

from nacre import Bash, ToolContext
from nacre.config.confinement import Confinements
from nacre.config.files import read_text, user_file
from nacre.config.found import Config
from nacre.config.layers import gather
from nacre.config.state import state_folder
from nacre.errors import ConfigError, RuleError
from nacre.model.confinement import Network
from nacre.model.verdict import Decision
from nacre.policy.policy import Policy
from nacre.syntax.read import read

Write = Callable[[str], Path]


@pytest.fixture
def user(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Write:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    return _writer(tmp_path / "config" / "nacre" / "nacre.toml")


@pytest.fixture
def project(workspace: Path) -> Write:
    return _writer(workspace / "nacre.toml")


def _writer(path: Path) -> Write:
    def write(text: str) -> Path:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        return path

    return write


def source(config: Config, name: str) -> str:
    return config.found[name].source.partition(" ")[0]


def decide(config: Config, script: str) -> Decision:
    return Policy(layers=config.layers).check(read(script)).decision


def test_with_nothing_anywhere_nothing_is_set(workspace: Path) -> None:
    assert gather(workspace) == Config()
    assert gather(None) == Config()
    assert gather(workspace).dialect == "nacre"


def test_a_later_place_wins(
    workspace: Path, user: Write, project: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    user("timeout = 60\n")
    assert (gather(workspace).number("timeout"), source(gather(workspace), "timeout")) == (
        60,
        "user",
    )
    project("timeout = 30\n")
    assert source(gather(workspace), "timeout") == "project"
    monkeypatch.setenv("NACRE_TIMEOUT", "600")
    assert gather(workspace).found["timeout"].source == "NACRE_TIMEOUT"
    given = gather(workspace, {"timeout": math.inf, "dialect": None})
    assert (given.number("timeout"), source(given, "timeout")) == (math.inf, "given")
    assert "dialect" not in given.found


@pytest.mark.parametrize("sandbox", ["auto", "landlock", "bubblewrap"])
def test_a_projects_file_takes_nothing_out_of_a_container(
    user: Write, project: Write, workspace: Path, sandbox: str
) -> None:
    user('sandbox = "container"')
    project(f'sandbox = "{sandbox}"')
    config = gather(workspace)
    assert config.text("sandbox") == "container"
    assert [name for name, _ in config.aside] == ["sandbox"]


@pytest.mark.parametrize(
    ("own", "theirs", "winner"),
    [
        ("", "timeout = 30", "project"),
        ("timeout = 60", "timeout = 30", "project"),
        ("timeout = 60", "timeout = 600", "user"),
        ("timeout = 200", "timeout = 150", "project"),
        ("", "on_timeout = 'kill'", "project"),
        ("on_timeout = 'kill'", "on_timeout = 'background'", "user"),
        ("", "sandbox = 'bubblewrap'", "project"),
        ("sandbox = 'auto'", "sandbox = 'landlock'", "user"),
        ("sandbox = 'none'", "sandbox = 'landlock'", "project"),
        ("sandbox = 'container'", "sandbox = 'landlock'", "user"),
        ("", "confinement = 'read-only'", "project"),
        ("confinement = 'open'", "confinement = 'read-only'", "project"),
        ("confinement = 'read-only'", "confinement = 'workspace'", "user"),
        ("", "network = 'deny'", "project"),
        ("network = 'inherit'", "network = 'deny'", "project"),
    ],
)
def test_a_projects_file_only_tightens(
    user: Write, project: Write, own: str, theirs: str, winner: str
) -> None:
    user(own)
    config = gather(project(theirs).parent)
    name = theirs.partition(" ")[0]
    line = theirs if winner == "project" else own
    assert (source(config, name), config.found[name].value) == (winner, tomllib.loads(line)[name])
    assert [each for each, _ in config.aside] == ([name] if winner == "user" else [])


@pytest.mark.parametrize(
    "line",
    [
        "pass_env = ['TOKEN']",
        "state = '/tmp/x'",
        "dialect = 'yoi'",
        "sandbox = 'none'",
        "confinement = 'open'",
        "network = 'inherit'",
        "write = ['/var/x']",
    ],
)
def test_a_projects_file_may_not_loosen(workspace: Path, project: Write, line: str) -> None:
    path = project(f"timeout = 5\n  {line}\n")
    name = line.partition(" ")[0]
    with pytest.raises(ConfigError, match=f"a project's file may not set .?{name}") as caught:
        gather(workspace)
    assert str(caught.value).startswith(f"{path}:2:3: ")
    assert str(user_file()) in str(caught.value)


def test_a_users_file_may_say_everything(user: Write, workspace: Path) -> None:
    path = user("dialect = 'yoi'\npass_env = ['A', 'B']\nstate = 'here'\nsandbox = 'none'\n")
    config = gather(workspace)
    assert (config.dialect, config.names("pass_env")) == ("yoi", ("A", "B"))
    assert state_folder(config) == state_folder() == path.parent / "here"


@pytest.mark.parametrize(
    ("text", "place", "sentence"),
    [
        ("timeout = 0", ":1:1", "timeout = 0 cannot be used; give a number of seconds above 0"),
        ("timeout = true", ":1:1", "timeout = True cannot be used"),
        ("timeout = nan", ":1:1", "timeout = nan cannot be used"),
        ("\non_timeout = 'x'", ":2:1", "on_timeout = 'x' is not known; use 'kill' or 'background'"),
        ("dialect = ''", ":1:1", "dialect = '' cannot be used"),
        ("confinement = 'none'", ":1:1", "is not known; use 'read-only' or 'workspace' or 'open'"),
        ("network = true", ":1:1", "network = True is not known; use 'deny' or 'inherit'"),
        ("write = [1]", ":1:1", 'cannot be used; give a list of paths, as in ["a", "/b"]'),
        ("deny_read = ['']", ":1:1", "cannot be used; give a list of paths"),
        ("protect = 3", ":1:1", "cannot be used; give a list of paths"),
        ("pass_env = [1]", ":1:1", "cannot be used; give a list of names"),
        ("time_out = 3", ":1:1", "there is no setting 'time_out'; did you mean 'timeout'"),
        (
            "zebra = 3",
            ":1:1",
            "there is no setting 'zebra'; the settings are confinement, container",
        ),
        ("[timeout]", ":1:1", "cannot be used"),
        ("timeout = ", ":1:11", "not TOML"),
        ("timeout = 3\nx = [", ":2:6", "not TOML"),
    ],
)
def test_what_is_wrong_is_told_with_its_place(
    workspace: Path, user: Write, text: str, place: str, sentence: str
) -> None:
    path = user(text)
    with pytest.raises(ConfigError) as caught:
        gather(workspace)
    assert str(caught.value).startswith(f"{path}{place}: ")
    assert sentence in str(caught.value)


@pytest.mark.parametrize(
    ("variable", "text", "name", "value"),
    [
        ("NACRE_DIALECT", "codegen", "dialect", "codegen"),
        ("NACRE_TIMEOUT", "1.5", "timeout", 1.5),
        ("NACRE_ON_TIMEOUT", "kill", "on_timeout", "kill"),
        ("NACRE_SANDBOX", "none", "sandbox", "none"),
        ("NACRE_PASS_ENV", "A,B C", "pass_env", ("A", "B", "C")),
        ("NACRE_STATE", "/somewhere", "state", "/somewhere"),
        ("NACRE_CONFINEMENT", "read-only", "confinement", "read-only"),
        ("NACRE_NETWORK", "inherit", "network", "inherit"),
        ("NACRE_WRITE", "a:/b c", "write", ("a", "/b c")),
        ("NACRE_DENY_READ", "/a:", "deny_read", ("/a",)),
        ("NACRE_PROTECT", "memo", "protect", ("memo",)),
    ],
)
def test_each_setting_has_a_variable(
    monkeypatch: pytest.MonkeyPatch, variable: str, text: str, name: str, value: object
) -> None:
    monkeypatch.setenv(variable, text)
    found = gather(None).found[name]
    assert (found.value, found.source) == (value, variable)
    monkeypatch.setenv(variable, "")
    assert name not in gather(None).found


def test_a_variable_that_cannot_be_used_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NACRE_TIMEOUT", "soon")
    with pytest.raises(ConfigError, match="NACRE_TIMEOUT='soon' cannot be used; give a number"):
        gather(None)


def test_every_place_adds_a_layer_of_rules(
    workspace: Path,
    user: Write,
    project: Write,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    user("[permissions]\ndeny = ['Bash(one:*)']\n")
    project("[permissions]\ndeny = ['Bash(two:*)']\n")
    (workspace / "agentrail.yaml").write_text("permissions:\n  deny: ['Bash(three:*)']\nother: 1\n")
    named = tmp_path / "more.yaml"
    named.write_text("permissions:\n  ask: ['Bash(four:*)']\n")
    monkeypatch.setenv("NACRE_RULES", str(named))
    last = {"deny": ["Bash(six:*)"]}
    config = gather(workspace, rules=[{"permissions": {"deny": ["Bash(five:*)"]}}, last])
    sources = [each.source.partition(" ")[0] for each in config.rules]
    assert sources == ["user", "project", "project", "NACRE_RULES", "given", "given"]
    denied = {name: decide(config, f"{name} x") for name in ("one", "two", "three", "five", "six")}
    assert set(denied.values()) == {Decision.DENY}
    assert decide(config, "four x") is Decision.ASK
    assert decide(config, "seven x") is Decision.ALLOW


@pytest.mark.parametrize("loose", ["allow = ['Bash']", "mode = 'bypassPermissions'"])
def test_no_layer_loosens_another(workspace: Path, user: Write, project: Write, loose: str) -> None:
    user("[permissions]\ndeny = ['Bash(rm:*)']\nask = ['Bash(git push:*)']\n")
    project(f"[permissions]\n{loose}\n")
    config = gather(workspace)
    assert decide(config, "rm x") is Decision.DENY
    assert decide(config, "git push") is Decision.ASK


def test_a_rules_file_may_be_given_by_path(tmp_path: Path) -> None:
    file = tmp_path / "rules.toml"
    file.write_text("[permissions]\ndeny = ['Bash(rm:*)']\n")
    assert decide(gather(None, rules=str(file)), "rm x") is Decision.DENY
    assert decide(gather(None, rules=[file]), "rm x") is Decision.DENY


def test_the_notation_is_that_of_the_dialect_or_of_the_file(workspace: Path) -> None:
    rules = {"deny": ["Bash(git:add *)"]}
    assert decide(gather(None, {"dialect": "agentrail"}, rules), "git add x") is Decision.DENY
    assert decide(gather(None, {"dialect": "nacre"}, rules), "git add x") is Decision.ALLOW
    (workspace / "agentrail.yaml").write_text("permissions:\n  deny: ['Bash(git:add *)']\n")
    assert decide(gather(workspace), "git add x") is Decision.DENY


def test_an_ordered_table_is_read_too() -> None:
    rule = [
        {"tool": "Bash", "pattern": "git *", "action": "allow"},
        {"tool": "Bash", "pattern": "*", "action": "deny"},
    ]
    config = gather(None, rules={"default_action": "deny", "rule": rule})
    assert decide(config, "git status") is Decision.ALLOW
    assert decide(config, "ls") is Decision.DENY


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("permissions:\n  deny: ['Bash(']\n", r"rules\.yaml:2:10: "),
        ("permissions:\n  denied: ['Bash']\n", r"rules\.yaml:2:3: "),
        ("permissions: [\n", r"rules\.yaml:2:1: "),
        ("other: 1\n", "there are no rules in it; put them under 'permissions'"),
    ],
)
def test_a_rules_file_that_cannot_be_used_is_told_with_its_place(
    tmp_path: Path, text: str, sentence: str
) -> None:
    file = tmp_path / "rules.yaml"
    file.write_text(text)
    with pytest.raises(ConfigError, match=sentence):
        gather(None, rules=file)


def test_a_rules_file_that_is_missing_is_named(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"there is no rules file '.*nothing\.yaml'"):
        gather(None, rules=tmp_path / "nothing.yaml")


def test_rules_that_are_given_wrongly_are_refused() -> None:
    with pytest.raises(RuleError, match="unknown key 'denny'"):
        gather(None, rules={"denny": ["Bash"]})


def test_the_users_file_is_where_platformdirs_says(monkeypatch: pytest.MonkeyPatch) -> None:
    for value in ("/some/where", ""):
        monkeypatch.setenv("XDG_CONFIG_HOME", value)
        assert user_file() == user_config_path("nacre", appauthor=False) / "nacre.toml"


def test_the_state_directory_is_where_platformdirs_says(monkeypatch: pytest.MonkeyPatch) -> None:
    for value in ("/some/where", ""):
        monkeypatch.setenv("XDG_STATE_HOME", value)
        assert state_folder() == user_state_path("nacre", appauthor=False)


def test_a_user_without_a_home_is_told_what_to_set(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", "")
    monkeypatch.setenv("HOME", "nowhere")
    with pytest.raises(ConfigError, match="set NACRE_STATE"):
        state_folder()


def test_a_pipe_in_place_of_a_file_does_not_hang(workspace: Path) -> None:
    os.mkfifo(workspace / "nacre.toml")
    with pytest.raises(ConfigError, match=r"nacre\.toml: is no file"):
        gather(workspace)


def test_a_file_that_has_no_end_is_refused(workspace: Path) -> None:
    (workspace / "nacre.toml").symlink_to("/dev/zero")
    with pytest.raises(ConfigError, match="is no file"):
        gather(workspace)
    (workspace / "nacre.toml").unlink()
    (workspace / "nacre.toml").write_bytes(b"#" * 2_000_000)
    with pytest.raises(ConfigError, match="is larger than 1,048,576 bytes"):
        gather(workspace)


def test_a_file_that_is_not_utf8_is_told_with_its_line(workspace: Path) -> None:
    (workspace / "nacre.toml").write_bytes(b"# one\n# \xff\n")
    with pytest.raises(ConfigError, match=r"nacre\.toml:2: is not UTF-8"):
        gather(workspace)


@pytest.mark.needs("ordinary-user")
def test_a_file_that_may_not_be_read_is_refused(project: Write, workspace: Path) -> None:
    project("timeout = 3").chmod(0)
    with pytest.raises(ConfigError, match="cannot be read: Permission denied"):
        gather(workspace)


@pytest.mark.needs("ordinary-user")
def test_a_folder_that_may_not_be_entered_has_nothing_for_us(workspace: Path) -> None:
    workspace.chmod(0)
    try:
        assert gather(workspace) == Config()
    finally:
        workspace.chmod(0o700)


def test_what_is_not_there_is_nothing(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    (tmp_path / "dangling").symlink_to("nowhere")
    for name in ("no", "no/such", "file/below", "dangling"):
        assert read_text(tmp_path / name) is None


def test_a_projects_file_cannot_give_scripts_more_time_than_they_have(
    user: Write, project: Write
) -> None:
    user("")
    config = gather(project("timeout = 100000").parent)

    assert "timeout" not in config.found
    assert [name for name, _ in config.aside] == ["timeout"]


@pytest.mark.parametrize("name", ["deny_read", "protect"])
def test_what_is_denied_or_protected_anywhere_counts(
    user: Write, project: Write, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    own = user(f"{name} = ['mine', '/both']\n").parent
    workspace = project(f"{name} = ['theirs', '/both']\n").parent
    monkeypatch.setenv(f"NACRE_{name.upper()}", "/variable")
    found = gather(workspace, {name: ("/given", "/both")}).found[name]
    assert found.value == (
        f"{own}/mine",
        "/both",
        f"{workspace}/theirs",
        "/variable",
        "/given",
    )
    assert [each.partition(" ")[0] for each in found.source.split(", ")] == [
        "user",
        "project",
        f"NACRE_{name.upper()}",
        "given",
    ]


def test_of_what_is_writable_the_last_place_counts(
    user: Write, workspace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    own = user("write = ['mine', '~/there']\n").parent
    assert gather(workspace).names("write") == (f"{own}/mine", os.path.expanduser("~/there"))
    monkeypatch.setenv("NACRE_WRITE", "/variable")
    assert gather(workspace).names("write") == ("/variable",)
    assert gather(workspace, {"write": (workspace / "x",)}).names("write") == (f"{workspace}/x",)


def test_an_empty_list_of_a_project_takes_nothing_away(user: Write, project: Write) -> None:
    own = user("deny_read = ['mine']\nprotect = ['mine']\n").parent
    config = gather(project("deny_read = []\nprotect = []\n").parent)
    assert config.names("deny_read") == config.names("protect") == (f"{own}/mine",)
    assert [name for name, _ in config.aside] == ["deny_read", "protect"]


def test_a_confinement_is_made_of_settings(user: Write, workspace: Path) -> None:
    user("network = 'inherit'\nprotect = ['/srv/memo']\n")
    config = gather(workspace, {"write": ("../more", "in"), "deny_read": ("key", "/srv/key")})
    made = Confinements(config, usual="workspace", network=Network.DENY, home=None)
    usual = made.named(None, workspace)
    real = Path(os.path.realpath(workspace))
    assert (usual.name, usual.network) == ("workspace", Network.INHERIT)
    assert usual.writable == (real, real.parent / "more")
    assert usual.protected == (Path("/srv/memo"),)
    assert {real / "key", Path("/srv/key")} <= {*usual.denied}
    assert made.named("workspace", workspace) is usual
    assert made.named("open", workspace).writable is None
    seen = made.named(None, workspace, Path("/srv/cwd"))
    assert (seen.visible, usual.visible) == ((Path("/srv/cwd"),), ())
    with pytest.raises(ConfigError, match="confinement='closed' is not known"):
        made.named("closed", workspace)
    with pytest.raises(ConfigError, match="cannot be had with confinement='read-only'"):
        made.named("read-only", workspace)


def test_a_projects_file_holds_a_tool_to_read_only(project: Write, state: Path) -> None:
    workspace = project("confinement = 'read-only'\n").parent
    with Bash(workspace=workspace, state=state) as tool:
        (bash, *_) = tool.specs(ToolContext(working_dir=workspace))
    assert "Nothing can be written but /dev/null" in str(bash["description"])


@pytest.mark.parametrize(
    ("given", "network"),
    [({}, Network.DENY), ({"network": "inherit"}, Network.INHERIT)],
)
def test_what_is_confined_may_have_another_network_than_what_is_open(
    given: dict[str, object], network: Network, workspace: Path
) -> None:
    made = Confinements(
        gather(workspace, given),
        usual="open",
        network=Network.INHERIT,
        home=None,
        confined_network=Network.DENY,
    )
    assert made.named(None, workspace).network is Network.INHERIT
    assert made.named("read-only", workspace).network is network
