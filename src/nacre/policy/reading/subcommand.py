"""Options that stand before a subcommand: `git -C folder push` is a push."""

from collections.abc import Sequence

__all__ = ("past_globals",)

# For each program, those of its options before the subcommand whose value is the next word.
_VALUED: dict[str, frozenset[str]] = {
    name: frozenset(options.split())
    for name, options in {
        "apt": "-o -c -t",
        "apt-get": "-o -c -t",
        "aws": "--profile --region --output --endpoint-url --query --color --ca-bundle "
        "--cli-read-timeout --cli-connect-timeout",
        "az": "--output -o --query --subscription",
        "bun": "--cwd -c --config",
        "cargo": "--color --config -C -Z",
        "conda": "",
        "docker": "-c --context -H --host -l --log-level --config --tlscacert --tlscert --tlskey",
        "docker compose": "-f --file -p --project-name --profile --env-file --project-directory "
        "--ansi --progress --parallel",
        "gcloud": "--project --account --configuration --format --verbosity",
        "gh": "-R --repo --hostname",
        "git": "-C -c --git-dir --work-tree --namespace --exec-path --config-env --super-prefix "
        "--attr-source",
        "go": "-C",
        "helm": "-n --namespace --kube-context --kubeconfig",
        "hg": "-R --repository --cwd --config",
        "kubectl": "-n --namespace --context --kubeconfig --cluster --user -s --server --token "
        "--as -v",
        "npm": "--prefix -C --registry --userconfig -w --workspace --loglevel --cache",
        "pip": "--python --proxy --log --cache-dir",
        "pip3": "--python --proxy --log --cache-dir",
        "pnpm": "-C --dir --filter -F --registry --loglevel",
        "podman": "-c --connection --url --log-level --root --runroot",
        "systemctl": "-H --host -M --machine -t --type -p --property --root -n -o --state",
        "terraform": "",
        "uv": "--directory --project --color --config-file --cache-dir --python",
        "yarn": "--cwd --use-yarnrc",
    }.items()
}


def past_globals(words: Sequence[str]) -> tuple[str, ...] | None:
    """The words of a command without the options before its subcommand.

    Nothing if it has none, or is not a command that has subcommands.
    """
    valued = _VALUED.get(words[0])
    if valued is None:
        return None
    at = _subcommand(words, 1, valued)
    nested = _VALUED.get(f"{words[0]} {words[at]}") if at < len(words) else None
    if nested is not None:
        below = _subcommand(words, at + 1, nested)
        if at == 1 and below == at + 1:
            return None
        return (words[0], words[at], *words[below:])
    return None if at == 1 else (words[0], *words[at:])


def _subcommand(words: Sequence[str], at: int, valued: frozenset[str]) -> int:
    """Where the first word stands that is neither an option nor the value of one."""
    while at < len(words) and words[at][:1] in {"-", "+"}:
        at += 2 if words[at] in valued else 1
    return min(at, len(words))
