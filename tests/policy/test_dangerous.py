import pytest

from nacre.model.verdict import Decision
from policy.refusals import decision


@pytest.mark.parametrize(
    "text",
    [
        "rm -rf /",
        "rm -rrf /",
        "rm -f -r /*",
        "rm -rf / --no-preserve-root",
        "rm -rf /; ls",
        ":(){ :|:& };:",
        ":(){:|:&};:",
        "bomb() { bomb | bomb & }; bomb",
        "function f { f & f; }; f",
        "dd if=/dev/zero of=/dev/sda",
        "dd of=/dev/nvme0n1 if=x bs=1M",
        "dd of=/dev/sd$X if=x",
        "cd /dev && dd of=sda",
        "cat x > /dev/mmcblk0",
        "echo x >>/dev/vda",
        "{ cat x; } > /dev/sdb",
        "curl x | tee /dev/sda",
        "cp disk.img /dev/sda",
        "shred -n 3 /dev/sdb",
        "wipefs -a /dev/sdb",
        "mkswap /dev/sdb1",
        "mkfs.ext4 /dev/sdb1",
        "mke2fs disk.img",
        "insmod ./x.ko",
        "rmmod kvm",
        "modprobe kvm",
        "chmod 777 /",
        "chmod -R 0777 /*",
        "chmod a+rwx /",
        "chown -R me: /",
    ],
)
def test_what_ends_a_machine_is_refused(text: str) -> None:
    assert decision("dangerous", text) is Decision.DENY


@pytest.mark.parametrize(
    "text",
    [
        "rm -rf /tmp/x",
        "rm -f /",
        "echo rm -rf /",
        "echo ':(){ :|:& };:'",
        "work() { sleep 1; }; work & work & wait",
        "main() { work & work & wait; }; work() { ls; }; main",
        "retry() { make || retry; }; retry",
        "dd if=/dev/sda of=disk.img",
        "dd if=x of=/dev/null",
        "echo x >/dev/null 2>&1",
        "cat < /dev/sda",
        "cp /dev/sda1 backup",
        "wipefs /dev/sdb",
        "mkswap /swapfile",
        "echo mkfs",
        "man mkfs.ext4",
        "lsmod",
        "modinfo kvm",
        "modprobe -n kvm",
        "chmod 777 /tmp/x",
        "chmod -R 777 build",
        "chmod 755 /",
    ],
)
def test_what_only_looks_like_it_is_not(text: str) -> None:
    assert decision("dangerous", text) is Decision.ALLOW
