"""The conformance suite of the protocol's makers: what it has, and what it says of a server."""

import json
import re
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from mcp_conformance.npm import ROOT, environment, fetched, node

__all__ = ("EXTENSION", "PACKAGE", "VERSION", "Check", "Suite")

PACKAGE = "@modelcontextprotocol/conformance"
VERSION = "0.2.0-alpha.12"
EXTENSION = "extension"
_FOLDER = ROOT / ".conformance"
_LISTED = re.compile(r"^ +- (?P<name>\S+) \[(?P<tags>[^\]]*)\]$", re.MULTILINE)
_RESULT = re.compile(r"server-(?P<name>.+)-\d{4}-\d\d-\d\dT[\dZ-]+")
_SECONDS = 600.0


@dataclass(frozen=True, slots=True)
class Check:
    """One thing that a scenario looked at: SUCCESS, FAILURE, WARNING, SKIPPED or INFO."""

    id: str
    status: str
    message: str


class Suite:
    """The suite, fetched."""

    def __init__(self) -> None:
        fetched(_FOLDER, {PACKAGE: VERSION})

    def scenarios(self) -> dict[str, Sequence[str]]:
        """Every scenario for servers, with the versions of the protocol that it is about."""
        done = self._run("list", "--server")
        done.check_returncode()
        found = _LISTED.finditer(done.stdout)
        return {each["name"]: each["tags"].split(",") for each in found}

    def run(self, version: str, url: str, folder: Path) -> Mapping[str, Sequence[Check]]:
        """Try every scenario of a version on a server; what each of them saw."""
        # It exits 1 if any scenario fails, also one that is not for this server.
        self._run(
            *("server", "--url", url, "--suite", "all"),
            *("--spec-version", version, "--output-dir", str(folder)),
        )
        seen: dict[str, Sequence[Check]] = {}
        for path in folder.glob("*/checks.json"):
            if found := _RESULT.fullmatch(path.parent.name):
                seen[found["name"]] = [
                    Check(each["id"], each["status"], _message(each))
                    for each in json.loads(path.read_text("utf-8"))
                ]
        return seen

    def _run(self, *words: str) -> subprocess.CompletedProcess[str]:
        program = _FOLDER / "node_modules" / PACKAGE / "dist" / "index.js"
        return subprocess.run(
            [str(node()), str(program), *words],
            env=environment(),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
            timeout=_SECONDS,
        )


def _message(check: Mapping[str, object]) -> str:
    match check:
        case {"errorMessage": str(text)} | {"details": {"note": str(text)}}:
            return text
        case _:
            return str(check.get("description", ""))
