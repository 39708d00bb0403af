"""Programs of the system that run the command written after them.

What each one takes before that command, as its manual has it.
"""

from collections.abc import Iterator, Mapping

from nacre.model.expression import expression
from nacre.syntax.script import ViaKind
from nacre.syntax.word import Word
from nacre.syntax.wrappers.inner import Inner, Invocation, Reader, derived
from nacre.syntax.wrappers.options import Unknown, options, readings
from nacre.syntax.wrappers.prefix import LOOKUPS, Prefix, behind, names, prefixed
from nacre.syntax.wrappers.split import split

__all__ = ("PREFIXES", "TRANSPARENT")

_NUMBER = expression(r"[+-]?[\d.]")
_MASK = expression(r"(?:0x)?[\da-fA-F][\da-fA-F,:-]*$")
_PLAIN = Prefix(options=options(unknown=Unknown.PLAIN))

_TRANSPARENT = {
    "timeout": Prefix(
        options=options(
            "-k -s --kill-after --signal", "-f -p -v --foreground --preserve-status --verbose"
        ),
        operands=1,
        shape=_NUMBER,
        kind=ViaKind.TRANSPARENT,
    ),
    "time": Prefix(
        options=options(
            "-f -o --format --output",
            "-a -l -p -q -v -V -h --append --portability --quiet --verbose",
        ),
        kind=ViaKind.TRANSPARENT,
    ),
    "nice": Prefix(options=options("-n --adjustment"), kind=ViaKind.TRANSPARENT),
    "nohup": Prefix(options=options(), kind=ViaKind.TRANSPARENT),
    "stdbuf": Prefix(
        options=options("-i -o -e --input --output --error"), kind=ViaKind.TRANSPARENT
    ),
    "command": Prefix(
        options=options("", "-p -v -V"), idle=names("-v -V"), kind=ViaKind.TRANSPARENT
    ),
    "builtin": Prefix(options=options(), kind=ViaKind.TRANSPARENT),
}

TRANSPARENT = frozenset(_TRANSPARENT)
"""Those that change nothing about what they run."""

_IDENTITIES = {
    "sudo": Prefix(
        options=options(
            "-a -C -c -D -g -h -p -R -r -T -t -U -u --auth-type --close-from --login-class --chdir"
            " --group --host --prompt --chroot --role --command-timeout --type --other-user --user",
            "-A -B -b -E -e -H -i -K -k -l -N -n -P -S -s -V -v --askpass --background --bell"
            " --edit --set-home --login --remove-timestamp --reset-timestamp --list --no-update"
            " --non-interactive --preserve-groups --stdin --shell --validate",
            "--preserve-env",
        ),
        folders=names("-D --chdir"),
        idle=LOOKUPS | names("-e -K -l -V -v --edit --list --remove-timestamp --validate"),
        assigns=True,
        login=True,
    ),
    "doas": Prefix(
        options=options("-a -C -u", "-L -n -s"), idle=names("-C -L"), assigns=True, login=True
    ),
    "pkexec": Prefix(options=options("--user", "--disable-internal-agent --keep-cwd"), login=True),
    "run0": Prefix(
        options=options(
            "-u -g -D -M --user --group --chdir --nice --unit --slice --setenv --background"
            " --machine --property --description",
            "--no-ask-password --slice-inherit --pty --pipe --shell-prompt-prefix",
        ),
        folders=names("-D --chdir"),
        login=True,
    ),
    "gosu": Prefix(operands=1),
    "su-exec": Prefix(operands=1),
    "setuidgid": Prefix(operands=1),
    "runcon": Prefix(
        options=options("-l -r -t -u --range --role --type --user", "-c --compute"),
        operands=1,
        shape=expression(r"\w+:\w+:"),
    ),
    "setpriv": Prefix(
        options=options(
            "--ambient-caps --inh-caps --bounding-set --ruid --euid --rgid --egid --reuid --regid"
            " --groups --securebits --pdeathsig --ptracer --selinux-label --apparmor-profile"
            " --landlock-access --landlock-rule --seccomp-filter",
            "-d -h -V --dump --nnp --no-new-privs --clear-groups --keep-groups --init-groups"
            " --reset-env --list-caps",
        ),
        idle=LOOKUPS | names("-d --dump --list-caps"),
    ),
}

_SCHEDULING = {
    "setsid": Prefix(options=options("", "-c -f -w -h -V --ctty --fork --wait")),
    "ionice": Prefix(
        options=options("-c -n -p -P -u --class --classdata --pid --pgid --uid", "-t --ignore"),
        idle=LOOKUPS | names("-p -P -u --pid --pgid --uid"),
    ),
    "chrt": Prefix(
        options=options(
            "-T -P -D --sched-runtime --sched-period --sched-deadline",
            "-a -b -d -e -f -i -m -o -p -r -R -v --all-tasks --batch --deadline --ext --fifo"
            " --idle --max --other --pid --rr --reset-on-fork --verbose",
        ),
        operands=1,
        shape=_NUMBER,
        idle=LOOKUPS | names("-m -p --max --pid"),
    ),
    "taskset": Prefix(
        options=options("", "-a -c -p --all-tasks --cpu-list --pid"),
        operands=1,
        shape=_MASK,
        idle=LOOKUPS | names("-p --pid"),
    ),
    "numactl": Prefix(
        options=options(
            "-i -w -N -C -m -p -P --interleave --weighted-interleave --cpunodebind --physcpubind"
            " --membind --preferred --preferred-many",
            "-a -b -l -s -H --all --balancing --localalloc --show --hardware",
        ),
        idle=LOOKUPS | names("-s -H --show --hardware"),
    ),
    "prlimit": Prefix(
        options=options(
            "-o -p --output --pid",
            "--noheadings --raw --verbose",
            "-c -d -e -f -i -l -m -n -q -r -s -t -u -v -x -y --core --data --nice --fsize"
            " --sigpending --memlock --rss --nofile --msgqueue --rtprio --stack --cpu --nproc"
            " --as --locks --rttime",
        ),
        idle=LOOKUPS | names("-p --pid"),
    ),
    "cpulimit": Prefix(options=options("-l -p -e -P --limit --pid --exe --path")),
    "cgexec": Prefix(options=options("-g", "--sticky -b")),
    "choom": Prefix(options=options("-n -p --adjust --pid"), idle=LOOKUPS | names("-p --pid")),
    "systemd-run": Prefix(
        options=options(
            "-p -u -E -H -M --property --unit --setenv --host --machine --description --slice"
            " --uid --gid --nice --working-directory --on-active --on-boot --on-startup"
            " --on-unit-active --on-unit-inactive --on-calendar --timer-property --path-property"
            " --socket-property --service-type --background --expand-environment --job-mode",
            "-r -G -q -S -d -t -P -T --user --system --scope --wait --pty --pipe --collect --quiet"
            " --no-block --remain-after-exit --send-sighup --no-ask-password --same-dir --shell"
            " --slice-inherit --ignore-failure --on-clock-change --on-timezone-change",
        ),
        folders=names("--working-directory"),
        login=True,
    ),
    "systemd-inhibit": Prefix(options=options("--what --who --why --mode", "--list --no-pager")),
    "systemd-cat": Prefix(options=options("-t -p --identifier --priority --stderr-priority")),
    "run-one": Prefix(),
    "caffeinate": Prefix(options=options("-t -w", "-d -i -m -s -u")),
}

_TRACING = {
    "strace": Prefix(
        options=options(
            "-a -b -e -E -I -o -O -p -P -s -S -u -U -X --columns --detach-on --trace --env"
            " --interruptible --output --summary-syscall-overhead --attach --trace-path"
            " --string-limit --summary-sort-by --user --summary-columns --const-print-style"
            " --abbrev --verbose --raw --signal --status --read --write --fault --inject",
            "-A -c -C -d -D -f -F -h -i -k -n -N -q -r -t -T -v -V -w -x -y -Y -z -Z --summary"
            " --summary-only --debug --follow-forks --instruction-pointer --syscall-number"
            " --successful-only --failed-only --seccomp-bpf --output-separately --no-abbrev",
            "--daemonize --decode-fds --decode-pids --quiet --relative-timestamps"
            " --absolute-timestamps --syscall-times --strings-in-hex --stack-traces",
        )
    ),
    "ltrace": Prefix(
        options=options(
            "-a -A -D -e -F -l -n -o -p -s -u -w -x --align --config --debug --indent --library"
            " --output --where",
            "-b -c -C -f -i -L -r -S -t -T -V -h --demangle --no-signals",
        )
    ),
    "valgrind": Prefix(options=options("", "-d -h -q -v", unknown=Unknown.PLAIN)),
    "heaptrack": Prefix(options=options("-o -p", "-r -d")),
    "catchsegv": Prefix(),
    "rlwrap": Prefix(
        options=options(
            "-b -C -D -e -f -g -H -l -m -M -O -P -q -s -S -t -w -z",
            "-A -c -E -i -I -n -N -o -R -T -u -U -v -W -r",
            "-a -p",
        )
    ),
    "faketime": Prefix(options=options("--date-prog", "-f -m -p"), operands=1),
    "fakeroot": Prefix(options=options("-l -s -i -b --lib --faked", "-u -v --unknown-is-real")),
    "fakechroot": Prefix(options=options("-b -c -d -e -l -s", "-u -v")),
    "eatmydata": Prefix(),
    "unbuffer": Prefix(options=options("", "-p")),
    "chronic": Prefix(options=options("", "-e -v")),
    "ifne": Prefix(options=options("", "-n")),
    "ssh-agent": Prefix(options=options("-a -E -O -P -t", "-c -D -d -k -s")),
    "dbus-run-session": Prefix(options=options("--config-file --dbus-daemon")),
    "dbus-launch": Prefix(
        options=options("--config-file --autolaunch", "--sh-syntax --exit-with-session")
    ),
    "xvfb-run": Prefix(
        options=options(
            "-e -f -n -p -s -w --error-file --auth-file --server-num --xauth-protocol"
            " --server-args --wait",
            "-a -l -h --auto-servernum --auto-display --listen-tcp",
        )
    ),
    "setarch": Prefix(
        options=options(
            "-p",
            "-B -F -I -L -R -S -T -X -Z -3 -v --32bit --addr-no-randomize --uname-2.6 --verbose",
            "--pid",
        ),
        operands=1,
        shape=expression(r"linux|i[3-6]86|x86|arm|aarch|ppc|s390|mips|uname"),
    ),
    "linux32": _PLAIN,
    "linux64": _PLAIN,
    "entr": Prefix(options=options("-s", "-a -c -d -n -p -r -x -z"), codes=names("-s")),
}

_ISOLATION = {
    "unshare": Prefix(
        options=options(
            "-R -w -S -G --root --wd --setuid --setgid --map-user --map-group --map-users"
            " --map-groups --propagation --setgroups --monotonic --boottime --load-interp",
            "-c -f -h -r -V --fork --map-root-user --map-current-user --map-auto --keep-caps"
            " --forward-signals",
            "-C -i -l -m -n -p -T -u -U --cgroup --ipc --mount --net --pid --time --user --uts"
            " --kill-child --mount-proc --mount-binfmt",
        ),
        folders=names("-w --wd"),
        login=True,
    ),
    "nsenter": Prefix(
        options=options(
            "-t -S -G -W -N --target --setuid --setgid --wdns --net-socket",
            "-a -c -e -F -Z --all --env --no-fork --preserve-credentials --join-cgroup"
            " --follow-context --user-parent",
            "-C -i -m -n -p -r -T -u -U -w --cgroup --ipc --mount --net --pid --root --time"
            " --user --uts --wd",
        ),
        login=True,
    ),
    "chroot": Prefix(
        options=options("-g -G -u --groups --userspec", "-n --skip-chdir"), operands=1, login=True
    ),
    "proot": Prefix(
        options=options(
            "-b -k -m -p -q -r -R -S -v -w --bind --cwd --kernel-release --mount --pwd --qemu"
            " --rootfs --verbose --port",
            "-0 -i -l -n -h -V --kill-on-exit --link2symlink --netcoop --root-id",
        ),
        folders=names("-w --pwd --cwd"),
    ),
    "firejail": Prefix(
        options=options("", "-c", unknown=Unknown.PLAIN),
        idle=LOOKUPS | names("--list --tree --top --netstats --ls --get"),
        login=True,
    ),
    "bwrap": Prefix(
        options=options(
            "--args --argv0 --userns --userns2 --pidns --unsetenv --chdir --setenv --lock-file"
            " --sync-fd --remount-ro --exec-label --file-label --proc --dev --tmpfs --mqueue --dir"
            " --seccomp --add-seccomp-fd --block-fd --userns-block-fd --info-fd --json-status-fd"
            " --uid --gid --hostname --cap-add --cap-drop --perms --size --overlay-src"
            " --tmp-overlay --ro-overlay",
            "--level-prefix --unshare-all --share-net --unshare-user --unshare-user-try"
            " --unshare-ipc --unshare-pid --unshare-net --unshare-uts --unshare-cgroup"
            " --unshare-cgroup-try --disable-userns --assert-userns-disabled --clearenv"
            " --new-session --die-with-parent --as-pid-1",
            several={
                "--overlay": 3,
                **dict.fromkeys(
                    names(
                        "--bind --bind-try --dev-bind --dev-bind-try --ro-bind --ro-bind-try"
                        " --setenv --symlink --file --bind-data --ro-bind-data --bind-fd"
                        " --ro-bind-fd --chmod"
                    ),
                    2,
                ),
            },
        ),
        folders=names("--chdir"),
    ),
    "torsocks": Prefix(
        options=options(
            "-a -P -u -p --address --port --user --pass", "-d -i -q --isolate --quiet --debug"
        )
    ),
    "torify": _PLAIN,
    "tsocks": _PLAIN,
    "proxychains": Prefix(options=options("-f", "-q")),
    "proxychains4": Prefix(options=options("-f", "-q")),
    "sshpass": Prefix(options=options("-d -f -P -p", "-e -h -v -V")),
    "busybox": Prefix(
        options=options("", "--list --list-full --install -s"),
        idle=LOOKUPS | names("--list --list-full --install"),
    ),
    "toybox": Prefix(options=options("", "--long")),
    "tini": Prefix(options=options("-p -e", "-g -h -s -v -w")),
    "dumb-init": Prefix(options=options("-r --rewrite", "-c -v --single-child --verbose")),
    "envdir": Prefix(operands=1),
    "chpst": Prefix(options=options("-b -c -d -e -f -l -L -m -n -o -p -r -s -t -u -U -/")),
    "ld.so": Prefix(
        options=options(
            "--library-path --inhibit-rpath --audit --preload --argv0 --glibc-hwcaps-prepend"
            " --glibc-hwcaps-mask",
            "--list --verify --inhibit-cache --list-tunables --list-diagnostics",
        ),
        idle=LOOKUPS | names("--list --verify --list-tunables --list-diagnostics"),
    ),
    "exec": Prefix(options=options("-a", "-c -l")),
    "noglob": _PLAIN,
}

_ENV = Prefix(
    options=options(
        "-a -C -L -P -S -U -u --argv0 --chdir --split-string --unset",
        "- -0 -i -v --debug --ignore-environment --list-signal-handling --null",
        "--block-signal --default-signal --ignore-signal",
    ),
    folders=names("-C --chdir"),
    assigns=True,
)
_SPLIT_STRING = names("-S --split-string")


def _env(invocation: Invocation) -> Iterator[Inner]:
    """What `env` runs; a string it splits is put in the place of the option."""
    for reading in readings(invocation.arguments, _ENV.options):
        if text := reading.value(_SPLIT_STRING):
            given = (word for each in text.templates for word in _env_words(text, each))
            words = (invocation.program, *given, *_behind_word(invocation.arguments, text))
            yield Inner(via=invocation.via(ViaKind.EXEC), words=words)
            return
    yield from behind(_ENV, invocation)


def _behind_word(words: tuple[Word, ...], text: Word) -> tuple[Word, ...]:
    """The words after the one that is, or ends in, an option's value."""
    for at, word in enumerate(words):
        if word is text or (word.span == text.span and text.templates[0] in word.templates[0]):
            return words[at + 1 :]
    return ()


def _env_words(text: Word, template: str) -> Iterator[Word]:
    return (derived(text, each) for each in split(template))


PREFIXES: Mapping[str, Reader] = {
    name: prefixed(prefix)
    for group in (_TRANSPARENT, _IDENTITIES, _SCHEDULING, _TRACING, _ISOLATION)
    for name, prefix in group.items()
} | {"env": _env}
