"""Which keys of a repository's configuration a script may set.

A list of what git commands set in ordinary work. Whatever is not on it stays as it
was: keys that name programs (`core.fsmonitor`, `alias.*`, `filter.*`), that redirect
configuration (`include.path`, `core.hooksPath`) or addresses (`url.*.insteadOf`), and
every key that a later git may invent.
"""

from collections.abc import Callable

from nacre.model.expression import expression
from nacre.sandbox.protected.gitconfig import Entry

__all__ = ("is_command", "permitted")

_PLAIN = {
    "branch": "autosetupmerge autosetuprebase sort",
    "commit": "cleanup status verbose",
    "core": """abbrev autocrlf bare bigfilethreshold checkstat commitgraph eol filemode
        ignorecase logallrefupdates multipackindex precomposeunicode preloadindex quotepath
        repositoryformatversion safecrlf sparsecheckout sparsecheckoutcone splitindex symlinks
        untrackedcache worktree""",
    "diff": """algorithm colormoved colormovedws context ignoresubmodules indentheuristic
        interhunkcontext mnemonicprefix noprefix relative renamelimit renames submodule""",
    "extensions": """compatobjectformat noop objectformat partialclone preciousobjects refstorage
        relativeworktrees worktreeconfig""",
    "feature": "experimental manyfiles",
    "fetch": "all output parallel prune prunetags recursesubmodules unpacklimit writecommitgraph",
    "gc": """auto autodetach autopacklimit bigpackthreshold cruftpacks logexpiry packrefs
        pruneexpire reflogexpire reflogexpireunreachable rerereresolved rerereunresolved
        worktreepruneexpire writecommitgraph""",
    "index": "recordendofindexentries recordoffsettable skiphash sparse threads version",
    "init": "defaultbranch",
    "lfs": "repositoryformatversion",
    "log": "abbrevcommit date decorate follow graphcolors showroot",
    "maintenance": "auto autodetach strategy",
    "merge": """autostash branchdesc conflictstyle directoryrenames ff log renamelimit renames
        renormalize stat suppressdest verbosity""",
    "pull": "ff rebase",
    "push": "autosetupremote default followtags recursesubmodules",
    "rebase": """abbreviatecommands autosquash autostash backend forkpoint missingcommitscheck
        rebasemerges reschedulefailedexec stat updaterefs""",
    "remote": "pushdefault",
    "rerere": "autoupdate enabled",
    "sparse": "expectfilesoutsideofpatterns",
    "stash": "showincludeuntracked showpatch showstat",
    "status": """aheadbehind branch displaycommentprefix relativepaths renamelimit renames short
        showstash showuntrackedfiles submodulesummary""",
    "submodule": """active alternateerrorstrategy alternatelocation fetchjobs
        propagatebranches recurse stickyrecursiveclone""",
    "tag": "sort",
    "user": "email name useconfigonly",
}
_BELOW = {
    "branch": """base description gh-merge-base github-pr-base-branch github-pr-owner-number merge
        pushremote rebase remote vscode-merge-base""",
    "gc": "reflogexpire reflogexpireunreachable",
    "gitflow": "bugfix develop feature hotfix master release support versiontag",
    "lfs": "access locksverify",
    "maintenance": "auto enabled schedule",
    "remote": """fetch followremotehead gh-resolved mirror partialclonefilter projects promisor
        prune prunetags push pushurl skipdefaultupdate skipfetchall tagopt url""",
    "submodule": """active branch fetchrecursesubmodules gitdir ignore shallow update url""",
    "svn-remote": "branches fetch tags url",
}
_ANY = frozenset({"advice", "color", "column"})
_ADDRESSES = frozenset({"pushremote", "pushurl", "remote", "url"})

_PLAIN_KEYS = frozenset((section, key) for section, keys in _PLAIN.items() for key in keys.split())
_BELOW_KEYS = frozenset((section, key) for section, keys in _BELOW.items() for key in keys.split())

# `helper::address` runs the program git-remote-helper; `-x` would be an option of ssh.
_TRANSPORT = expression(r"\s*(?:-|[A-Za-z0-9_.+-]+::)")


def permitted(entry: Entry, inside: Callable[[str], bool]) -> bool:
    """Whether a script may set or remove this.

    `inside` says of a folder, relative to the git directory, whether a script may
    write in it: nobody's checkout is to land elsewhere.
    """
    value = entry.value or ""
    if entry.section in _ANY:
        return True
    if entry.subsection is None:
        if (entry.section, entry.key) == ("core", "worktree"):
            return inside(value)
        return (entry.section, entry.key) in _PLAIN_KEYS
    if (entry.section, entry.key) not in _BELOW_KEYS:
        return False
    if entry.section == "submodule" and entry.key == "gitdir":
        return inside(value)
    return not (is_command(entry) or (entry.key in _ADDRESSES and _TRANSPORT.match(value)))


def is_command(entry: Entry) -> bool:
    """Whether this is a submodule's way of updating that is a command of its own."""
    value = (entry.value or "").lstrip()
    return entry.section == "submodule" and entry.key == "update" and value.startswith("!")
