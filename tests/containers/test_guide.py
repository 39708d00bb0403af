"""The guide to containers is run against a real engine, from its first block to its last."""

import shutil
import sys
from pathlib import Path

import pytest

from containers.seen import none_left
from docs.pages import ROOT, assert_alike, assert_printed, blocks, run
from engines import Engine

GUIDE = ROOT / "docs" / "containers.md"


@pytest.mark.skipif(not shutil.which("docker"), reason="there is no docker command here")
def test_the_guide_does_what_it_says(engine: Engine, tmp_path: Path) -> None:
    tmp_path.chmod(0o755)
    environ = {"DOCKER_HOST": engine.host}
    for block in blocks(GUIDE):
        if block.kind == "console":
            assert_printed(block, tmp_path, environ)
        elif block.kind == "python":
            file = tmp_path / "example.py"
            file.write_text(block.text, "utf-8")
            done = run([sys.executable, str(file)], tmp_path, environ)
            assert done.returncode == 0, done.stdout
            assert block.follower is not None
            assert_alike(block.follower.text, done.stdout)
    none_left(engine, 5)
