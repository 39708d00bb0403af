"""What of a changed configuration stays."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nacre.sandbox.protected.gitconfig import parse, write_entry, write_section
from nacre.sandbox.protected.keys import permitted
from nacre.sandbox.protected.merge import merge_config, merge_modules

GUARDED = """
alias.x = !evil
branch.x.mergeoptions = --strategy=evil
branch.x.remote = ext::sh -c evil
browser.x.cmd = evil
core.askpass = evil
core.attributesfile = evil
core.editor = evil
core.excludesfile = evil
core.fsmonitor = evil
core.gitproxy = evil
core.hookspath = evil
core.pager = evil
core.protecthfs = false
core.sshcommand = evil
core.worktree = /etc
credential.helper = !evil
credential.https://x.helper = !evil
diff.external = evil
diff.x.command = evil
diff.x.textconv = evil
difftool.x.cmd = evil
extensions.unheard = of
filter.x.clean = evil
filter.x.process = evil
filter.x.smudge = evil
fsmonitor.allowremote = true
gc.recentobjectshook = evil
gpg.program = evil
gpg.ssh.program = evil
guitool.x.cmd = evil
http.proxy = evil
http.sslverify = false
include.path = evil
includeif.gitdir:/.path = evil
instaweb.httpd = evil
interactive.difffilter = evil
lfs.customtransfer.x.path = evil
man.x.cmd = evil
merge.x.driver = evil
mergetool.x.cmd = evil
mergetool.x.path = evil
pager.log = evil
protocol.ext.allow = always
receive.procreceiverefs = x
remote.x.proxy = evil
remote.x.receivepack = evil
remote.x.uploadpack = evil
remote.x.url = ext::sh -c evil
remote.x.url = -oProxyCommand=evil
remote.x.vcs = evil
safe.directory = *
sendemail.smtpserver = evil
sequence.editor = evil
ssh.variant = x
submodule.x.update = !evil
submodule.x.url = ext::sh
trace2.eventtarget = /x
trailer.x.cmd = evil
trailer.x.command = evil
uploadpack.packobjectshook = evil
url.evil.insteadof = https://
url.evil.pushinsteadof = https://
user.signingkey = x
web.browser = evil
""".strip().splitlines()

PERMITTED = """
branch.x/y.merge = refs/heads/x
branch.x/y.rebase = true
branch.x/y.remote = origin
branch.sort = -committerdate
core.bare = false
core.repositoryformatversion = 1
core.sparsecheckout = true
core.worktree = ../../../sub
extensions.worktreeconfig = true
gc.auto = 0
init.defaultbranch = main
merge.conflictstyle = diff3
pull.rebase = true
remote.origin.fetch = +refs/heads/*:refs/remotes/origin/*
remote.origin.url = git@example.org:x/y.git
remote.origin.url = https://[::1]/x
remote.origin.url = ../up
rerere.enabled = true
submodule.x.active = true
submodule.x.update = rebase
submodule.x.url = https://example.org/x
user.email = a@example.org
user.name = A
""".strip().splitlines()


def text_of(line: str) -> bytes:
    name, _, value = line.partition(" = ")
    section, _, rest = name.partition(".")
    subsection, _, key = rest.rpartition(".")
    text = write_section(section, subsection or None) + write_entry(key, value)
    return text.encode("latin-1")


def inside(path: str) -> bool:
    return not path.startswith("/")


@pytest.mark.parametrize("line", GUARDED)
def test_a_key_that_runs_or_redirects_something_is_taken_back(line: str) -> None:
    old = b"[core]\n\tbare = false\n"
    merged = merge_config(old, old + text_of(line), inside)
    assert merged.data == old
    assert merged.undone == (f"key {line.partition(' = ')[0]} set",)
    assert merge_config(None, text_of(line), inside).data is None
    gone = merge_config(old + text_of(line), old, inside)
    assert gone.data == old + text_of(line)
    assert gone.undone == (f"key {line.partition(' = ')[0]} removed",)


@pytest.mark.parametrize("line", PERMITTED)
def test_a_key_of_ordinary_work_stays(line: str) -> None:
    old = b"[alias]\n\tx = y\n"
    new = old + text_of(line)
    merged = merge_config(old, new, inside)
    assert (merged.data, merged.undone) == (new, ())
    both = merge_config(old, new + b"[alias]\n\tx = evil\n", inside)
    assert both.data == new
    assert both.undone == ("key alias.x changed",)


def test_a_changed_value_is_taken_back_where_it_stood() -> None:
    old = b"# mine\n[alias]\n\tx = y ; why\n[user] name = A\n"
    new = b"# mine\n[alias]\n\tx = evil\n[user] name = B\n"
    merged = merge_config(old, new, inside)
    assert merged.data == b"# mine\n[alias]\n\tx = y ; why\n[user]\n\tname = B\n"
    assert merged.undone == ("key alias.x changed",)


def test_comments_of_a_script_go_and_others_stay() -> None:
    old = b"# mine\n[core]\n"
    merged = merge_config(old, old + b"# evil\n", inside)
    assert (merged.data, merged.undone) == (old, ("comments changed",))
    assert merge_config(old, b"# mine\n\n\n[core]\n", inside).undone == ()


def test_a_new_file_without_keys_keeps_no_comments() -> None:
    assert merge_config(None, b"# evil\n", inside).data is None
    assert merge_config(None, b"[core]\n# evil\n", inside).data == b"[core]\n"
    assert merge_config(None, b"[core]\n", inside).undone == ()


def test_what_cannot_be_read_is_taken_back_whole() -> None:
    merged = merge_config(b"[a]\n", b"[a]\nk = \\x\n[alias]\nx=y", inside)
    assert merged.data == b"[a]\n"
    assert merged.undone[0].startswith("cannot be read")


def test_the_order_of_values_counts_for_what_is_guarded() -> None:
    old = b"[core]\n\tpager = a\n\tpager = b\n"
    merged = merge_config(old, b"[core]\n\tpager = b\n\tpager = a\n", inside)
    assert (merged.data, merged.undone) == (old, ("key core.pager changed",))


LINES = st.sampled_from([text_of(line) for line in (*GUARDED, *PERMITTED)] + [b"# c\n", b"\n"])
TEXTS = st.lists(LINES, max_size=8).map(b"".join)


@given(TEXTS, TEXTS)
def test_whatever_was_guarded_is_as_before_and_the_rest_as_after(old: bytes, new: bytes) -> None:
    merged = merge_config(old, new, inside)
    assert merged.data is not None
    result = parse(merged.data).entries
    before, after = parse(old).entries, parse(new).entries
    assert [(e.name, e.value) for e in result if not permitted(e, inside)] == [
        (e.name, e.value) for e in before if not permitted(e, inside)
    ]
    mixed = {e.name for e in (*before, *after) if not permitted(e, inside)}
    wanted = sorted(repr((e.name, e.value)) for e in after if e.name not in mixed)
    assert sorted(repr((e.name, e.value)) for e in result if e.name not in mixed) == wanted
    assert merge_config(old, merged.data, inside).undone == ()


@pytest.mark.parametrize(
    ("old", "new", "left"),
    [
        (None, b'[submodule "x"]\n\tpath=x\n\tupdate=!evil\n', None),
        (b"", b'[submodule "x"]\n\tupdate = "!evil"\n', b""),
        (
            None,
            b'[submodule "x"]\n\tpath=x\n\tupdate=none\n',
            b'[submodule "x"]\n\tpath=x\n\tupdate=none\n',
        ),
        (None, b"<<<<<<< ours\n", b"<<<<<<< ours\n"),
        (None, b"<<<<<<< ours\nupdate=!x", None),
        (
            b'[submodule "a"]\n\tupdate=!mine\n',
            b'[submodule "a"]\n\tupdate=!mine\n[submodule "b"]\n\tupdate=!x\n[submodule "b"]\n\turl=y\n',
            b'[submodule "a"]\n\tupdate=!mine\n',
        ),
    ],
)
def test_a_submodule_with_a_command_goes_whole(
    old: bytes | None, new: bytes, left: bytes | None
) -> None:
    assert merge_modules(old, new).data == left
