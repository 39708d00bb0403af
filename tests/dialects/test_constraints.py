"""What a model is told of its confinement."""

from dataclasses import replace
from pathlib import Path, PurePath

import pytest

from nacre import Bash, ToolContext
from nacre.dialects.constraints import constraints
from nacre.errors import ConfigError
from nacre.model.confinement import Confinement, Network

OPEN = Confinement(name="open", writable=None, network=Network.INHERIT)
REST = "What the kernel refuses stays refused: do not retry it, and do not look for a way around."


def folders(*names: str) -> tuple[PurePath, ...]:
    return tuple(map(PurePath, names))


@pytest.mark.parametrize(
    ("confinement", "said"),
    [
        (OPEN, None),
        (replace(OPEN, network=Network.DENY), "There is no network."),
        (
            replace(OPEN, denied=folders("/s")),
            "Credential stores and other private paths cannot be read.",
        ),
        (
            replace(OPEN, writable=()),
            "Nothing can be written but /dev/null, /dev/zero and /dev/full.",
        ),
        (
            replace(OPEN, writable=folders("/w")),
            "Only /w can be written; git hooks and other settings there stay as they are.",
        ),
        (
            replace(OPEN, writable=folders("/w", "/x"), private_tmp=True),
            (
                "Only /w, /x can be written and $TMPDIR, which is private; git hooks and other"
                " settings there stay as they are."
            ),
        ),
        (
            replace(OPEN, writable=folders(*["/a", "/b", "/c", "/d", "/e", "/f"])),
            (
                "Only /a, /b, /c, /d and 2 more can be written; git hooks and other settings there"
                " stay as they are."
            ),
        ),
        (
            Confinement(name="read-only", denied=folders("/s")),
            (
                "Nothing can be written but /dev/null, /dev/zero and /dev/full. There is no network."
                " Credential stores and other private paths cannot be read."
            ),
        ),
    ],
)
def test_each_constraint_is_a_sentence_and_no_constraint_is_none(
    confinement: Confinement, said: str | None
) -> None:
    whole = f"Scripts run in a sandbox. {said} {REST}" if said else ""
    assert constraints(confinement) == whole


def description(tool: Bash, context: ToolContext | None) -> str:
    (bash,) = [spec for spec in tool.specs(context) if spec["name"] == "Bash"]
    return str(bash["description"])


def test_the_description_of_the_tool_says_it_for_the_call_that_is_meant(
    workspace: Path, state: Path
) -> None:
    with Bash(workspace=workspace, state=state) as tool:
        usual = description(tool, ToolContext(working_dir=workspace))
        assert f"Scripts start in {workspace}." in usual
        assert f"Only {workspace.resolve()} can be written and $TMPDIR" in usual
        assert "There is no network." in usual
        held = ToolContext(working_dir=workspace, confinement="read-only")
        assert "Nothing can be written but /dev/null" in description(tool, held)
        assert "sandbox" not in description(tool, None)
        with pytest.raises(ConfigError, match="'closed' is not known"):
            tool.specs(ToolContext(working_dir=workspace, confinement="closed"))


def test_the_description_follows_the_settings(workspace: Path, state: Path) -> None:
    with Bash(workspace=workspace, state=state, network="inherit", write=["/var/x"]) as tool:
        said = description(tool, ToolContext(working_dir=workspace))
    assert "There is no network." not in said
    assert f"Only {workspace.resolve()}, /var/x can be written" in said
