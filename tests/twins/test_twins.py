"""What a script finds out about its shell is the same in a spare; `python -m twins` tries thousands."""

from pathlib import Path

import pytest

from nacre.process.spares import may_tell
from twins.twins import twins

pytestmark = pytest.mark.anyio
_SCRIPTS = [
    "echo $0 $- $# $? $_ $LINENO $SHLVL $BASH_SUBSHELL; echo $BASHOPTS; echo $SHELLOPTS",
    'echo "$SECONDS"; declare -x; export -p; umask; trap; shopt -p; set -o; set +o; jobs',
    "ulimit -a | grep -Ev 'locks|processes'; ulimit -Ha | grep -Ev 'locks|processes'; hash; alias; enable -a; bind -V",
    'for each in {0..40}; do { true >&"$each"; } 2>/dev/null && echo "$each"; done',
    "exec 7>&1; echo seven >&7; exec 7>&-; echo gone >&7; cat; read -r line; echo $? >&0",
    "kill -l; trap 'echo int' INT; kill -INT $$; trap - INT; (trap 'echo term; exit 4' TERM; kill $BASHPID)",
    "trap 'echo bye $? $LINENO' EXIT; trap 'echo err $LINENO' ERR; false; exit 5",
    "set -e; echo one; false; echo never",
    "set -u; echo $nothing; echo never",
    "set -x; x=1; echo $x; (echo sub); f() { echo in; }; f",
    "if then",
    "echo one\necho two\nif; then\n",
    "echo 'never ended",
    "cat <<EOF\nno end $((1 + 1))",
    "cat <<'A' <<B\none\nA\ntwo $LINENO\nB\necho $LINENO",
    "nosuchcommand\n\n\nnosuchcommand\n./notes.txt\n/tmp\n",
    "f() { caller; return 3; }; f; echo $? ${FUNCNAME[0]} ${BASH_SOURCE[0]} ${BASH_LINENO[0]}",
    "exec sh -c 'echo $0 $PPID | grep -c .; exit 6'",
    "sh -c 'echo $PPID' | grep -c .; bash -c 'echo $0 $-'; env -i bash -c 'echo $-; shopt -p | sha256sum'",
    "source /dev/stdin <<< 'echo sourced $0 $LINENO'; eval 'echo evaluated $LINENO; nosuchcommand'",
    "return 3; break; continue; exit 300",
    "exit -1",
    "kill -9 $$",
    "kill -TERM $$; echo never",
    "(exit 7) & wait $!; echo $?; wait; jobs; sleep 0.01 & disown; echo $!| grep -c .",
    "coproc cat; echo hi >&${COPROC[1]}; read -r -u ${COPROC[0]} x; echo $x",
    "shopt -s expand_aliases extglob nullglob; alias a='echo alias'\na; echo !(notes.txt) *.none",
    "printf '%s|' \"$@\"; set -- a b; shift; echo $1 $#; echo ${!x} ${x:-y} ${x:?gone}",
    "echo $((1 / 0)); echo never", "declare -r r=1; r=2; echo $?", "x=(1 2); echo ${x[@]} ${#x[@]}",
    "mapfile -t lines < notes.txt; echo ${lines[1]}; while read -r l; do echo $l; done < notes.txt",
    "time true 2>/dev/null; times | wc -l; type echo cd ls | head -2; command -v ls; pwd; pwd -P; dirs",
    "cd src && pwd && echo $PWD $OLDPWD; cd - ; cd /nowhere; popd; pushd src",
    "getopts ab: o -a -b x; echo $o $OPTIND; echo $RANDOM | grep -c .; printf '%(%Y)T\\n' -1 | wc -c",
    "echo \xff\xfe | od -c | head -1; printf 'a\\0b' | od -c | head -1; echo é ü",
    ": ${X:=1}; export X; env | grep ^X; unset PATH; ls; echo $?",
    "", "# nothing", "   \n\n", "true;;", "(((", "[[ a", "echo `", "case x in", "function", "!", "&",
]  # fmt: skip


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.mark.parametrize(
    "sandbox", ["landlock", pytest.param("bubblewrap", marks=pytest.mark.needs("bubblewrap"))]
)
async def test_no_script_finds_another_shell_than_a_plain_one(
    sandbox: str, workspace: Path, state: Path
) -> None:
    async with twins(sandbox, workspace, state) as pair:
        for script in _SCRIPTS:
            assert not may_tell(script), script
            assert await pair.differ(script) is None, script
