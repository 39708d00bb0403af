import pytest

from nacre.syntax.network import needs_network
from nacre.syntax.read import read


@pytest.mark.parametrize(
    "text",
    [
        "curl -sL https://example.com",
        "cd /tmp && wget x.test/a.tar.gz",
        "git fetch origin",
        "git -C folder pull",
        "git clone git@example.com:a/b",
        "npm install",
        "npm i left-pad",
        "npx jest",
        "pnpm add x",
        "yarn",
        "pip3 install requests",
        "python3 -m pip install requests",
        "cargo install ripgrep",
        "cargo fetch",
        "brew update",
        "apt-get update",
        "ssh host ls",
        "ping -c1 host",
        "node get.js https://example.com/x",
        "x=$(curl x.test)",
    ],
)
def test_a_script_that_talks_to_another_machine_needs_the_network(text: str) -> None:
    assert needs_network(read(text))


@pytest.mark.parametrize(
    "text",
    [
        "",
        "ls -la",
        "git status",
        "git commit -m 'curl https://example.com'",
        "cargo build",
        "npm test",
        "pip list",
        "python3 -m pytest",
        "grep -rn curl src/",
        "echo 'run curl https://example.com'",
        "# wget x",
        "node get.js http://localhost:8080",
    ],
)
def test_one_that_only_mentions_it_does_not(text: str) -> None:
    assert not needs_network(read(text))
