"""The network: closed, opened by one variable, and a hint where that is why a command failed."""

import socket
from collections.abc import Callable, Generator
from pathlib import Path

import pytest

from nacre import Bash

pytestmark = pytest.mark.needs("bubblewrap")

HINT = (
    "\n\n⚠ The Bash sandbox has NO NETWORK, so this command could not reach the network (that is"
    " why the output is empty). Do NOT retry with curl/wget. To read a URL, use the WebFetch tool;"
    ' to search the web, use the `web` tool with operation "search". (To allow Bash network access,'
    " the user can set WAYLAND_BASH_ALLOW_NETWORK=1.)"
)
LEVER = "WAYLAND_BASH_ALLOW_NETWORK"
INTERFACES = "tail -n +3 /proc/net/dev | cut -d: -f1 | tr -d ' '"


@pytest.fixture
def port() -> Generator[int]:
    """Where the host listens."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield server.getsockname()[1]


def reaches(tool: Bash, port: int) -> bool:
    reply = tool.call_sync(
        "Bash", {"command": f"exec 3<>/dev/tcp/127.0.0.1/{port} && echo reached"}
    )
    return "reached" in reply.text


@pytest.mark.requirement("wayland.network-denied", "wayland.table-network")
def test_a_command_does_not_even_reach_what_listens_on_the_host(wayland: Bash, port: int) -> None:
    assert not reaches(wayland, port)


@pytest.mark.requirement("wayland.network-namespace")
def test_it_has_a_network_of_its_own_with_nothing_in_it(wayland: Bash) -> None:
    reply = wayland.call_sync("Bash", {"command": INTERFACES})
    assert reply.text == "Exit code: 0\nSTDOUT:\nlo\n\nSTDERR:\n"


@pytest.mark.requirement("wayland.network-commands")
@pytest.mark.parametrize(
    "command",
    [
        "curl -s http://{}",
        "git clone -q http://{}/a.git",
        "python3 -c 'import urllib.request as r; r.urlopen(\"http://{}\")'",
    ],
)
def test_commands_that_need_the_network_fail(wayland: Bash, port: int, command: str) -> None:
    reply = wayland.call_sync("Bash", {"command": command.format(f"127.0.0.1:{port}")})
    assert reply.is_error
    assert reply.text.endswith(HINT)


@pytest.mark.requirement("wayland.egress")
def test_an_upload_is_not_refused_by_name_but_gets_nowhere(
    wayland: Bash, workspace: Path, port: int
) -> None:
    (workspace / "secret").write_text("s")
    command = f"curl -s --data-binary @secret http://127.0.0.1:{port}"
    reply = wayland.call_sync("Bash", {"command": command})
    assert reply.text == f"Exit code: 7\nSTDOUT:\n\nSTDERR:\n{HINT}"


@pytest.mark.requirement("wayland.network-lever", "wayland.network-inherited")
@pytest.mark.parametrize("value", ["1", "true", "TRUE", "True"])
def test_one_variable_of_the_host_gives_commands_the_hosts_network(
    monkeypatch: pytest.MonkeyPatch, opened: Callable[..., Bash], port: int, value: str
) -> None:
    monkeypatch.setenv(LEVER, value)
    assert reaches(opened(), port)


@pytest.mark.requirement("wayland.network-lever-else")
@pytest.mark.parametrize("value", ["", "0", "yes", "2", " 1", "on", "false"])
def test_any_other_value_of_it_changes_nothing(
    monkeypatch: pytest.MonkeyPatch, opened: Callable[..., Bash], port: int, value: str
) -> None:
    monkeypatch.setenv(LEVER, value)
    assert not reaches(opened(), port)


def test_a_command_cannot_pull_the_lever_itself(wayland: Bash, port: int) -> None:
    reply = wayland.call_sync(
        "Bash", {"command": f"export {LEVER}=1; exec 3<>/dev/tcp/127.0.0.1/{port} && echo reached"}
    )
    assert "reached" not in reply.text


@pytest.mark.requirement("wayland.hint", "wayland.hint-words")
def test_a_failed_command_that_looks_networked_is_told_why(wayland: Bash) -> None:
    reply = wayland.call_sync("Bash", {"command": "false # curl -sL https://x.y"})
    assert reply.text == f"Exit code: 1\nSTDOUT:\n\nSTDERR:\n{HINT}"
    assert reply.is_error
    assert reply.details == {"exit_code": 1}


@pytest.mark.requirement("wayland.hint-failed")
@pytest.mark.parametrize("command", ["true; : curl -sL https://x.y", "echo git fetch"])
def test_one_that_succeeded_is_not(wayland: Bash, command: str) -> None:
    assert HINT not in wayland.call_sync("Bash", {"command": command}).text


@pytest.mark.requirement("wayland.hint-denied")
def test_nor_one_that_had_the_network(
    monkeypatch: pytest.MonkeyPatch, opened: Callable[..., Bash]
) -> None:
    monkeypatch.setenv(LEVER, "1")
    reply = opened().call_sync("Bash", {"command": "false # curl -sL https://x.y"})
    assert reply.text == "Exit code: 1\nSTDOUT:\n\nSTDERR:\n"


NETWORKED = """
curl -sL u;curl	u;wget u;git fetch;git clone u;git pull;git push;git remote -v;npm install;npm i x
npm ci;npx x;pnpm i;yarn add x;pip install x;pip3 install x;cargo install ripgrep;cargo fetch
cargo update;brew install x;apt install x;apt-get update;nc h 1;ncat h 1;telnet h;ssh h;scp a h:b
rsync a h:b;ping h;dig h;nslookup h;host h;ftp h;x http://h;x https://h;CURL u;Git Clone u
"""
LOCAL = "ls -la;git commit -m 'msg';grep -rn foo src/;cargo build;npm test;make;curl;git status"


@pytest.mark.requirement("wayland.hint-recognized")
def test_the_commands_that_are_recognized(opened: Callable[..., Bash]) -> None:
    tool = opened(sandbox="none", network="deny")
    for command in NETWORKED.strip().replace("\n", ";").split(";"):
        reply = tool.call_sync("Bash", {"command": f"exit 3 # {command}"})
        assert reply.text.endswith(HINT), command
    for command in LOCAL.split(";"):
        reply = tool.call_sync("Bash", {"command": f"exit 3 # {command}"})
        assert not reply.text.endswith(HINT), command


@pytest.mark.requirement("wayland.hint-substring")
def test_a_word_that_only_looks_so_gets_the_hint_and_nothing_else(wayland: Bash) -> None:
    reply = wayland.call_sync("Bash", {"command": "echo out; echo 'localhost only' >&2; exit 4"})
    assert reply.text == f"Exit code: 4\nSTDOUT:\nout\n\nSTDERR:\nlocalhost only\n{HINT}"
    assert wayland.call_sync("Bash", {"command": "echo a host b"}).text.count("⚠") == 0


def test_a_timeout_and_a_refusal_have_no_hint(wayland: Bash) -> None:
    reply = wayland.call_sync("Bash", {"command": "sleep 9 # curl u", "timeout": 100})
    assert reply.text == "Command timed out after 100ms"
    assert not wayland.call_sync("Bash", {"command": "env # curl u"}).text.endswith(HINT)


def test_the_hint_is_the_end_of_a_cut_reply(wayland: Bash) -> None:
    command = "head -c 90000 /dev/zero | tr '\\0' x; false # curl u"
    reply = wayland.call_sync("Bash", {"command": command})
    assert reply.text.endswith(HINT)
    assert "chars] ..." in reply.text
