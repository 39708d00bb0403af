"""Expressions that are compiled when they are used."""

import copy
import re
import subprocess
import sys

import pytest

from nacre.model.expression import expression


def test_it_does_what_a_compiled_one_does() -> None:
    ours, theirs = expression(r"(\d+)", re.ASCII), re.compile(r"(\d+)", re.ASCII)
    assert ours.sub("x", "a1b22") == theirs.sub("x", "a1b22")
    assert ours.findall("a1b22") == theirs.findall("a1b22")
    assert ours.groups == theirs.groups
    assert ours.flags == theirs.flags
    assert ours.pattern == theirs.pattern
    assert repr(ours) == repr(theirs)
    assert expression(rb"\d").search(b"a1")


def test_it_can_be_copied_before_it_is_used() -> None:
    assert copy.deepcopy(expression("a+")).fullmatch("aa")


def test_nothing_is_compiled_before_it_is_used() -> None:
    broken = expression("(")
    with pytest.raises(re.error):
        broken.match("")


def test_all_that_are_written_down_can_be_compiled() -> None:
    code = """
import pkgutil, re, sys
from nacre.model import expression as module
seen = []
def compiled(pattern, flags=0):
    seen.append(re.compile(pattern, flags))
    return seen[-1]
module.expression = compiled
import nacre
for name in "capture cli config container dialects engine model policy process render sandbox syntax".split():
    package = __import__(f"nacre.{name}", fromlist=["x"])
    for each in pkgutil.walk_packages(package.__path__, f"nacre.{name}."):
        __import__(each.name)
print(len(seen))
"""
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert int(done.stdout) > 250
