import pytest

from nacre.model.verdict import Decision
from policy.refusals import decision, findings

NAMED = [
    "sudo",
    "su",
    "shutdown",
    "reboot",
    "halt",
    "poweroff",
    "chroot",
    "mount",
    "umount",
    "mkfs",
]


@pytest.mark.parametrize("name", NAMED)
@pytest.mark.parametrize("form", ["{}", "ls; {} x", "(/usr/sbin/{} x)", "timeout 5 {} x", "a|{} x"])
def test_a_named_program_is_refused_at_command_position(name: str, form: str) -> None:
    assert decision("footguns", form.format(name)) is Decision.DENY


@pytest.mark.parametrize("name", NAMED)
@pytest.mark.parametrize(
    "form", ["echo {}", "grep -r {} .", "man {}", "which {}", "command -v {}", "x={}", "# {}"]
)
def test_its_name_elsewhere_is_a_word_like_others(name: str, form: str) -> None:
    assert decision("footguns", form.format(name)) is Decision.ALLOW


@pytest.mark.parametrize(
    "text",
    [
        "mkfs.ext4 /dev/sda",
        "doas ls",
        "run0 ls",
        "pkexec ls",
        "systemctl poweroff",
        "systemctl --no-wall -i reboot",
        "systemctl -H host halt",
        "systemctl start poweroff.target",
        "loginctl reboot",
        "init 6",
        "/sbin/telinit 0",
        "x=sudo; $x ls",
        "su\\do ls",
        "FOO=1 sudo ls",
        "trap 'reboot' EXIT",
        "echo 'sudo reboot' | sh",
    ],
)
def test_what_comes_to_the_same_is_refused(text: str) -> None:
    assert decision("footguns", text) is Decision.DENY


@pytest.mark.parametrize(
    "text",
    [
        "mkfs.",
        "sudoku",
        "su2",
        "./mount.sh",
        "findmnt",
        "sudo --version",
        "mount --help",
        "systemctl status reboot",
        "systemctl restart nginx",
        "git init 0",
        "npm run halt",
        "SUDO ls",
        "docker run --mount type=bind,src=.,dst=/w img ls",
        "for su in a b; do echo $su; done",
        "case $1 in reboot) echo r;; esac",
    ],
)
def test_what_only_looks_like_it_is_not(text: str) -> None:
    assert decision("footguns", text) is Decision.ALLOW


def test_the_document_lists_bare_names() -> None:
    assert decision("footguns:documented", "/usr/bin/sudo ls") is Decision.ALLOW
    assert decision("footguns:documented", "doas ls") is Decision.ALLOW
    (found,) = findings("footguns:documented", "ls && mkfs.ext4 /dev/sda")
    assert found.token == "mkfs.ext4"  # noqa: S105
