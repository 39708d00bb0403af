"""Fakes and contract suites for those who extend nacre or build on it."""

from nacre.testing.approver import ScriptedApprover
from nacre.testing.checker import AllowEverything
from nacre.testing.contract import CONTRACT, Check, Subject
from nacre.testing.scripted import ScriptedBash

__all__ = ("CONTRACT", "AllowEverything", "Check", "ScriptedApprover", "ScriptedBash", "Subject")
