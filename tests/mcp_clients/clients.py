"""Real clients of the protocol, with the settings under which each of them calls our tool."""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from mcp_clients.homes import Done, Home
from mcp_clients.model import Model

__all__ = ("CLIENTS", "PACKAGES", "PROGRAMS", "Client", "Observed", "Trial")

PACKAGES = {
    "@anthropic-ai/claude-code": "2.1.325",
    "@openai/codex": "0.166.0",
    "opencode-ai": "1.18.33",
    "@modelcontextprotocol/inspector": "2.12.0",
}
# Two of them come with a stub that an install script would replace: no such script is run here.
PROGRAMS = {
    "claude": "@anthropic-ai/claude-code-linux-*/claude",
    "codex": ".bin/codex",
    "opencode": "opencode-linux-*/bin/opencode",
    "mcp-inspector": ".bin/mcp-inspector",
}
"""Where each program is among what was fetched; of several, the last runs on more machines."""
_PROMPT = "Call the tool."
_SERVERS = {"mcpServers": {"nacre": {"command": "nacre", "args": ["mcp"]}}}


@dataclass(frozen=True, slots=True)
class Trial:
    """One trial of a client: in its home, with the server, and a model that has an address."""

    home: Home
    server: str
    model: Model
    address: str


@dataclass(frozen=True, slots=True)
class Observed:
    """What came of it: whether the client says that it is connected, and what the model saw."""

    connected: bool
    tools: frozenset[str]
    results: Sequence[Sequence[str]]
    said: str
    questions: Sequence[str] = ()
    """What the user was asked, where that can be seen."""


@dataclass(frozen=True, slots=True)
class Approval:
    """What becomes of a script that somebody has to approve, and what the model reads of it."""

    label: str
    text: str
    questions: int = 0
    """How often the user is asked when it is run twice, where that can be seen."""


@dataclass(frozen=True, slots=True)
class Client:
    """A client over one transport, set up in one way."""

    name: str
    over: str
    set_up: str
    approval: Approval
    work: Callable[[Trial], Observed]


def _seen(trial: Trial, listed: Done, ran: Done, mark: str) -> Observed:
    connected = mark in listed.stdout and listed.code == 0 and ran.code == 0
    said = f"listed: {listed}\nran: {ran}"
    return Observed(connected, frozenset(trial.model.tools), trial.model.results, said)


def _claude(*adding: str, answer: Mapping[str, object]) -> Callable[[Trial], Observed]:
    """Claude Code: `adding` are the words after `claude mcp add`; without, it is a project's file.

    A hook gives the answer that its user would give.
    """

    def work(trial: Trial) -> Observed:
        home = trial.home
        output = {"hookSpecificOutput": {"hookEventName": "Elicitation", **answer}}
        answered = home.write("answer.json", output)
        asked = home.folder / "asked.json"
        hook = {"type": "command", "command": f"(cat; echo) >> {asked}; cat {answered}"}
        home.write(".claude/settings.json", {"hooks": {"Elicitation": [{"hooks": [hook]}]}})
        variables = {
            "ANTHROPIC_BASE_URL": trial.address,
            "ANTHROPIC_API_KEY": "scripted",
            "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
            # Otherwise tools are found by a search, which a script cannot make.
            "ENABLE_TOOL_SEARCH": "false",
        }
        if adding:
            words = [trial.server if word == "URL" else word for word in adding]
            home.run("claude", "mcp", "add", *words, **variables)
        else:
            home.write("workspace/.mcp.json", _SERVERS)
        listed = home.run("claude", "mcp", "list", **variables)
        # Some ways to allow everything are refused to root; naming the tool is not.
        ran = home.run("claude", "-p", _PROMPT, "--allowedTools", "mcp__nacre__Bash", **variables)
        # A project's file is for its user to approve, once; without a terminal it is used as it is.
        observed = _seen(trial, listed, ran, "Connected" if adding else "Pending approval")
        lines = asked.read_text("utf-8").splitlines() if asked.exists() else []
        questions = [json.loads(line)["message"] for line in lines if line]
        return replace(observed, questions=questions)

    return work


def _codex(*adding: str) -> Callable[[Trial], Observed]:
    def work(trial: Trial) -> Observed:
        home = trial.home
        words = [trial.server if word == "URL" else word for word in adding]
        home.run("codex", "mcp", "add", *words)
        listed = home.run("codex", "mcp", "list")
        provider = f'{{name="scripted", base_url="{trial.address}/v1", wire_api="responses"}}'
        settings = (
            'model="scripted"',
            'model_provider="scripted"',
            f"model_providers.scripted={provider}",
            # `codex exec` asks nobody, and refuses tools that may change something.
            'mcp_servers.nacre.default_tools_approval_mode="approve"',
        )
        options = [word for each in settings for word in ("-c", each)]
        ran = home.run("codex", "exec", "--skip-git-repo-check", *options, _PROMPT)
        return _seen(trial, listed, ran, "enabled")

    return work


def _opencode(entry: Mapping[str, object]) -> Callable[[Trial], Observed]:
    def work(trial: Trial) -> Observed:
        home = trial.home
        server = {key: trial.server if value == "URL" else value for key, value in entry.items()}
        provider = {
            "npm": "@ai-sdk/openai-compatible",
            "options": {"baseURL": f"{trial.address}/v1", "apiKey": "scripted"},
            "models": {"scripted": {"tool_call": True}},
        }
        settings = {
            "model": "scripted/scripted",
            "small_model": "scripted/scripted",
            "autoupdate": False,
            "provider": {"scripted": provider},
            "mcp": {"nacre": server},
        }
        home.write("workspace/opencode.json", settings)
        variables = {"OPENCODE_DISABLE_MODELS_FETCH": "1", "OPENCODE_DISABLE_AUTOUPDATE": "1"}
        listed = home.run("opencode", "mcp", "list", **variables)
        ran = home.run("opencode", "run", _PROMPT, **variables)
        return _seen(trial, listed, ran, "connected")

    return work


def _inspector(*target: str) -> Callable[[Trial], Observed]:
    """Inspector has no model: it makes the calls itself, and prints the results."""

    def work(trial: Trial) -> Observed:
        home = trial.home
        servers = str(home.write("servers.json", _SERVERS))
        puts = {"URL": trial.server, "FILE": servers}
        words = ["mcp-inspector", "--cli", *(puts.get(word, word) for word in target)]
        variables = {"MCP_INSPECTOR_SECRET_STORE": "memory"}
        listed = home.run(*words, "--method", "tools/list", **variables)
        calls = [
            home.run(
                *(*words, "--method", "tools/call", "--tool-name", "Bash"),
                *("--tool-args-json", json.dumps({"command": script})),
                **variables,
            )
            for script in trial.model.scripts
        ]
        tools = _json(listed).get("tools", [])
        results = [[part["text"] for part in _json(call).get("content", [])] for call in calls]
        said = "\n".join(map(str, (listed, *calls)))
        names = frozenset(tool["name"] for tool in tools)
        return Observed(listed.code == 0, names, results, said)

    return work


def _json(done: Done) -> dict[str, list[dict[str, str]]]:
    """What a program printed, if it is JSON."""
    try:
        return json.loads(done.stdout)
    except ValueError:
        return {}


def _accepted(answer: str, **more: str) -> dict[str, object]:
    return {"action": "accept", "content": {"answer": answer, **more}}


_ALWAYS = Approval("given for always", "nacre-approved", questions=1)
_ONCE = Approval("given for once", "nacre-approved", questions=2)
_NOT_TODAY = Approval("declined in words", "nacre-not-today", questions=2)
# `codex exec` has no user to ask, and says no.
_DECLINED = Approval("declined by itself", "the user was asked, and said no")
_NOBODY = Approval("nobody to ask", "cannot ask its user (it declares no elicitation)")

CLIENTS = (
    Client(
        "Claude Code",
        "stdio",
        "claude mcp add nacre -- nacre mcp",
        _ALWAYS,
        _claude("nacre", "--", "nacre", "mcp", answer=_accepted("yes, always")),
    ),
    Client(
        "Claude Code",
        "stdio",
        ".mcp.json",
        _NOT_TODAY,
        _claude(answer=_accepted("no", word="nacre-not-today")),
    ),
    Client(
        "Claude Code",
        "http",
        "claude mcp add --transport http nacre URL",
        _ONCE,
        _claude("--transport", "http", "nacre", "URL", answer=_accepted("yes, once")),
    ),
    Client(
        "Codex",
        "stdio",
        "codex mcp add nacre -- nacre mcp",
        _DECLINED,
        _codex("nacre", "--", "nacre", "mcp"),
    ),
    Client(
        "Codex",
        "http",
        "codex mcp add nacre --url URL",
        _DECLINED,
        _codex("nacre", "--url", "URL"),
    ),
    Client(
        "opencode",
        "stdio",
        "opencode.json",
        _NOBODY,
        _opencode({"type": "local", "command": ["nacre", "mcp"]}),
    ),
    Client(
        "opencode", "http", "opencode.json", _NOBODY, _opencode({"type": "remote", "url": "URL"})
    ),
    Client(
        "Inspector",
        "stdio",
        "mcpServers",
        _NOBODY,
        _inspector("--config", "FILE", "--server", "nacre"),
    ),
    Client("Inspector", "http", "URL", _NOBODY, _inspector("URL")),
    Client(
        "Inspector",
        "http",
        "URL --protocol-era modern",
        _NOBODY,
        _inspector("URL", "--protocol-era", "modern"),
    ),
)
