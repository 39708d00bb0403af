import pytest

from nacre.policy.reading.subcommand import past_globals


@pytest.mark.parametrize(
    ("line", "wanted"),
    [
        ("git push", None),
        ("ls -C x", None),
        ("git", None),
        ("git -C d push x", "git push x"),
        ("git -c a=b --no-pager --git-dir=x -C d push", "git push"),
        ("git -C", "git"),
        ("docker --context c compose -f x up", "docker compose up"),
        ("docker compose -p x down -v", "docker compose down -v"),
        ("docker compose up", None),
        ("docker -H h rm c", "docker rm c"),
        ("cargo +nightly publish", "cargo publish"),
        ("kubectl -n ns delete pod p", "kubectl delete pod p"),
        ("terraform -chdir=d destroy", "terraform destroy"),
    ],
)
def test_options_before_a_subcommand_are_left_out(line: str, wanted: str | None) -> None:
    found = past_globals(line.split())
    assert (" ".join(found) if found else None) == wanted
