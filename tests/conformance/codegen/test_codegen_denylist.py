"""The denylist: which words it has, where it looks for them, and where it does not."""

from pathlib import Path

import pytest

from conformance.codegen.shells import run
from nacre import Bash

pytestmark = pytest.mark.anyio


@pytest.fixture(autouse=True)
def no_programs(monkeypatch: pytest.MonkeyPatch) -> None:
    """A word that the list has lost must not stop the machine that finds it out."""
    monkeypatch.setenv("PATH", "/nonexistent")


async def token(tool: Bash, command: str) -> str | None:
    """The word for which a command is rejected; None if it runs."""
    reply = await run(tool, command)
    said, _, rest = reply.text.partition('command rejected: command uses denylisted token "')
    if not rest:
        assert not reply.is_error, reply.text
        return None
    assert reply.is_error
    assert (said, rest[-1], reply.details) == ("", '"', {"exit_code": None})
    return rest[:-1]


@pytest.mark.requirement("codegen.denylist-before")
async def test_nothing_of_a_rejected_command_runs(codegen: Bash, workspace: Path) -> None:
    assert await token(codegen, "> made; sudo ls") == "sudo"
    assert list(workspace.iterdir()) == []


@pytest.mark.requirement("codegen.denylist-privilege")
async def test_other_users_are_refused(codegen: Bash) -> None:
    for command in ("sudo ls", "sudo", "su", "su -l myuser", "sudo\tls", "FOO=1 sudo ls"):
        assert await token(codegen, command) == command.split()[-2 if "=" in command else 0]


@pytest.mark.requirement("codegen.denylist-power")
async def test_the_power_switch_is_refused(codegen: Bash) -> None:
    for name in ("shutdown", "reboot", "halt", "poweroff"):
        assert await token(codegen, name) == name
        assert await token(codegen, f"{name} -h now") == name


@pytest.mark.requirement("codegen.denylist-chroot")
async def test_another_root_is_refused(codegen: Bash) -> None:
    assert await token(codegen, "chroot /mnt /bin/true") == "chroot"


@pytest.mark.requirement("codegen.denylist-mount")
async def test_mounting_is_refused(codegen: Bash) -> None:
    assert await token(codegen, "mount -t tmpfs none /mnt") == "mount"
    assert await token(codegen, "umount /mnt") == "umount"


@pytest.mark.requirement("codegen.denylist-mkfs")
async def test_making_file_systems_is_refused_whatever_the_variant(codegen: Bash) -> None:
    for name in ("mkfs", "mkfs.ext4", "mkfs.xfs"):
        assert await token(codegen, f"{name} /dev/null") == name
    assert await token(codegen, "mkfs. || true") is None


@pytest.mark.requirement("codegen.denylist-positions")
async def test_a_word_is_found_where_a_command_can_stand(codegen: Bash) -> None:
    for command in (
        "sudo ls",
        "  sudo ls",
        "\nsudo ls",
        "echo x; sudo ls",
        "echo x & sudo ls",
        "echo x && sudo ls",
        "echo x || sudo ls",
        "ls|sudo tee x",
        "(sudo ls)",
        "echo $(sudo ls)",
        "time sudo ls",
    ):
        assert await token(codegen, command) == "sudo"


async def test_a_word_elsewhere_is_a_text(codegen: Bash) -> None:
    for command in (
        "echo sudoku pseudo-random",
        "echo halt",
        "cat /tmp/su.txt unmount.txt /etc/sudoers_ || true",
        ": commit -m 'fix mount point'",
        "cat /proc/mounts",
        "echo --mount type=bind",
        "su-exec x || true",
    ):
        assert await token(codegen, command) is None, command


@pytest.mark.requirement("codegen.denylist-quoted")
async def test_what_is_in_quotes_is_not_looked_at(codegen: Bash) -> None:
    for command in (
        'bash -c "su --version"',
        'eval "su --version"',
        "bash -c 'true; su --version'",
        'echo "don\'t sudo"',
        'echo "don\'t sudo please; sudo ls"',
        "echo 'don't sudo'",
    ):
        assert await token(codegen, command) is None, command


@pytest.mark.requirement("codegen.denylist-bypass")
async def test_the_list_is_no_boundary(codegen: Bash) -> None:
    reply = await run(codegen, "$(echo sudo)whoami")
    assert reply.text == "bash: line 1: sudowhoami: command not found\nexit: 127\n"
    assert await token(codegen, "/no/such/sudo ls") is None


@pytest.mark.requirement("codegen.denylist-case")
async def test_a_word_in_other_letters_is_another_word(codegen: Bash) -> None:
    for command in ("SUDO ls", "Sudo ls", "REBOOT", "Mkfs.ext4 x"):
        assert await token(codegen, command) is None


@pytest.mark.requirement("codegen.denylist-spaces")
async def test_a_space_that_is_not_ascii_is_part_of_the_word(codegen: Bash) -> None:
    for space in ("\u00a0", "\u2003", "\u3000", "\u0085"):
        assert await token(codegen, f"{space}sudo ls") is None
        assert await token(codegen, f"sudo{space}ls") is None


async def test_a_rule_that_leaves_it_to_nobody_says_who_could_approve(
    workspace: Path, state: Path
) -> None:
    async with Bash(
        dialect="codegen", workspace=workspace, state=state, rules={"ask": ["Bash(ls:*)"]}
    ) as tool:
        reply = await run(tool, "ls -a")
    assert reply.is_error
    assert reply.text.endswith(
        "Only the user can approve it, by running it or by changing the rule."
    )
