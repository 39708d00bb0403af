"""Has real MCP clients list our tools and call them, with a scripted model behind each.

    python -m mcp_clients [NAME...]

Exits 1 if one of them does not get through, and 2 if they cannot be had.
"""

import argparse
import os
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import AbstractContextManager, ExitStack
from pathlib import Path

from mcp_clients.clients import CLIENTS, PACKAGES, PROGRAMS, Client, Observed, Trial
from mcp_clients.endpoint import Endpoint, open_endpoint
from mcp_clients.homes import Home
from mcp_clients.model import Model
from mcp_conformance.listening import listening
from mcp_conformance.npm import ROOT, UnavailableError, fetched

_TOOLS = frozenset({"Bash", "BashOutput", "KillBash", "Jobs"})
_WORKS = "echo nacre-works-$((6*7))", "nacre-works-42"
_REFUSED = (
    "git push --force",
    "[denied: A forced push overwrites what others have pushed.]\n",
    "[instead: Use --force-with-lease, or push without force.]\n",
)
_ASKED = "cat approval"
_APPROVAL = "nacre-approved\n"
_ROW = "{:6}  {:11}  {:5}  {:41}  {:20}  {:>7}"
_RULES = '[permissions]\nask = ["Bash(cat:*)"]\n'


def main() -> int:
    """Try each client, print a table, and say whether all is well."""
    parser = argparse.ArgumentParser(prog="mcp_clients", description=__doc__)
    known = sorted({client.name for client in CLIENTS})
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"of {', '.join(known)}")
    names = parser.parse_args().names
    if unknown := {*names} - {*known}:
        parser.error(f"{sorted(unknown)} are not known; there are {known}")
    chosen = [each for each in CLIENTS if not names or each.name in names]
    try:
        programs = _programs(fetched(ROOT / ".clients", PACKAGES))
    except UnavailableError as error:
        sys.stderr.write(f"cannot be done here: {error}\n")
        return 2
    _say(_ROW.format("", "client", "over", "set up by", "approval", "seconds"))
    began = time.monotonic()
    failed = 0
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="clients-")))
        path = folder / "bin"
        path.mkdir()
        for name, program in programs.items():
            (path / name).symlink_to(program)
        endpoint = stack.enter_context(open_endpoint())
        server = stack.enter_context(_server(folder / "server"))
        for number, client in enumerate(chosen):
            home = Home(folder / str(number), path)
            home.write(".config/nacre/nacre.toml", _RULES)
            home.write("workspace/approval", _APPROVAL)
            failed += _try(client, home, server, endpoint)
    seconds = time.monotonic() - began
    _say(f"{len(chosen) - failed} of {len(chosen)} ways work, {seconds:.0f} s")
    return int(failed > 0)


def _programs(modules: Path) -> dict[str, Path]:
    """The programs among what was fetched, by name."""
    found: dict[str, Path] = {}
    for name, pattern in PROGRAMS.items():
        matches = sorted(modules.glob(pattern))
        if not matches:
            raise UnavailableError(f"npm has no {name} for this machine")
        found[name] = matches[-1]
    return found


def _server(folder: Path) -> AbstractContextManager[str]:
    """Our server over HTTP, for all clients."""
    workspace = folder / "workspace"
    workspace.mkdir(parents=True)
    (workspace / "approval").write_text(_APPROVAL, "utf-8")
    rules = folder / "rules.toml"
    rules.write_text(_RULES, "utf-8")
    variables = {
        **{name: value for name, value in os.environ.items() if "NACRE" not in name},
        "HOME": str(folder),
        "NACRE_STATE": str(folder / "state"),
    }
    words = [sys.executable, "-m", "nacre", "mcp", "--http", "127.0.0.1:0", "--rules", str(rules)]
    return listening(words, workspace, variables)


def _try(client: Client, home: Home, server: str, endpoint: Endpoint) -> bool:
    """Whether a client failed; a line says what it showed."""
    model = Model((_WORKS[0], _REFUSED[0], _ASKED, _ASKED))
    address = endpoint.add(home.folder.name, model)
    began = time.monotonic()
    try:
        observed = client.work(Trial(home, server, model, address))
        left = home.left()
    finally:
        home.end()
    faults = [*_faults(client, observed), *(f"it left running: {each}" for each in left)]
    seconds = time.monotonic() - began
    mark = "FAILED" if faults else "ok"
    asked = client.approval.label
    _say(_ROW.format(mark, client.name, client.over, client.set_up, asked, f"{seconds:.1f}"))
    for fault in faults:
        _say(f"        {fault}")
    if faults:
        _say(observed.said)
    return bool(faults)


def _faults(client: Client, observed: Observed) -> Iterator[str]:
    if not observed.connected:
        yield "it does not say that it is connected, or did not end well"
    if observed.tools != _TOOLS:
        yield f"it lists {sorted(observed.tools)}"
    texts = ["\n".join(each) for each in observed.results]
    if len(texts) != 4:
        yield f"the model got {len(texts)} results of 4"
        return
    if _WORKS[1] not in observed.results[0]:
        yield f"the result of {_WORKS[0]!r} is not whole: {texts[0]!r}"
    if not all(part in texts[1] for part in _REFUSED[1:]):
        yield f"the refusal is not whole: {texts[1]!r}"
    for text in texts[2:]:
        if client.approval.text not in text:
            yield f"what needs approval has another result: {text!r}"
    asked = [question for question in observed.questions if _ASKED in question]
    if len(asked) != client.approval.questions:
        yield f"the user was asked {len(asked)} times, not {client.approval.questions}"


def _say(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
