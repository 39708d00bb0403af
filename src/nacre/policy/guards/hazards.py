"""The pack `hazards`: what agents do by mistake to a repository and to files.

The guards that a document names come first and alone make `DOCUMENTED_HAZARDS`;
`HAZARDS` adds what comes to the same.
"""

from nacre.model.expression import expression
from nacre.policy.guards.guard import Guard, Hit
from nacre.policy.guards.removal import DOCUMENTED_REMOVALS, REMOVALS
from nacre.policy.reading.flags import Arguments, Grammar, arguments
from nacre.policy.reading.paths import located, normal, settled
from nacre.syntax.script import Command, Script
from nacre.syntax.word import CWD, STAR, UNKNOWN, Word

__all__ = ("DOCUMENTED_HAZARDS", "HAZARDS")

_GIT = Grammar(
    valued=frozenset(
        {"C", "c", "attr-source", "config-env", "git-dir", "namespace", "super-prefix", "work-tree"}
    ),
    permutes=False,
)
_ADD = Grammar(
    long=frozenset(
        {"all", "chmod", "dry-run", "edit", "force", "ignore-errors", "ignore-missing"}
        | {"ignore-removal", "intent-to-add", "interactive", "no-all", "no-ignore-removal", "patch"}
        | {"pathspec-file-nul", "pathspec-from-file", "refresh", "renormalize", "sparse", "update"}
        | {"verbose", "no-warn-embedded-repo"}
    ),
    valued=frozenset({"chmod", "pathspec-from-file"}),
)
_PUSH = Grammar(
    long=frozenset(
        {"all", "atomic", "branches", "delete", "dry-run", "exec", "follow-tags", "force"}
        | {"force-if-includes", "force-with-lease", "ipv4", "ipv6", "mirror", "no-verify"}
        | {"porcelain", "progress", "prune", "push-option", "quiet", "receive-pack"}
        | {"recurse-submodules", "repo", "set-upstream", "signed", "tags", "thin", "verbose"}
    ),
    valued=frozenset({"o", "exec", "push-option", "receive-pack", "recurse-submodules", "repo"}),
)
# `:/`, `:(top)`, `:` and their like: pathspecs that match every file of the repository.
_MAGIC = expression(rf":(?:/|\((?:top|glob|,)*\))?(?:\.?/?|[*{STAR}]+)")
_EXCLUDES = expression(r":(?:[!^]|\([^)]*exclude)")


def _git(command: Command, *subcommands: str) -> tuple[Word, ...] | None:
    """The words after a subcommand of git, past the options before it."""
    rest = arguments(command.words[1:], _GIT).operands
    return rest[1:] if rest and not set(subcommands).isdisjoint(rest[0].values) else None


def _add(command: Command) -> Arguments | None:
    words = _git(command, "add", "stage")
    if words is None:
        return None
    given = arguments(words, _ADD)
    return None if given.has("n", "dry-run") else given


def _adds_all(command: Command, script: Script) -> Hit | None:
    del script
    given = _add(command)
    if given is None:
        return None
    if given.has("A", "all", "no-ignore-removal"):
        return Hit(command.span, "-A")
    for word in given.operands:
        if not {".", "*", STAR}.isdisjoint(word.templates):
            return Hit(command.span, word.source)
    return None


def _adds_everything(command: Command, script: Script) -> Hit | None:
    given = _add(command)
    if given is None or not given.operands:
        return None
    for word in given.operands:
        if any(_is_everything(template, command, script) for template in word.templates):
            return Hit(command.span, word.source)
    if all(_EXCLUDES.match(template) for word in given.operands for template in word.templates):
        return Hit(command.span, given.operands[0].source)
    return None


def _is_everything(pathspec: str, command: Command, script: Script) -> bool:
    if pathspec.startswith(":"):
        return _MAGIC.fullmatch(pathspec) is not None
    if pathspec[:1] in {"", *UNKNOWN}:
        return False
    path = located(pathspec.rstrip(STAR + "*") or ".", command.cwd)
    if path[0] == CWD and not path[1:].replace("/..", ""):
        return True
    here = settled(normal(command.cwd), script.surroundings)
    return f"{here}/".startswith(f"{settled(path, script.surroundings)}/")


def _push(command: Command) -> Arguments | None:
    words = _git(command, "push")
    if words is None:
        return None
    given = arguments(words, _PUSH)
    return None if given.has("n", "dry-run") else given


def _forces(command: Command, script: Script) -> Hit | None:
    del script
    given = _push(command)
    return Hit(command.span, "--force") if given and given.has("f", "force") else None


def _forces_by_name(command: Command, script: Script) -> Hit | None:
    del script
    given = _push(command)
    if given is None:
        return None
    if given.has("mirror"):
        return Hit(command.span, "--mirror")
    for word in given.operands:
        if any(template.startswith("+") for template in word.templates):
            return Hit(command.span, word.source)
    return None


_GIT_ADD_INSTEAD = "Name the files: git add path1 path2; git status --short lists what has changed."
_GIT_PUSH_INSTEAD = "Use --force-with-lease, or push without force."
_NAMES = frozenset({"git"})

_DOCUMENTED_GIT = (
    Guard(
        name="git-add",
        reason="A blind git add takes in every file, also those that were not meant.",
        suggestion=_GIT_ADD_INSTEAD,
        find=_adds_all,
        names=_NAMES,
        examples=("git add -A", "git -C repo add -v --al", "git stage ."),
        counterexamples=("git add src/*", "git add -n .", "git commit -m 'git add -A'"),
    ),
    Guard(
        name="git-push",
        reason="A forced push overwrites what others have pushed.",
        suggestion=_GIT_PUSH_INSTEAD,
        find=_forces,
        names=_NAMES,
        examples=("git push --force", "git push -uf origin main"),
        counterexamples=("git push --force-with-lease", "git push -o force", "git push -- -f"),
    ),
)

DOCUMENTED_HAZARDS = (*_DOCUMENTED_GIT, *DOCUMENTED_REMOVALS)

HAZARDS = (
    *_DOCUMENTED_GIT,
    Guard(
        name="git-add-all",
        reason="This pathspec takes in every file, also those that were not meant.",
        suggestion=_GIT_ADD_INSTEAD,
        find=_adds_everything,
        names=_NAMES,
        examples=("git add ./", "git add :/", "git add -- ':!secrets'"),
        counterexamples=("git add ./src", "git add '*.py'"),
    ),
    Guard(
        name="git-push-ref",
        reason="A push of +ref or --mirror overwrites what others have pushed.",
        suggestion=_GIT_PUSH_INSTEAD,
        find=_forces_by_name,
        names=_NAMES,
        examples=("git push origin +main", "git push --mirror backup"),
        counterexamples=("git push origin main", "git push origin :old"),
    ),
    *REMOVALS,
)
