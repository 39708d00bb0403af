"""A yes for always: where it counts, to the letter, and how it is taken back."""

import os
import shutil
import sqlite3
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from hosts import nacre
from nacre import Bash, Consent, Question, Reply, ToolContext
from nacre.engine.grants import GRANTS, Grants
from nacre.engine.journal import JOURNAL, read_journal
from nacre.model.approval import Scope
from nacre.model.call import Run
from nacre.model.transcript import Limit
from nacre.testing import ScriptedApprover

pytestmark = pytest.mark.anyio

ASKED = {"command": "touch new"}
RULE = "Bash(touch new)"
SCOPE = Scope(conversation="c", folder="/work", held="open")


class Person:
    """Says yes for always the first time, and no ever after."""

    def __init__(self) -> None:
        self._approver = ScriptedApprover(Consent.ALWAYS, *[False] * 20)

    def __call__(self, question: Question) -> object:
        return self._approver(question)

    @property
    def asked(self) -> int:
        return len(self._approver.questions)

    @property
    def last(self) -> Question:
        return self._approver.questions[-1]


@asynccontextmanager
async def opened(
    workspace: Path, state: Path, person: Person, **settings: str | Sequence[str]
) -> AsyncGenerator[Bash]:
    """A tool that asks about `touch`; scripts run unheld, for what holds them is told elsewhere."""
    usual = {"sandbox": "none", "confinement": "workspace"}
    async with Bash(
        workspace=workspace,
        state=state,
        rules={"ask": ["Bash(touch:*)"]},
        approver=person,  # pyright: ignore[reportArgumentType] (it says what a consent says)
        **{**usual, **settings},  # pyright: ignore[reportArgumentType] (settings by name)
    ) as tool:
        yield tool


def ran(reply: Reply) -> bool:
    return not reply.is_error


async def test_a_yes_for_always_answers_the_next_time(workspace: Path, state: Path) -> None:
    person = Person()
    async with opened(workspace, state, person) as tool:
        for script in ("touch new", "touch new", "ls && touch new", "cd . ; touch new | cat"):
            assert ran(await tool.call("Bash", {"command": script})), script
        assert not ran(await tool.call("Bash", {"command": "touch newer"}))
        assert not ran(await tool.call("Bash", {"command": "touch new; touch newer"}))
    async with opened(workspace, state, person) as tool:
        assert ran(await tool.call("Bash", ASKED))
    assert person.asked == 3


async def test_a_yes_for_once_is_not_remembered(workspace: Path, state: Path) -> None:
    approver = ScriptedApprover(Consent.ONCE, Consent.ONCE)
    rules = {"ask": ["Bash(touch:*)"]}
    async with Bash(workspace=workspace, state=state, rules=rules, approver=approver) as tool:
        await tool.call("Bash", ASKED)
        await tool.call("Bash", ASKED)
    assert not (state / GRANTS).exists()
    assert len(approver.questions) == 2


async def test_it_counts_for_its_conversation_and_folder_only(workspace: Path, state: Path) -> None:
    (workspace / "below").mkdir()
    person = Person()

    def context(conversation: str | None, folder: str = ".") -> ToolContext:
        return ToolContext(working_dir=workspace / folder, conversation=conversation)

    async with opened(workspace, state, person) as tool:
        assert ran(await tool.call("Bash", ASKED, context("a")))
        assert ran(await tool.call("Bash", ASKED, context("a")))
        assert not ran(await tool.call("Bash", ASKED, context("b")))
        assert not ran(await tool.call("Bash", ASKED, context(None)))
        assert not ran(await tool.call("Bash", ASKED, context("a", "below")))
        moved = {**ASKED, "working_directory": "below"}
        assert not ran(await tool.call("Bash", moved, context("a")))
    assert person.asked == 5


@pytest.mark.parametrize(
    "settings",
    [
        {"network": "inherit"},
        {"confinement": "open"},
        {"confinement": "read-only"},
        {"write": ["/var/empty"]},
        {"deny_read": ["/var/empty"]},
        {"protect": ["README"]},
        {"limits": ["processes=100"]},
        {"sandbox": "landlock"},
    ],
    ids=str,
)
async def test_it_counts_only_for_what_is_held_to_the_same(
    workspace: Path, state: Path, settings: dict[str, str | Sequence[str]]
) -> None:
    person = Person()
    async with opened(workspace, state, person) as tool:
        assert ran(await tool.call("Bash", ASKED))
    async with opened(workspace, state, person, **settings) as tool:
        assert await tool.question("Bash", ASKED) is not None
    async with opened(workspace, state, person) as tool:
        assert await tool.question("Bash", ASKED) is None


async def test_one_that_is_revoked_elsewhere_does_not_count_from_the_next_call_on(
    workspace: Path, state: Path
) -> None:
    person = Person()
    async with opened(workspace, state, person) as tool:
        assert ran(await tool.call("Bash", ASKED))
        assert ran(await tool.call("Bash", ASKED))
        assert nacre("grants", "revoke", "--all", state=state).code == 0
        assert not ran(await tool.call("Bash", ASKED))
    assert person.asked == 2


async def test_removing_the_file_revokes_them_all(workspace: Path, state: Path) -> None:
    person = Person()
    async with opened(workspace, state, person) as tool:
        assert ran(await tool.call("Bash", ASKED))
        for file in state.glob(f"{GRANTS}*"):
            file.unlink()
        assert not ran(await tool.call("Bash", ASKED))
        Grants(state / GRANTS).add("Bash(touch other)", SCOPE)
        assert not ran(await tool.call("Bash", ASKED))


async def test_a_workspace_that_holds_the_state_directory_gives_none(
    workspace: Path, tmp_path: Path
) -> None:
    (tmp_path / "link").symlink_to(workspace)
    for folder, state in (
        (workspace, workspace / "state"),
        (tmp_path / "link", workspace / "state"),
        (workspace, tmp_path / "link" / "state"),
    ):
        person = Person()
        async with opened(folder, state, person) as tool:
            assert ran(await tool.call("Bash", ASKED))
            assert person.last.grants == ()
            assert not ran(await tool.call("Bash", ASKED))
        assert not (state / GRANTS).exists()


async def test_a_grant_that_a_script_could_have_written_does_not_count(
    workspace: Path, state: Path, tmp_path: Path
) -> None:
    person, outer = Person(), tmp_path / "outer"
    outer.mkdir()
    async with opened(workspace, state, person, write=[str(outer)]) as tool:
        assert ran(await tool.call("Bash", ASKED))
        assert ran(await tool.call("Bash", ASKED))
    # It is to the letter what would be looked for, but lies where a script may write.
    shutil.copytree(state, outer / "state")
    async with opened(workspace, outer / "state", person, write=[str(outer)]) as tool:
        assert not ran(await tool.call("Bash", ASKED))
    assert person.asked == 2


async def test_what_is_given_more_than_its_text_is_asked_about_each_time(
    workspace: Path, state: Path
) -> None:
    person = Person()
    plain = Run(script="touch new", limit=Limit(head=100, tail=100))
    async with opened(workspace, state, person) as tool:
        assert ran(await tool.call("Bash", ASKED))
        assert await tool.question_about(plain) is None
        for more in ({"stdin": b"yes\n"}, {"environ": {"PATH": "/tmp/evil"}}):
            fed = Run(script="touch new", limit=Limit(head=100, tail=100), **more)  # pyright: ignore[reportArgumentType] (one of two fields)
            question = await tool.question_about(fed)
            assert question is not None
            assert question.grants == ()


async def test_a_folder_whose_name_is_no_text_has_grants_of_its_own(
    workspace: Path, state: Path
) -> None:
    odd = workspace / os.fsdecode(b"caf\xe9")
    odd.mkdir()
    alike = workspace / "caf\\udce9"
    alike.mkdir()
    person = Person()
    async with opened(workspace, state, person) as tool:
        assert ran(await tool.call("Bash", ASKED, ToolContext(working_dir=odd)))
        assert ran(await tool.call("Bash", ASKED, ToolContext(working_dir=odd)))
        assert not ran(await tool.call("Bash", ASKED, ToolContext(working_dir=alike)))
    assert RULE in nacre("grants", state=state).out


async def test_a_link_that_leads_elsewhere_by_now_has_no_grant(
    workspace: Path, state: Path
) -> None:
    for name in ("here", "there"):
        (workspace / name).mkdir()
    link, person = workspace / "link", Person()
    link.symlink_to("here")
    async with opened(workspace, state, person) as tool:
        assert ran(await tool.call("Bash", ASKED, ToolContext(working_dir=link)))
        assert ran(await tool.call("Bash", ASKED, ToolContext(working_dir=workspace / "here")))
        link.unlink()
        link.symlink_to("there")
        assert not ran(await tool.call("Bash", ASKED, ToolContext(working_dir=link)))


async def test_a_grant_is_named_in_the_journal(workspace: Path, state: Path) -> None:
    async with opened(workspace, state, Person()) as tool:
        await tool.call("Bash", ASKED)
        await tool.call("Bash", ASKED)
    (grant,) = Grants(state / GRANTS).all()
    *_, second = read_journal(state / JOURNAL)
    assert '"approver":"a grant"' in second.text
    assert f'"grant":"{grant.id}"' in second.text


async def test_a_broken_file_is_no_yes_and_no_failure(workspace: Path, state: Path) -> None:
    state.mkdir()
    (state / GRANTS).write_bytes(b"no database at all" * 1000)
    person = Person()
    async with opened(workspace, state, person) as tool:
        assert ran(await tool.call("Bash", ASKED))
        assert ran(await tool.call("Bash", ASKED))
    assert person.asked == 1
    assert [*state.glob(f"{GRANTS}.aside-*")]


async def test_a_yes_that_cannot_be_stored_is_good_for_once_and_says_so(
    workspace: Path, state: Path
) -> None:
    (state / GRANTS).mkdir(parents=True)
    async with opened(workspace, state, Person()) as tool:
        reply = await tool.call("Bash", ASKED)
        assert ran(reply)
        assert "[note: the yes holds for this once only: " in reply.text
        assert not ran(await tool.call("Bash", ASKED))


def test_grants_are_added_once_listed_in_order_and_revoked_by_id(state: Path) -> None:
    grants = Grants(state / GRANTS)
    assert grants.all() == grants.within(SCOPE) == ()
    assert not grants.revoke("nonsense")
    assert not state.exists()
    for rule in ("Bash(one)", "Bash(two)", "Bash(one)"):
        grants.add(rule, SCOPE)
    elsewhere = Scope(conversation="d", folder="/work", held="open")
    grants.add("Bash(one)", elsewhere)
    assert [each.rule for each in grants.within(SCOPE)] == ["Bash(one)", "Bash(two)"]
    assert [each.rule for each in grants.all()] == ["Bash(one)", "Bash(two)", "Bash(one)"]
    first = grants.all()[0]
    assert grants.revoke(first.id)
    assert not grants.revoke(first.id)
    assert [each.rule for each in grants.within(SCOPE)] == ["Bash(two)"]
    assert [each.rule for each in grants.within(elsewhere)] == ["Bash(one)"]
    grants.close()


def test_the_file_is_for_its_owner_only(state: Path) -> None:
    grants = Grants(state / GRANTS)
    grants.add(RULE, SCOPE)
    assert (state / GRANTS).stat().st_mode & 0o077 == 0
    grants.close()
    with sqlite3.connect(state / GRANTS) as db:
        assert db.execute("SELECT rule FROM grants").fetchall() == [(RULE,)]
    db.close()
