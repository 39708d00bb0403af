"""Programs that run a command on another machine or in a container."""

import re
from collections.abc import Iterator, Mapping

from nacre.model.expression import expression
from nacre.syntax.script import ViaKind
from nacre.syntax.word import Word
from nacre.syntax.wrappers.inner import Inner, Invocation, Reader, derived
from nacre.syntax.wrappers.options import Options, Reading, Unknown, options, readings
from nacre.syntax.wrappers.prefix import (
    LOOKUPS,
    Prefix,
    behind,
    is_option,
    names,
    prefixed,
    subcommands,
)

__all__ = ("REMOTES", "local_commands")

_SSH = options(
    "-B -b -c -D -E -e -F -I -i -J -L -l -m -O -o -P -p -Q -R -S -W -w",
    "-4 -6 -A -a -C -f -G -g -K -k -M -N -n -q -s -T -t -V -v -X -x -Y -y",
)
_AUTOSSH = options(
    "-B -b -c -D -E -e -F -I -i -J -L -l -M -m -O -o -p -Q -R -S -W -w",
    "-4 -6 -A -a -C -f -G -g -K -k -N -n -q -s -T -t -V -v -X -x -Y -y",
)
_NO_COMMAND = names("-G -N -O -Q -V -W -s")
_SSH_OPTION = names("-o")
_LOCAL_COMMAND = expression(r"\s*(?:Proxy|Local|KnownHosts)Command[\s=]+(?=[^\s=])", re.IGNORECASE)


def _ssh(invocation: Invocation) -> Iterator[Inner]:
    """The words after the host, joined for the shell there; or its input, if there are none."""
    known = _SSH if invocation.name != "autossh" else _AUTOSSH
    for before in readings(invocation.arguments, known):
        yield from local_commands(invocation, before.values(_SSH_OPTION))
        if not before.operands or before.has(_NO_COMMAND):
            continue
        if before.skipped and not (before.named or _is_host(before.operands[0])):
            continue
        # Options may also follow the host.
        for after in readings(before.operands[1:], known):
            yield from local_commands(invocation, after.values(_SSH_OPTION))
            if not after.has(_NO_COMMAND):
                yield from _over_there(invocation, tuple(after.operands))


def _is_host(word: Word) -> bool:
    return word.opaque or any(mark in each for each in word.values for mark in "@.:")


def _over_there(invocation: Invocation, words: tuple[Word, ...]) -> Iterator[Inner]:
    code = words or ((invocation.stdin,) if invocation.stdin else ())
    if code:
        yield Inner(via=invocation.via(ViaKind.REMOTE), code=code)


def local_commands(invocation: Invocation, settings: list[Word]) -> Iterator[Inner]:
    """Commands that settings of ssh have run here: `-o ProxyCommand=...`."""
    for word in settings:
        for template in word.templates:
            if found := _LOCAL_COMMAND.match(template):
                code = derived(word, template[found.end() :])
                yield Inner(via=invocation.via(ViaKind.CODE), code=(code,))


_MOSH = Prefix(
    options=options("-p --ssh --port --server --client --predict", unknown=Unknown.PLAIN),
    operands=1,
    kind=ViaKind.REMOTE,
)

_CONTAINER_FLAGS = (
    "-d -i -t -P -q -l --detach --interactive --tty --rm --init --privileged --read-only"
    " --publish-all --quiet --no-healthcheck --oom-kill-disable --sig-proxy"
    " --disable-content-trust --replace --rmi --tls-verify --no-hosts --env-host --latest"
    " --http-proxy --no-deps --service-ports --use-aliases --no-TTY -T --build --remove-orphans"
    " --use-api-socket --quiet-pull --no-tty --group-entries --passwd --unsetenv-all"
)
_CONTAINER = Prefix(
    options=options(
        "-a -c -e -h -l -m -p -u -v -w",
        _CONTAINER_FLAGS,
        "--pull",
        unknown=Unknown.VALUED,
        style="exact",
    ),
    operands=1,
    kind=ViaKind.REMOTE,
)
_ENTRYPOINT = names("--entrypoint")


def _container(invocation: Invocation) -> Iterator[Inner]:
    """The words after the container or image, or after the program named in its place."""
    for reading in readings(invocation.arguments, _CONTAINER.options):
        if reading.has(LOOKUPS) or (reading.skipped and not reading.named):
            continue
        words = tuple(reading.operands[1:])
        entry = reading.value(_ENTRYPOINT)
        if entry and entry.value != "" and reading.operands:
            words = (entry, *words)
        if words and not is_option(words[0]):
            yield Inner(via=invocation.via(ViaKind.REMOTE), words=words)


_DOCKER = options(
    "-c -H -l --config --context --host --log-level --tlscacert --tlscert --tlskey --connection"
    " --url --identity --root --runroot --storage-driver --storage-opt -n --namespace",
    "-D -v --debug --tls --tlsverify --remote",
)
_COMPOSE = options(
    "-f -p --file --project-name --profile --env-file --project-directory --parallel --ansi"
    " --progress",
    "--compatibility --dry-run --all-resources --verbose",
)
_IN_CONTAINER: Mapping[str, Reader] = dict.fromkeys(("exec", "run", "create"), _container)
_COMPOSED = subcommands(_COMPOSE, _IN_CONTAINER)
_DOCKERS = subcommands(
    _DOCKER,
    {
        **_IN_CONTAINER,
        "container": subcommands(_DOCKER, _IN_CONTAINER),
        "compose": _COMPOSED,
        "unshare": prefixed(Prefix(options=options("", "--rootless-netns"), login=True)),
    },
)

_KUBECTL = options(
    "-n -s -v --namespace --context --kubeconfig --cluster --user --server --token --as"
    " --request-timeout --as-group --cache-dir --certificate-authority",
    "--insecure-skip-tls-verify --match-server-version --warnings-as-errors",
)
_POD = Prefix(
    options=options(
        "-c -f -n -l -s --container --filename --namespace --context --kubeconfig --image"
        " --pod-running-timeout --restart --env --port --labels --overrides --target --profile"
        " --share-processes --copy-to --override-type --annotations --user --cluster --shell",
        "-i -t -q -T --stdin --tty --rm --quiet --command --attach --expose --leave-stdin-open"
        " --no-tty",
        unknown=Unknown.VALUED,
        style="permuted exact",
    ),
    operands=1,
    dashed=True,
    kind=ViaKind.REMOTE,
)


def _dashed(operands: int, known: Options, *, kind: ViaKind = ViaKind.REMOTE) -> Reader:
    """Read a command that follows `--`, or else so many words."""
    return prefixed(Prefix(options=known, operands=operands, dashed=True, kind=kind))


_MACHINE = options(
    "-n -P -u -T -d -e -t -C --name --project --user --cwd --env --mode --group --uid --gid -M -D"
    " --directory --machine --distribution --working-directory --workdir -B --bind --env-file"
    " --pwd --home --overlay",
    unknown=Unknown.PLAIN,
)
_VAGRANT = options("-c --command", "-p -t -T --plain --tty", style="permuted")
_VAGRANT_CODE = names("-c --command")


def _vagrant(invocation: Invocation) -> Iterator[Inner]:
    for reading in readings(invocation.arguments, _VAGRANT):
        codes = reading.values(_VAGRANT_CODE)
        if not codes and reading.before is not None:
            codes = reading.operands[reading.before :]
        if not codes and invocation.stdin:
            codes = [invocation.stdin]
        if codes:
            yield Inner(via=invocation.via(ViaKind.REMOTE), code=tuple(codes))


_GCLOUD = options("--command --zone --project --ssh-key-file", style="permuted")


def _gcloud(invocation: Invocation) -> Iterator[Inner]:
    words = invocation.arguments
    if "ssh" not in (word.value for word in words[:4]):
        return
    for reading in readings(words, _GCLOUD):
        yield from _coded(invocation, reading, names("--command"))


def _coded(invocation: Invocation, reading: Reading, options: frozenset[str]) -> Iterator[Inner]:
    via = invocation.via(ViaKind.REMOTE)
    yield from (Inner(via=via, code=(code,)) for code in reading.values(options))


_MODULE = names("-m --module-name")
_RUN_MODULES = frozenset({"command", "shell", "raw", "script"})
_ANSIBLE = options(
    "-a -m -i -u -f -e -l -b -t --args --module-name --inventory --user --forks --extra-vars"
    " --limit --become-user --become-method --private-key --tree",
    "-b -k -K -v -C -o --become --check --one-line",
    style="permuted",
)


def _ansible(invocation: Invocation) -> Iterator[Inner]:
    for reading in readings(invocation.arguments, _ANSIBLE):
        module = reading.value(_MODULE)
        if module and (module.value or "shell").rpartition(".")[2] not in _RUN_MODULES:
            continue
        yield from _coded(invocation, reading, names("-a --args"))


_PDSH = options(
    "-w -x -g -l -u -f -t -h -o -O -e -p -X -H -R --host --hosts --user --par --outdir --errdir"
    " --timeout --option --extra-args --extra-arg",
    "-N -S -i -P -v -A -I --inline --print --askpass --verbose",
)


def _pdsh(invocation: Invocation) -> Iterator[Inner]:
    for reading in readings(invocation.arguments, _PDSH):
        if reading.operands:
            yield from _over_there(invocation, tuple(reading.operands))


def _same(name: str, reader: Reader) -> Iterator[tuple[str, Reader]]:
    return ((each, reader) for each in name.split())


def _wsl(invocation: Invocation) -> Iterator[Inner]:
    """`wsl [-d system] [-e | --] command words`."""
    known = options("-d -u --distribution --user --cd", "-e -- --exec")
    yield from behind(Prefix(options=known, login=True), invocation)


_GLOBAL = options(unknown=Unknown.PLAIN)

REMOTES: Mapping[str, Reader] = dict(
    (
        *_same("ssh autossh", _ssh),
        *_same("docker podman nerdctl", _DOCKERS),
        *_same("docker-compose podman-compose", _COMPOSED),
        *_same(
            "kubectl oc",
            subcommands(_KUBECTL, dict.fromkeys(("exec", "run", "debug", "rsh"), prefixed(_POD))),
        ),
        *_same("lxc incus multipass", subcommands(_GLOBAL, {"exec": _dashed(1, _MACHINE)})),
        *_same("apptainer singularity", subcommands(_GLOBAL, {"exec": _dashed(1, _MACHINE)})),
        *_same("pdsh pssh parallel-ssh", _pdsh),
        ("buildah", subcommands(_GLOBAL, {"run": _dashed(1, _CONTAINER.options)})),
        ("lxc-attach", _dashed(0, _MACHINE)),
        ("limactl", subcommands(_GLOBAL, {"shell": _dashed(1, _MACHINE)})),
        ("minikube", subcommands(_GLOBAL, {"ssh": _dashed(0, _MACHINE)})),
        ("machinectl", subcommands(_GLOBAL, {"shell": _dashed(1, _MACHINE)})),
        ("systemd-nspawn", _dashed(0, _MACHINE)),
        ("toolbox", subcommands(_GLOBAL, {"run": _dashed(0, options("-c -d -r --container"))})),
        ("distrobox", subcommands(_GLOBAL, {"enter": _dashed(1, _MACHINE)})),
        ("heroku", subcommands(_GLOBAL, {"run": _dashed(0, options("-a -s --app --size"))})),
        ("vagrant", subcommands(_GLOBAL, {"ssh": _vagrant})),
        ("mosh", prefixed(_MOSH)),
        ("gcloud", _gcloud),
        ("ansible", _ansible),
        ("wsl", _wsl),
    )
)
