"""Programs that run another one in an environment of packages, variables or windows."""

from collections.abc import Iterator, Mapping

from nacre.syntax.script import ViaKind
from nacre.syntax.word import Word
from nacre.syntax.wrappers.inner import Inner, Invocation, Reader, changed
from nacre.syntax.wrappers.options import Option, Unknown, options, readings
from nacre.syntax.wrappers.prefix import ALL, Prefix, behind, names, prefixed, subcommands

__all__ = ("RUNNERS",)

_PLAIN = prefixed(Prefix(options=options(unknown=Unknown.PLAIN)))
_DASHED = prefixed(Prefix(options=options(unknown=Unknown.PLAIN, style="permuted"), dashed=True))
_ENVIRONMENT = prefixed(
    Prefix(
        options=options(
            "-f -e -p -s --env-file --env --project --config --account --file --path --command"
            " --only-secrets",
            unknown=Unknown.PLAIN,
            style="exact",
        ),
        codes=names("--command"),
        dashed=True,
    )
)
_GLOBAL = options(unknown=Unknown.PLAIN)

_NPX = prefixed(
    Prefix(
        options=options(
            "-p -c -w -n --package --call --workspace --prefix --registry --cache --userconfig"
            " --node-options --shell --node-arg --loglevel",
            "-y -q -g --yes --no --quiet --no-install --ignore-existing --always-spawn --workspaces"
            " --include-workspace-root --offline --prefer-offline --silent",
        ),
        codes=names("-c --call"),
    )
)
_NPM = options(
    "-w -C --prefix --workspace --registry --userconfig --loglevel --filter --dir --cwd -F",
    "-g -s -r --global --silent --workspaces --recursive --offline",
    unknown=Unknown.PLAIN,
)
_DLX = prefixed(
    Prefix(
        options=options(
            "-p --package --allow-build", "-c -q --shell-mode --silent --parallel -r --recursive"
        )
    )
)
_UV = Prefix(
    options=options(
        "-p -i -f -P -w --with --with-editable --with-requirements --python --extra --group --no-group"
        " --only-group --env-file --directory --project --package --index --default-index"
        " --index-url --extra-index-url --find-links --from --cache-dir --config-file --color"
        " --refresh-package --upgrade-package --reinstall-package --no-build-package --link-mode"
        " --index-strategy --keyring-provider --resolution --prerelease --exclude-newer"
        " --python-preference --config-setting --no-extra --generate-shell-completion",
        "-q -v -n -U --no-project --isolated --active --locked --frozen --no-sync --exact --offline"
        " --no-dev --only-dev --dev --all-extras --all-groups --no-env-file --refresh --reinstall"
        " --upgrade --no-cache --no-config --no-progress --managed-python --all-packages --quiet"
        " --verbose --native-tls -m -s --module --script --gui-script",
    ),
    folders=names("--directory"),
)
_CONDA = Prefix(
    options=options(
        "-n -p -e --name --prefix --cwd --dev",
        "-v --verbose --no-capture-output --live-stream --debug-wrapper-scripts",
    ),
    folders=names("--cwd"),
)
_NIX_SHELL = Prefix(
    options=options(
        "-p -A -E -I --attr --expr --packages --run --command --keep --argstr --arg --option",
        "-i --pure --keep-failed --quiet --show-trace",
        style="permuted",
        several={"--arg": 2, "--argstr": 2, "--option": 2},
        unknown=Unknown.PLAIN,
    ),
    codes=names("--run --command"),
    dashed=True,
    operands=ALL,
)


def _command_words(invocation: Invocation) -> Iterator[Inner]:
    """`nix develop ... -c command words`: the option begins the command."""
    words = invocation.arguments
    for at, word in enumerate(words):
        if word.value in {"-c", "--command"} and words[at + 1 :]:
            yield Inner(via=invocation.via(ViaKind.EXEC), words=words[at + 1 :])
            return


_MANAGERS = names("npm npx pnpm pnpx yarn yarnpkg")


def _corepack(invocation: Invocation) -> Iterator[Inner]:
    words = invocation.arguments
    if words and words[0].value in _MANAGERS:
        yield Inner(via=invocation.via(ViaKind.EXEC), words=words)


def _hatch(invocation: Invocation) -> Iterator[Inner]:
    """`hatch run env:command`; without an environment it is only the command."""
    for inner in _PLAIN(invocation):
        yield inner
        first = inner.words[0]
        if any(":" in each for each in first.templates):
            command = changed(first, lambda text: text.rpartition(":")[2])
            yield Inner(via=inner.via, words=(command, *inner.words[1:]))


_DOTENV = Prefix(
    options=options(
        "-f -e -v -c -p -q --file --export --quote --override-file",
        "-o -x --overload --override --no-override --no-expand --quiet --debug",
    )
)
_DOTENV_LOOKUPS = frozenset({"list", "get", "set", "unset"})


def _dotenv(invocation: Invocation) -> Iterator[Inner]:
    for inner in behind(_DOTENV, invocation):
        first = inner.words[0].value
        if first == "run":
            rest = invocation._replace(arguments=inner.words[1:])
            yield from behind(_DOTENV, rest)
        elif first not in _DOTENV_LOOKUPS:
            yield inner


_MISE = Prefix(
    options=options("-c -C -j --command --cd --jobs", "-q -v -y --raw --fresh-env --no-prepare"),
    codes=names("-c --command"),
    dashed=True,
    operands=ALL,
)

_EACH_CODE = {
    "hyperfine": options(
        "-w -m -M -r -s -p -c -C -P -D -L -S -u -n -i --warmup --min-runs --max-runs --runs"
        " --setup --prepare --cleanup --conclude --parameter-scan --parameter-step-size"
        " --parameter-list --shell --style --sort --time-unit --export-json --export-csv"
        " --export-markdown --output --input --command-name --reference",
        "-N -i --ignore-failure --show-output",
        style="permuted",
        several={"-P": 3, "-L": 2, "--parameter-scan": 3, "--parameter-list": 2},
    ),
    "concurrently": options(
        "-n -c -l -p -s -t -m --names --prefix-colors --prefix --success --max-processes"
        " --restart-tries --restart-after --timestamp-format --name-separator --handle-input"
        " --prefix-length --cwd",
        "-k -r -g -i --kill-others --kill-others-on-fail --raw --group --no-color --hide",
        style="permuted",
        unknown=Unknown.PLAIN,
    ),
    "pee": options("", "--ignore-sigpipe --no-ignore-sigpipe", style="permuted"),
    "mispipe": options(style="permuted"),
    "cross-env-shell": options(style="permuted"),
}
_HYPERFINE_CODES = names("-s -p -c -C --setup --prepare --cleanup --conclude --reference")


def _each_code(invocation: Invocation) -> Iterator[Inner]:
    """Programs whose operands are each read by a shell."""
    via = invocation.via(ViaKind.CODE)
    for reading in readings(invocation.arguments, _EACH_CODE[invocation.name]):
        codes = list(reading.operands)
        if invocation.name == "hyperfine":
            codes += reading.values(_HYPERFINE_CODES)
        yield from (Inner(via=via, code=(code,)) for code in codes)


_WATCHEXEC = Prefix(
    options=options(
        "-w -W -o -s -d -e -f -i -j -E --watch --on-busy-update --signal --debounce --exts --filter"
        " --ignore --shell --workdir --env --stop-signal --delay-run --emit-events-to",
        "-c -r -n -N -p -1 -v --clear --restart --postpone --notify --no-vcs-ignore --no-shell",
        unknown=Unknown.PLAIN,
    ),
    joins=True,
    kind=ViaKind.CODE,
)
_NODEMON = Prefix(
    options=options(
        "-x -w -e -i -d -s --exec --watch --ext --ignore --delay --signal --config --cwd",
        "-q -V -L -I -C",
        unknown=Unknown.PLAIN,
        style="permuted",
    ),
    codes=names("-x --exec"),
    operands=ALL,
)
_DAEMON = names("-x --exec -a --startas")


def _start_stop_daemon(invocation: Invocation) -> Iterator[Inner]:
    """`start-stop-daemon --start --exec program -- its words`."""
    known = options(
        "-x -a -n -p -u -g -c -r -d -N -P -I -k -s -R --exec --startas --name --pidfile --user"
        " --group --chuid --chroot --chdir --nicelevel --procsched --iosched --umask --signal"
        " --retry --output",
        "-S -K -T -H -V -b -C -m -o -q -t -v --start --stop --status --background --make-pidfile"
        " --oknodo --quiet --test --verbose --remove-pidfile --no-close",
        style="permuted",
    )
    for reading in readings(invocation.arguments, known):
        if (program := reading.value(_DAEMON)) and Option("-K") not in reading.given:
            words = (program, *reading.operands)
            yield Inner(via=invocation.via(ViaKind.EXEC), words=words)


def _packages(before: str) -> Reader:
    """Read `bundle exec command`, `poetry run command` and the like, by their subcommands."""
    return subcommands(
        options("-C -P --directory --project --cwd -e --env --prefix", unknown=Unknown.PLAIN),
        dict.fromkeys(before.split(), _ENVIRONMENT),
    )


def _same(name: str, reader: Reader) -> Iterator[tuple[str, Reader]]:
    return ((each, reader) for each in name.split())


def _second(invocation: Invocation) -> Iterator[Inner]:
    """One operand of its own, then the command: `direnv exec DIR command`."""
    yield from behind(Prefix(options=options(unknown=Unknown.PLAIN), operands=1), invocation)


def _sops(invocation: Invocation) -> Iterator[Inner]:
    words: tuple[Word, ...] = invocation.arguments[-1:]
    if len(invocation.arguments) > 1:
        yield Inner(via=invocation.via(ViaKind.CODE), code=words)


RUNNERS: Mapping[str, Reader] = dict(
    (
        *_same("npx bunx pnpx", _NPX),
        *_same("uvx", prefixed(_UV)),
        *_same("hyperfine concurrently pee mispipe cross-env-shell", _each_code),
        *_same("poetry pipenv pdm rye pixi volta", _packages("run")),
        *_same("bundle rbenv pyenv nodenv asdf jenv", _packages("exec")),
        *_same("conda mamba micromamba", subcommands(_GLOBAL, {"run": prefixed(_CONDA)})),
        *_same("devbox dotenvx op doppler infisical teller flox", _packages("run activate")),
        *_same("aws-vault chamber", subcommands(_GLOBAL, {"exec": _second})),
        *_same(
            "mpirun mpiexec", prefixed(Prefix(options=options("-n -np -c -x -H", style="worded")))
        ),
        (
            "srun",
            prefixed(Prefix(options=options("-n -N -c -p -t -A -J -w -o -e -D --mem --time"))),
        ),
        ("npm", subcommands(_NPM, {"exec": _NPX, "x": _NPX})),
        ("pnpm", subcommands(_NPM, {"exec": _DLX, "dlx": _DLX})),
        ("yarn", subcommands(_NPM, {"exec": _DLX, "dlx": _DLX})),
        ("bun", subcommands(_NPM, {"x": _NPX})),
        ("corepack", _corepack),
        (
            "uv",
            subcommands(
                _UV.options,
                {
                    "run": prefixed(_UV),
                    "tool": subcommands(_UV.options, {"run": prefixed(_UV)}),
                },
            ),
        ),
        (
            "pipx",
            subcommands(
                _GLOBAL,
                {
                    "run": prefixed(
                        Prefix(options=options("--spec --python --index-url --pip-args --with"))
                    )
                },
            ),
        ),
        (
            "hatch",
            subcommands(
                options("-e -p --env --project --data-dir --cache-dir --config"), {"run": _hatch}
            ),
        ),
        ("direnv", subcommands(_GLOBAL, {"exec": _second})),
        (
            "mise",
            subcommands(
                options("-C -E --cd --env", "-q -v -y"),
                dict.fromkeys(("exec", "x"), prefixed(_MISE)),
            ),
        ),
        ("nix", subcommands(_GLOBAL, dict.fromkeys(("shell", "develop", "env"), _command_words))),
        ("nix-shell", prefixed(_NIX_SHELL)),
        ("guix", subcommands(_GLOBAL, dict.fromkeys(("shell", "environment"), _DASHED))),
        ("dotenv", _dotenv),
        ("cross-env", prefixed(Prefix(assigns=True))),
        (
            "env-cmd",
            prefixed(
                Prefix(options=options("-f -e -r --file --environments --rc-file"), assigns=True)
            ),
        ),
        ("sops", subcommands(_GLOBAL, {"exec-env": _sops, "exec-file": _sops})),
        ("watchexec", prefixed(_WATCHEXEC)),
        ("nodemon", prefixed(_NODEMON)),
        ("start-stop-daemon", _start_stop_daemon),
        (
            "perf",
            subcommands(
                _GLOBAL,
                dict.fromkeys(
                    ("stat", "record", "trace"),
                    prefixed(
                        Prefix(
                            options=options(
                                "-e -o -F -c -C -r -p -t -u -g -D -m -I --event --output --freq --repeat --call-graph"
                            )
                        )
                    ),
                ),
            ),
        ),
        ("rr", subcommands(_GLOBAL, {"record": _PLAIN})),
        ("ip", subcommands(_GLOBAL, {"netns": subcommands(_GLOBAL, {"exec": _second})})),
    )
)
