"""The definitions of a dialect's tools: a schema each, and a description from a file."""

from collections.abc import Mapping
from importlib import resources

from nacre.dialects.base import Scene, ToolSpec
from nacre.dialects.constraints import constraints

__all__ = ("definitions",)


def definitions(
    dialect: str, schemas: Mapping[str, Mapping[str, object]], scene: Scene
) -> tuple[ToolSpec, ...]:
    """The tools, the one that runs scripts first: its description says where, and held to what."""
    prompts = resources.files("nacre.dialects") / "prompts" / dialect
    texts = [(prompts / f"{name}.md").read_text("utf-8").strip() for name in schemas]
    texts[0] = "\n\n".join((texts[0], *_placed(scene)))
    return tuple(
        ToolSpec(name=name, description=text, input_schema=schema)
        for text, (name, schema) in zip(texts, schemas.items(), strict=True)
    )


def _placed(scene: Scene) -> list[str]:
    said = [f"Scripts start in {scene.cwd}."] if scene.cwd else []
    if scene.confinement and (limits := constraints(scene.confinement)):
        said.append(limits)
    return said
