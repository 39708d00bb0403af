"""A tool's definitions, with what can be said of where its scripts run."""

from dataclasses import replace

from nacre.dialects.base import Dialect, Scene
from nacre.stance import Stance
from nacre.tool.context import ToolContext

__all__ = ("described",)


def described(
    dialect: Dialect, stance: Stance, context: ToolContext | None
) -> list[dict[str, object]]:
    """The tool definitions, as a host would send them to a model.

    Raises:
        ConfigError: If there is no confinement of the context's name.
    """
    scene = Scene(lacking=stance.lacking)
    if context is not None or stance.names_folder:
        cwd = stance.folder(context.working_dir if context else None)
        held = stance.held(cwd, context.confinement if context else None)
        scene = replace(scene, cwd=cwd, confinement=held)
        if doorway := stance.doorway(cwd):
            scene = replace(
                scene,
                cwd=doorway.inward(cwd) or cwd,
                confinement=held and doorway.seen(held),
            )
    return [
        {
            "name": spec.name,
            "description": spec.description,
            "input_schema": dict(spec.input_schema),
        }
        for spec in dialect.specs(scene)
    ]
