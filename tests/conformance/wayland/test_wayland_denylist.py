"""What is refused before anything of it starts, and in which of two sentences."""

from pathlib import Path

import pytest

from nacre import Bash

REST = (
    " If you need an environment variable's value for legitimate reasons, ask the user to provide"
    " it directly."
)
WHOLE = f"Refused: command pattern matches credential-exfiltration denylist.{REST}"
CHAINED = f"Refused: chained subcommand matches credential-exfiltration denylist.{REST}"


def refused(tool: Bash, command: str) -> str:
    reply = tool.call_sync("Bash", {"command": command})
    if not reply.text.startswith("Refused: "):
        return ""
    assert reply.is_error
    assert reply.details == {"exit_code": None}
    return reply.text


@pytest.mark.requirement("wayland.denylist-before", "wayland.layers-before")
def test_nothing_of_a_refused_command_runs(unheld: Bash, workspace: Path) -> None:
    assert refused(unheld, "touch ran; env") == CHAINED
    assert not (workspace / "ran").exists()


@pytest.mark.requirement("wayland.denylist-always", "wayland.table-denylist")
def test_no_argument_and_no_sandbox_gets_around_it(unheld: Bash) -> None:
    for more in ({"dangerously": True}, {"sandbox": "none"}, {"timeout": 0}, {"force": True}):
        reply = unheld.call_sync("Bash", {"command": "env", **more})
        assert reply.text == WHOLE


@pytest.mark.requirement("wayland.deny-environment")
@pytest.mark.parametrize(
    "command",
    ["env", "  env  ", "ENV", "env FOO=bar make", "env -u PATH x", "printenv", "Printenv PATH"],
)
def test_dumps_of_the_environment(unheld: Bash, command: str) -> None:
    assert refused(unheld, command) == WHOLE


@pytest.mark.requirement("wayland.deny-set")
def test_a_bare_set_and_only_that(unheld: Bash) -> None:
    assert refused(unheld, "  set  ") == WHOLE
    for command in ("set -e", "set +x", "set -- a", "set -euo pipefail"):
        assert not refused(unheld, command)


@pytest.mark.requirement("wayland.deny-powershell")
@pytest.mark.parametrize(
    "command", ["Get-ChildItem env:", "get-childitem Env:X", "$env:API", "echo $env:X"]
)
def test_the_environment_in_the_words_of_powershell(unheld: Bash, command: str) -> None:
    assert refused(unheld, command) == WHOLE


@pytest.mark.requirement("wayland.deny-dotenv")
@pytest.mark.parametrize(
    "reader", ["cat", "tee", "less", "more", "head", "tail", "CAT", "head -n 5"]
)
@pytest.mark.parametrize("file", [".env", "/tmp/.env", "a/.env.production", "prod.env"])
def test_files_of_variables(unheld: Bash, reader: str, file: str) -> None:
    assert refused(unheld, f"{reader} {file}") == WHOLE


@pytest.mark.requirement("wayland.deny-echo")
@pytest.mark.parametrize("ending", ["API_KEY", "SECRET", "TOKEN", "PASSWORD", "PASSWD"])
def test_variables_with_the_names_of_secrets(unheld: Bash, ending: str) -> None:
    for command in ("echo $FOO_{}", 'echo "$FOO_{}"', "echo key=$FOO_{} | cat"):
        assert refused(unheld, command.format(ending)) == WHOLE


@pytest.mark.requirement("wayland.deny-printf")
@pytest.mark.parametrize(
    "command",
    [
        "printf %s $FOO_TOKEN",
        "printf '%s\\n' \"$FOO_API_KEY\"",
        "awk 'BEGIN{for(k in ENVIRON) print k, ENVIRON[k]}'",
        "awk 'BEGIN{print ENVIRON[\"HOME\"]}'",
    ],
)
def test_other_ways_to_print_them(unheld: Bash, command: str) -> None:
    assert refused(unheld, command) == WHOLE


FILES = """
.aws/credentials .aws/config .ssh/id_rsa .ssh/id_ed25519 .netrc .npmrc .pypirc .kube/config
.gcloud/x.json .azure/accessTokens.json .config/wayland/auth .config/wayland/auth.json
"""


@pytest.mark.requirement("wayland.deny-files")
@pytest.mark.parametrize("reader", ["cat", "less", "more", "head", "tail", "tee", "bat"])
def test_files_of_credentials(unheld: Bash, reader: str) -> None:
    for file in FILES.split():
        assert refused(unheld, f"{reader} ~/{file}") == WHOLE, file
        assert refused(unheld, f"{reader} /home/u/{file}") == WHOLE, file
    for file in ("/etc/shadow", "/etc/sudoers"):
        assert refused(unheld, f"{reader} {file}") == WHOLE, file


@pytest.mark.requirement("wayland.deny-encoded")
@pytest.mark.parametrize(
    "encoder", ["base64", "xxd", "od", "hexdump", "uuencode", "openssl enc -base64 -in"]
)
def test_such_files_in_another_encoding(unheld: Bash, encoder: str) -> None:
    for file in (*(f"~/{file}" for file in FILES.split()), "/etc/shadow", ".env", "a/.env.local"):
        assert refused(unheld, f"{encoder} {file}") == WHOLE, file
    assert not refused(unheld, f"{encoder} README.md")


@pytest.mark.requirement("wayland.deny-keychain")
@pytest.mark.parametrize(
    "verb", ["find-generic-password", "find-internet-password", "dump-keychain", "export"]
)
def test_the_keychain(unheld: Bash, verb: str) -> None:
    assert refused(unheld, f"security {verb} -s x") == WHOLE


@pytest.mark.requirement("wayland.deny-indirect")
@pytest.mark.parametrize("command", ["echo ${!var}", "x=${!FOO_TOKEN}", "echo ${!A*}"])
def test_indirect_expansion(unheld: Bash, command: str) -> None:
    assert refused(unheld, command) == WHOLE


@pytest.mark.requirement("wayland.deny-code")
@pytest.mark.parametrize(
    "start",
    ["python -c", "python3 -c", "node -e", "node --eval", "perl -e", "ruby -e", "php -r"],
)
def test_code_that_reads_where_credentials_are(unheld: Bash, start: str) -> None:
    for folder in (".aws/credentials", ".ssh/id_rsa", ".gnupg/secring.gpg", ".config/wayland/x"):
        assert refused(unheld, f"{start} \"open('$HOME/{folder}')\"") == WHOLE, folder
    assert not refused(unheld, f"{start} \"print('x')\"")


@pytest.mark.requirement("wayland.deobfuscated")
@pytest.mark.parametrize(
    "command",
    [
        "e''nv",
        'e""nv',
        '"env"',
        "'env'",
        "e\\nv",
        'p""rintenv',
        "c''at .env",
        "'set'",
        "cat '.e'nv",
    ],
)
def test_quoting_hides_nothing(unheld: Bash, command: str) -> None:
    assert refused(unheld, command) == WHOLE


@pytest.mark.requirement("wayland.refusal-whole")
@pytest.mark.parametrize("command", ["env", "env | tee /tmp/x", "ls; cat .env", "e''nv"])
def test_a_match_of_the_whole_has_its_sentence(unheld: Bash, command: str) -> None:
    assert refused(unheld, command) == WHOLE


@pytest.mark.requirement("wayland.refusal-chained")
@pytest.mark.parametrize(
    "command",
    [
        "ls -la; env",
        "ls && env",
        "false || printenv",
        "true | set",
        "ls\nenv",
        "env|cat",
        "ls;'env'",
    ],
)
def test_a_match_of_a_part_has_the_other(unheld: Bash, command: str) -> None:
    assert refused(unheld, command) == CHAINED


@pytest.mark.requirement("wayland.denylist-rest")
@pytest.mark.parametrize(
    "command",
    [
        "ls",
        "echo hello world",
        "git commit -m 'env tweaks'",
        "echo $HOME",
        "echo 'my env vars'",
        "cat .envrc",
        "test -f ~/.aws/credentials",
        "base64 README.md",
        "awk '{print $1}' data.txt",
        "printf '%s\\n' hello",
        "python3 -c 'print(1+1)'",
        "env=prod make",
    ],
)
def test_everything_else_is_let_through(unheld: Bash, command: str) -> None:
    assert not refused(unheld, command)
