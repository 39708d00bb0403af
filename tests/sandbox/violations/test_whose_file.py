"""Files that are hidden, denied, or another user's."""

from dataclasses import replace

import pytest

from nacre.model.violation import ViolationKind
from nacre.sandbox.violations import Evidence
from nacre.sandbox.violations.find import _distinct, _found
from sandbox.violations.recorded import RecordedHost, confinement, evidence, host


def _told(found: Evidence, on: RecordedHost | None = None) -> list[tuple[str, str]]:
    return [(each.kind.value, each.target) for each in _distinct(_found(found, on or host()))]


@pytest.mark.parametrize("sandbox", ["bubblewrap", "landlock"])
def test_nobody_learns_what_is_in_a_denied_folder(sandbox: str) -> None:
    for name in ("id_rsa", "surely-not-there"):
        path = f"/home/dev/.ssh/{name}"
        found = evidence(f"cat: {path}: Permission denied\n", script="make", sandbox=sandbox)
        assert _told(found) == [("read", path)]


def test_what_is_denied_but_not_there_at_all_is_just_missing() -> None:
    found = evidence(
        "cat: /home/dev/.ssh/id_rsa: No such file or directory\n",
        script="make",
        sandbox="bubblewrap",
    )
    without = {path: bits for path, bits in host().paths.items() if "/.ssh" not in path}
    assert _told(found) == [("read", "/home/dev/.ssh/id_rsa")]
    assert _told(found, replace(host(), paths=without)) == []


def test_a_workspace_in_tmp_is_the_hosts_all_the_same() -> None:
    paths = {"/tmp": "drwx", "/tmp/ws": "drwx", "/tmp/ws/a": "-rw-", "/tmp/b": "-rw-"}
    on = replace(host(), paths=paths)
    held = confinement(writable=["/tmp/ws"])
    for name, told in (("/tmp/ws/a", []), ("/tmp/b", [("read", "/tmp/b")])):
        output = f"cat: {name}: No such file or directory\n"
        found = evidence(output, script=f"cat {name}", held=held, sandbox="bubblewrap")
        assert _told(found, on) == told


def test_what_was_to_be_made_in_a_hidden_folder_is_told() -> None:
    on = replace(host(), paths=host().paths | {"/tmp/cache": "drwx"})
    output = "touch: cannot touch '/tmp/cache/x': No such file or directory\n"
    found = evidence(output, script="touch /tmp/cache/x", sandbox="bubblewrap")
    assert _told(found, on) == [("write", "/tmp/cache/x")]
    assert _told(found, host()) == []


@pytest.mark.parametrize(
    ("output", "told"),
    [
        ("touch: cannot touch '/srv/shared/x': Permission denied\n", ("write", "/srv/shared/x")),
        ("cat: /srv/shared/report.txt: Permission denied\n", ("read", "/srv/shared/report.txt")),
    ],
)
def test_root_learns_that_its_scripts_have_no_power_over_others_files(
    output: str, told: tuple[str, str]
) -> None:
    on = replace(host(), root=True)
    held = confinement(writable=["/srv"])
    assert _told(evidence(output, script="make", held=held), on) == [told]
    assert _told(evidence(output, script="make", held=held)) == []


@pytest.mark.parametrize(
    "output",
    [
        "mount: /mnt: permission denied.\n",
        "chown: changing ownership of 'x': Operation not permitted\n",
        "dmesg: read kernel buffer failed: Operation not permitted\n",
        "unshare: unshare failed: Operation not permitted\n",
    ],
)
def test_what_only_root_may_do_was_stopped_only_for_root(output: str) -> None:
    found = evidence(output, script="./setup.sh; unshare -n true")
    (told,) = _told(found, replace(host(), root=True))
    assert told[0] == ViolationKind.KERNEL_CALL.value
    assert _told(found) == []


def test_a_file_that_lacks_its_execute_bit_is_nobodys_doing_but_its_own() -> None:
    output = "bash: line 1: /home/dev/bin/run.sh: Permission denied\n"
    assert _told(evidence(output, script="~/bin/run.sh", exit_code=126)) == []
    told = _told(evidence(output, script="echo x > ~/bin/run.sh"))
    assert told == [("write", "/home/dev/bin/run.sh")]
