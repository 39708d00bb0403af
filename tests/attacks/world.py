"""A workspace, a home with secrets, a folder outside, and neighbours: what an attack is aimed at."""

import json
import os
import secrets
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Self, cast

from attacks.attack import CONTAINER, END, Attack
from attacks.runners import BASH, Confined, Plain, Ran, Request
from attacks.shell import Shell
from nacre.model.doorway import WORKSPACE
from processes import alive, kill_all, tag

__all__ = ("Seen", "World")

_HERE = Path(__file__).parent
# Many at once, and each its own start marker.
_VOLLEY = _HERE / "volley.py"
_TOGETHER_SECONDS = 120.0
_LOOKS = 40
# In a container nobody tells the end of a script whose parent is gone: all of it is waited for.
_UNATTENDED_SECONDS = 2.0
_STORES = (
    ".aws/credentials", ".config/gh/hosts.yml", ".docker/config.json", ".git-credentials",
    ".gnupg/private-keys-v1.d/key", ".kube/config", ".netrc", ".npmrc", ".pypirc",
)  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class Seen:
    """What the host saw of an attempt."""

    started: bool
    breached: bool
    output: str


class World:
    """Everything one runner's attacks are aimed at; nobody else's are.

    The runner is plain bash (None) or a backend; `settings` are variables for the tool.
    """

    def __init__(self, backend: str | None, settings: Mapping[str, str] | None = None) -> None:
        self._base = Path(tempfile.mkdtemp(prefix="nacre-attacks-", dir=_place()))
        self._name = f"nacre{secrets.token_hex(6)}"
        self._outside = self._base / "out"
        self._home = self._base / "home"
        self._log = self._base / "log"
        self._tags: list[str] = []
        self._workspaces = 0
        self._workspace = self._new_workspace()
        self._shared = self._workspace
        self._canary = f"canary{secrets.token_hex(8)}"
        self._environ = self._variables()
        self._is_contained = backend == CONTAINER
        self._plant()
        self._shell = Shell(self._environ, self._base / "repository/.git")
        self._neighbour = self._start_neighbour()
        told = {**self._environ, **(settings or {})}
        self._runner = (
            Plain(self._environ)
            if backend is None
            else Confined(backend, told, self._base / "state", self._outside / "inherited")
        )
        self._is_control = backend is None
        self._patience = 0.1 if self._is_control else 2.0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._runner.close()
        for text in self._tags:
            kill_all(text)
        self._shell.close()
        for stream in (self._neighbour.stdin, self._neighbour.stdout):
            if stream is not None:
                stream.close()
        self._neighbour.wait()
        # Trees that are too deep for a function that calls itself are among the attempts.
        for words in (["rm", "-rf"], ["chmod", "-R", "u+rwx"], ["rm", "-rf"]):
            if self._base.exists():
                subprocess.run([*words, self._base], check=False, capture_output=True)

    def carry_out(self, attacks: Sequence[Attack]) -> dict[str, Seen]:
        """Make an attempt, or several of one call, and look what came of each.

        Leaves nothing of them behind.
        """
        self._workspace = self._new_workspace() if attacks[0].fresh else self._shared
        told = [(attack, self._tokens(attack)) for attack in attacks]
        victims = [self._prepare(attack, tokens) for attack, tokens in told]
        os.truncate(self._log, 0)
        during = self._during(*told[0])
        try:
            if len(told) == 1:
                ran = self._alone(*told[0])
                outputs = {attacks[0].id: ran.output}
            else:
                ran = Ran(output="")
                outputs = self._together(told)
            self._sync()
            return {
                attack.id: Seen(
                    started=f"started {tokens['ID']}" in outputs[attack.id],
                    breached=ran.parent_lost
                    if attack.parent_lost
                    else self._breached(attack, tokens),
                    output=outputs[attack.id],
                )
                for attack, tokens in told
            }
        finally:
            for process in (during, *victims):
                if process is not None:
                    process.kill()
                    process.wait()
            for attack, tokens in told:
                self._clean(attack, tokens)

    def _prepare(self, attack: Attack, tokens: dict[str, str]) -> subprocess.Popen[bytes] | None:
        keep = Path(tokens["KEEP"])
        keep.write_text("KEEP\n")
        keep.chmod(0o600)
        victim = self._victim(tokens) if "@VPID@" in str(attack) else None
        tokens["VPID"] = str(victim.pid) if victim else ""
        self._bash(attack.setup, tokens)
        return victim

    def _clean(self, attack: Attack, tokens: dict[str, str]) -> None:
        if attack.survivor:
            self._tags.append(tokens["TAG"])  # for what comes up after it was looked for
            kill_all(tokens["TAG"])
        self._bash(attack.cleanup, tokens)

    def _alone(self, attack: Attack, tokens: dict[str, str]) -> Ran:
        if attack.first:
            first = self._file(attack.first, tokens, "sh")
            self._runner.run(self._request(attack, f"{BASH} {self._there(first)}", tokens))
        file = self._program(attack, tokens)
        if file.suffix == ".sh":
            files = [file]
            program = f"{BASH} {self._there(file)}"
        else:
            entry = self._entry(file, tokens, "")
            volley = self._volley([entry])
            files = [file, *volley]
            program = self._volley_program(volley, tokens)
        ran = self._runner.run(self._request(attack, program, tokens))
        for path in files:
            path.unlink(missing_ok=True)
        return ran

    def _together(self, told: Sequence[tuple[Attack, dict[str, str]]]) -> dict[str, str]:
        places = {attack.id: self._workspace / f"said-{tokens['ID']}" for attack, tokens in told}
        entries = [
            self._entry(self._program(attack, tokens), tokens, self._there(places[attack.id]))
            for attack, tokens in told
        ]
        attack, tokens = told[0]
        program = self._volley_program(self._volley(entries), tokens)
        request = self._request(attack, program, tokens)
        ran = self._runner.run(replace(request, seconds=_TOGETHER_SECONDS))
        return {
            name: said.read_text(errors="replace") if said.exists() else ran.output
            for name, said in places.items()
        }

    def _entry(self, file: Path, tokens: dict[str, str], said: str) -> dict[str, str]:
        loot = self._there(Path(tokens["LOOT"]))
        return {"id": tokens["ID"], "file": self._there(file), "loot": loot, "said": said}

    def _volley_program(self, volley: tuple[Path, Path], tokens: dict[str, str]) -> str:
        return f"{tokens['PYTHON']} -I -S {self._there(volley[0])} {self._there(volley[1])}"

    def _there(self, path: Path) -> str:
        """The name of a path where attempts are made."""
        if self._is_contained and path.is_relative_to(self._workspace):
            return str(WORKSPACE / path.relative_to(self._workspace))
        return str(path)

    def _volley(self, entries: list[dict[str, str]]) -> tuple[Path, Path]:
        """The program that makes attempts, where they can read it, and their list."""
        program, listing = self._workspace / "volley.py", self._workspace / "volley.list"
        shutil.copyfile(_VOLLEY, program)
        listing.write_text("".join(json.dumps(entry) + "\n" for entry in entries))
        return program, listing

    def _request(self, attack: Attack, program: str, tokens: dict[str, str]) -> Request:
        in_vain = self._is_contained and attack.parent_lost
        return Request(
            program=program,
            workspace=self._workspace,
            cwd=_fill(attack.cwd, tokens),
            deny_read=(tokens["SECRET"],),
            protect=tuple(_fill(path, tokens) for path in attack.protect),
            stdin=_fill(attack.stdin, tokens),
            typed=self._base / "typed",
            screen=self._base / "screen",
            inherited=self._outside / "inherited",
            seconds=_UNATTENDED_SECONDS if in_vain else attack.seconds,
            fresh=attack.fresh and not attack.protect,
            terminal=attack.terminal,
            command_line=attack.command_line,
            parent_watched=attack.parent_lost,
        )

    def _program(self, attack: Attack, tokens: dict[str, str]) -> Path:
        """The file with the attempt. Guards read scripts, and no files."""
        script = (attack.control if self._is_control else "") or attack.script
        if script in {attack.attempt, attack.control}:
            return self._file(script, tokens, "sh")
        return self._file(script, tokens, "py")

    def _file(self, script: str, tokens: dict[str, str], kind: str) -> Path:
        file = self._workspace / f"{tokens['ID']}.{kind}"
        marker = "echo started @ID@\n" if kind == "sh" else ""
        # Every token that is a path of the workspace has another name inside a container.
        there = {name: self._there(Path(value)) for name, value in tokens.items()}
        file.write_text(_fill(f"{marker}{script}", there if self._is_contained else tokens))
        return file

    def _breached(self, attack: Attack, tokens: dict[str, str]) -> bool:
        if attack.survivor:
            text = _fill(attack.survivor, tokens)
            deadline = time.monotonic() + self._patience
            if self._is_control:
                # One that is another process all the time is missed by some looks.
                return any(alive(text) for _ in range(_LOOKS))
            while alive(text):
                if time.monotonic() > deadline:
                    return True
                time.sleep(0.01)
            return False
        predicate = attack.control_predicate if self._is_control else attack.predicate
        return self._bash(predicate, tokens) == 0

    def _bash(self, script: str, tokens: Mapping[str, str]) -> int:
        return self._shell.run(_fill(script, tokens), self._workspace)

    def _during(self, attack: Attack, tokens: dict[str, str]) -> subprocess.Popen[bytes] | None:
        if not attack.during:
            return None
        return subprocess.Popen(
            [BASH, "-c", _fill(attack.during, tokens)],
            cwd=self._workspace,
            env=self._environ,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )

    def _tokens(self, attack: Attack) -> dict[str, str]:
        return (
            {"SCTP": "0", "TCP6": "0", "UDP6": "0", "VPID": ""}
            | self._places
            | {
                "ID": f"{attack.id}{END}",
                "WS": str(self._workspace),
                "HOME": str(self._home),
                "OUT": str(self._outside),
                "SECRET": str(self._home / ".ssh"),
                "KEEP": str(self._outside / f"keep-{attack.id}"),
                "LOOT": str(self._workspace / f"loot-{attack.id}"),
                "LOG": str(self._log),
                "TYPED": str(self._base / "typed"),
                "SCREEN": str(self._base / "screen"),
                "STATE": str(self._base / "state"),
                "NAME": self._name,
                "CANARY": self._canary,
                "TAG": tag(),
                "PYTHON": "/usr/bin/python3",
                "NACRE": f"{sys.executable} -m nacre",
                "FREE": _free_port() if attack.during else "0",
                "NETNS": os.readlink("/proc/self/ns/net"),
                "NEIGHBOUR": str(self._neighbour.pid),
                "PIDNS": os.readlink("/proc/self/ns/pid"),
                "CONTROL": str(int(self._is_control)),
                "WAIT": "5" if self._is_control else "0.5",
                "BEATS": str(int(self._patience * 10)),
            }
        )

    def _variables(self) -> dict[str, str]:
        return {
            "PATH": f".:{os.environ['PATH']}",
            "HOME": str(self._home),
            "LANG": "C.UTF-8",
            "XDG_CONFIG_HOME": "/nonexistent",
            "GIT_CONFIG_NOSYSTEM": "1",
            "PYTHONDONTWRITEBYTECODE": "1",
            "DEPLOY_TOKEN": self._canary,
            "AWS_SECRET_ACCESS_KEY": self._canary,
            "PLAIN_NAME": self._canary,
        }

    def _plant(self) -> None:
        self._outside.mkdir()
        (self._base / "state").mkdir()
        (self._outside / "inherited").touch()
        for store in (".ssh/id", *_STORES):
            file = self._home / store
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(f"{self._canary}\n")
        self._log.touch()

    def _new_workspace(self) -> Path:
        self._workspaces += 1
        folder = self._base / f"ws{self._workspaces}"
        folder.mkdir()
        return folder

    def _start_neighbour(self) -> subprocess.Popen[bytes]:
        process = subprocess.Popen(
            [sys.executable, "-I", _HERE / "neighbour.py",
             self._outside, self._shared, self._log, self._name],
            env=self._environ,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            start_new_session=True,
        )  # fmt: skip
        assert process.stdout is not None
        self._places = cast("dict[str, str]", json.loads(process.stdout.readline()))
        return process

    def _sync(self) -> None:
        """Wait until the neighbour has written down all that reached it."""
        assert self._neighbour.stdin is not None
        assert self._neighbour.stdout is not None
        self._neighbour.stdin.write(b"sync\n")
        self._neighbour.stdin.flush()
        assert self._neighbour.stdout.readline() == b"ok\n", "the neighbour is gone"

    def _victim(self, tokens: dict[str, str]) -> subprocess.Popen[bytes]:
        """A process of the same user with a canary in its arguments, variables and descriptors."""
        process = subprocess.Popen(
            [BASH, "-c", 'exec 9<"$1"; exec -a "$2" sleep 300', "-",
             f"{tokens['SECRET']}/id", f"arg{self._canary}"],
            cwd=self._home,
            env=self._environ,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )  # fmt: skip
        deadline = time.monotonic() + 5
        while Path(f"/proc/{process.pid}/comm").read_text() != "sleep\n":
            assert time.monotonic() < deadline
        return process


def _fill(script: str, tokens: Mapping[str, str]) -> str:
    for name, value in tokens.items():
        script = script.replace(f"@{name}@", value)
    return script


def _place() -> Path:
    """Where private folders for temporary files do not hide what other layers must hold."""
    cache = Path.home() / ".cache"
    if cache.is_relative_to("/tmp") or cache.is_relative_to("/var/tmp"):
        return Path("/var/tmp")
    cache.mkdir(exist_ok=True)
    return cache


def _free_port() -> str:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return str(probe.getsockname()[1])
