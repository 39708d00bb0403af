import pytest

from nacre.errors import ConfigError
from nacre.model.verdict import Decision
from nacre.policy.guards.guard import Finding, Watch
from nacre.policy.policy import Policy
from nacre.policy.presets import preset
from nacre.syntax.read import read
from nacre.syntax.script import ViaKind

FIVE = ["codegen", "phoenix", "wayland", "agentrail", "yoi"]


def first_refusal(chosen: Policy, text: str) -> str | None:
    script, watch = read(text), Watch(chosen.packs)
    found: list[Finding] = [
        each
        for command in script.commands
        if chosen.through is None or all(via.kind in chosen.through for via in command.via)
        for each in watch.find(command, script)
    ]
    return chosen.wording(found[0], script) if found and chosen.wording else None


def test_the_default_has_every_pack_and_asks_about_what_it_cannot_read() -> None:
    chosen = preset("nacre")
    assert {pack.name for pack in chosen.packs} == {
        "credentials",
        "dangerous",
        "footguns",
        "hazards",
    }
    assert chosen.unreadable is Decision.ASK
    assert chosen.through is None


@pytest.mark.parametrize("dialect", FIVE)
def test_the_five_leave_what_cannot_be_read_to_bash(dialect: str) -> None:
    assert preset(dialect).unreadable is Decision.ALLOW


def test_an_unknown_dialect_is_an_error_that_lists_the_known_ones() -> None:
    with pytest.raises(ConfigError, match="phoenix"):
        preset("nothing")


@pytest.mark.parametrize(
    ("text", "token"),
    [
        ("su -l me", "su"),
        ("echo x && sudo ls", "sudo"),
        ("time mkfs.ext4 /dev/sda", "mkfs.ext4"),
        ("FOO=1 sudo ls", "sudo"),
    ],
)
def test_codegen_names_the_token(text: str, token: str) -> None:
    said = first_refusal(preset("codegen"), text)
    assert said == f'command rejected: command uses denylisted token "{token}"'


@pytest.mark.parametrize(
    "text",
    [
        "",
        'bash -c "sudo ls"',
        'eval "sudo ls"',
        "\xa0sudo ls",
        "echo 'don't sudo'",
        "mkfs.",
        "SUDO ls",
        "rm -rf /",
    ],
)
def test_codegen_lets_the_rest_run(text: str) -> None:
    assert first_refusal(preset("codegen"), text) is None


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("git add -A", "permission denied: blind git add commands (git add -A, git add ., "),
        ("sudo git push -f", "permission denied: git push --force is not allowed. Use "),
        ("ls && rm -rf ~/x", "permission denied: this rm command could delete critical data "),
    ],
)
def test_phoenix_explains_each_refusal(text: str, said: str) -> None:
    assert (first_refusal(preset("phoenix"), text) or "").startswith(said)


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("  env  ", "command pattern"),
        ("env | tee /tmp/x", "command pattern"),
        ("ls -la; env", "chained subcommand"),
        ("false || printenv", "chained subcommand"),
        ("env|tee /tmp/x", "chained subcommand"),
        ("ls\n'set'", "chained subcommand"),
        ("ls; cat .env", "command pattern"),
        ("ls && c''at .env", "command pattern"),
        ("ls & env", "command pattern"),
        ("(ls; env)", "chained subcommand"),
    ],
)
def test_wayland_tells_a_whole_command_from_a_chained_one(text: str, what: str) -> None:
    said = first_refusal(preset("wayland"), text) or ""
    assert said.startswith(f"Refused: {what} matches credential-exfiltration denylist.")


def test_agentrail_says_only_that_it_is_dangerous() -> None:
    said = "Command matches a known-dangerous pattern"
    assert first_refusal(preset("agentrail"), "dd if=/dev/zero of=/dev/sda") == said
    assert first_refusal(preset("agentrail"), ":(){:|:&};:") == said
    assert first_refusal(preset("agentrail"), "sudo reboot") is None


def test_yoi_refuses_nothing() -> None:
    assert preset("yoi").packs == ()


def test_code_in_quotes_is_not_looked_into_where_the_document_says_so() -> None:
    through = preset("codegen").through
    assert through is not None
    assert ViaKind.CODE not in through
    assert ViaKind.EXEC in through


LONG = "echo a\n" * 3000


@pytest.mark.parametrize("dialect", FIVE)
def test_the_five_run_what_is_too_much_to_read_and_the_default_asks(dialect: str) -> None:
    script = read(LONG)
    assert script.over_budget
    assert preset(dialect).check(script).decision is Decision.ALLOW
    assert preset("nacre").check(script).decision is Decision.ASK


def test_what_is_too_much_to_read_is_searched_all_the_same() -> None:
    for text in (f"{LONG}sudo ls\n", f"sudo ls\n{LONG}"):
        assert preset("codegen").check(read(text)).decision is Decision.DENY
