"""What a model is told of the tool before it calls it."""

from importlib import resources

from nacre.dialects.base import Scene
from nacre.dialects.constraints import constraints
from nacre.model.confinement import Confinement, Limits

__all__ = ("REQUIREMENTS", "SCHEMA", "describe", "prompt")

REQUIREMENTS = "requirements"
SCHEMA = {
    "type": "object",
    "required": ["command"],
    "properties": {
        "command": {"type": "string", "description": "Shell command to execute via bash -c"},
        "mode": {
            "type": "string",
            "enum": ["default", "slow", "background"],
            "description": (
                "Execution mode: default (30s timeout), slow (15min timeout), background (detached)"
            ),
        },
    },
}
_MIB = 1 << 20


def prompt(name: str) -> str:
    """The text of a prompt file."""
    file = resources.files("nacre.dialects") / "prompts" / "phoenix" / f"{name}.md"
    return file.read_text("utf-8").strip()


def describe(scene: Scene) -> str:
    """The tool, what confines its commands, whether they can be confined, and the folder."""
    said = [prompt("bash")]
    if scene.lacking:
        why = f"Restricted mode is not available: {scene.lacking}."
        said.append("\n".join((why, prompt(REQUIREMENTS), prompt("unrestricted"))))
    elif scene.confinement and (held := constraints(scene.confinement)):
        said.append("\n".join((prompt("restricted"), held, *_limits(scene.confinement))))
    if scene.cwd is not None:
        said.append(f"<pwd>{scene.cwd}</pwd>")
    return "\n\n".join(said)


def _limits(confinement: Confinement) -> list[str]:
    """What is held beside files and the network, a sentence each."""
    said: list[str] = []
    if confinement.own_signals:
        spared = (
            ", but the background processes that were started in it can"
            if confinement.ends_jobs
            else ""
        )
        said.append(f"Processes outside of the sandbox cannot be signalled{spared}.")
    if words := _resources(confinement.limits):
        said.append(f"Resource limits: {', '.join(words)}.")
    return said


def _resources(limits: Limits) -> list[str]:
    said = {
        "{} MiB of memory for each process": limits.memory and limits.memory // _MIB,
        "{} seconds of CPU time for each process": limits.cpu_seconds,
        "{} processes": limits.processes,
    }
    return [words.format(number) for words, number in said.items() if number is not None]
