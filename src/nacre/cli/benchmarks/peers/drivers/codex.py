"""Codex: what it runs is held by its Linux sandbox, with the workspace writable and no network.

`sandbox` starts the program for each call; `server` asks one that runs, by its protocol. Either starts a fresh
shell. The program itself is started, not the script of Node that npm puts before it.
"""

import json
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from time import perf_counter

from wire import Wire

_PROGRAM = "node_modules/@openai/codex-linux-*/vendor/*/bin/codex"


def main(how: str, folder: str) -> None:
    """Answer until the input ends."""
    wire = Wire()
    found = sorted(Path(folder).glob(_PROGRAM))
    if not found:
        raise SystemExit("npm has brought no codex for this machine")
    program = str(found[-1])
    (Path.home() / ".codex").mkdir(exist_ok=True)
    said = subprocess.run([program, "--version"], check=True, capture_output=True, text=True)
    version = said.stdout.split()[-1]
    if how == "server":
        _ask_server(program, wire, version)
        return
    words = (program, "sandbox", "-c", "sandbox_mode=workspace-write", "--", "bash", "-c")
    wire.ready_as(version)
    for script in wire:
        began = perf_counter()
        done = subprocess.run([*words, script], check=True, capture_output=True, text=True)
        wire.answer(perf_counter() - began, done.stdout)


def _ask_server(program: str, wire: Wire, version: str) -> None:
    words = (program, "app-server")
    with subprocess.Popen(
        words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as server:
        _asked(server, "initialize", {"clientInfo": {"name": "nacre-bench", "version": "0"}})
        _send(server, {"method": "initialized"})
        wire.ready_as(version)
        for script in wire:
            began = perf_counter()
            wanted = {
                "command": ["bash", "-c", script],
                "sandboxPolicy": {"type": "workspaceWrite"},
            }
            result = _asked(server, "command/exec", wanted)
            wire.answer(perf_counter() - began, result["stdout"])


def _asked(
    server: "subprocess.Popen[str]", method: str, params: Mapping[str, object]
) -> dict[str, object]:
    """What a request is answered; only one is under way at a time."""
    _send(server, {"id": 1, "method": method, "params": params})
    for line in server.stdout or ():
        message = json.loads(line)
        if message.get("id") == 1:
            if "result" not in message:
                raise SystemExit(f"{method} was answered {message}")
            return dict(message["result"])
    raise SystemExit(f"codex app-server has ended before it answered {method}")


def _send(server: "subprocess.Popen[str]", message: dict[str, object]) -> None:
    if server.stdin is None:
        raise SystemExit("codex app-server has no input")
    server.stdin.write(f"{json.dumps(message)}\n")
    server.stdin.flush()


main(*sys.argv[1:3])
