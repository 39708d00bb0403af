"""Commands that run commands, one level deep.

In the tables, `…` is text that is not known, `$X` words that are not known, and
`~` the home directory. What is read as bash is shown in angle brackets.
"""

import shlex

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nacre.syntax.script import Assigned, Command, ViaKind
from nacre.syntax.tree import Span
from nacre.syntax.word import FIELDS, HOLE, HOME, QUERY, STAR, Expansion, Word, shown
from nacre.syntax.wrappers.look_through import Inner, inners, produced

SPAN = Span(0, 1)


def word(text: str) -> Word:
    marked = text.replace("…", HOLE).replace("$X", FIELDS)
    if marked[:1] == "~":
        marked = HOME + marked[1:]
    return Word(text, SPAN, (marked,))


def command(line: str) -> Command:
    return Command(words=tuple(map(word, shlex.split(line))), span=SPAN)


def texts(words: tuple[Word, ...]) -> str:
    return " ".join("|".join(map(shown, each.templates)) for each in words)


def seen(inner: Inner) -> str:
    return texts(inner.words) if inner.words else f"<{texts(inner.code)}>"


def behind(line: str, stdin: str | None = None) -> list[str]:
    text = Word("", SPAN, (stdin,)) if stdin is not None else None
    return [seen(inner) for inner in inners(command(line), text)]


@pytest.mark.parametrize(
    ("line", "runs"),
    [
        ("timeout 5 rm x", "rm x"),
        ("timeout -k 5 10 rm x", "rm x"),
        ("timeout -sKILL 5s rm x", "rm x"),
        ("timeout --signal=9 --kill-after 3 5 rm x", "rm x"),
        ("timeout --sig KILL 5 rm x", "rm x"),
        ("time -p rm x", "rm x"),
        ("/usr/bin/time -f %e -o out rm x", "rm x"),
        ("nice rm x", "rm x"),
        ("nice -n 19 rm x", "rm x"),
        ("nice -19 rm x", "rm x"),
        ("nice --19 rm x", "rm x"),
        ("nice --adj=5 rm x", "rm x"),
        ("nohup rm x", "rm x"),
        ("nohup -- rm x", "rm x"),
        ("stdbuf -oL -e 0 rm x", "rm x"),
        ("command rm x", "rm x"),
        ("command -p rm x", "rm x"),
        ("builtin command rm x", "command rm x"),
        ("xargs rm", "rm …"),
    ],
)
def test_a_transparent_wrapper_runs_what_follows_it(line: str, runs: str) -> None:
    assert behind(line) == [runs]
    assert [inner.via.kind for inner in inners(command(line))] == [ViaKind.TRANSPARENT]


@pytest.mark.parametrize(
    ("line", "runs"),
    [
        ("sudo rm x", "rm x"),
        ("sudo -u bob -E rm x", "rm x"),
        ("sudo -nu bob rm x", "rm x"),
        ("sudo --us bob -- rm x", "rm x"),
        ("sudo -E VAR=1 rm x", "rm x"),
        ("sudo -s rm x", "rm x"),
        ("/usr/bin/sudo rm x", "rm x"),
        ("…/bin/sudo rm x", "rm x"),
        ("~/bin/sudo rm x", "rm x"),
        ("doas -u bob rm x", "rm x"),
        ("env rm x", "rm x"),
        ("env -i -u P A=1 B=2 rm x", "rm x"),
        ("env - rm -", "rm -"),
        ("env --unset=P --chdir /d rm x", "rm x"),
        ("env -S 'A=1 rm -rf /' x", "env A=1 rm -rf / x"),
        ("env -vS 'rm \"a b\"'", "env rm a b"),
        ("env '-Srm x'", "env rm x"),
        ("env --split='rm x'", "env rm x"),
        ("exec rm x", "rm x"),
        ("exec -a name rm x", "rm x"),
        ("setsid -w rm x", "rm x"),
        ("ionice -c 3 -n7 rm x", "rm x"),
        ("chrt -f 10 rm x", "rm x"),
        ("chrt -b rm x", "rm x"),
        ("taskset -c 0-3 rm x", "rm x"),
        ("taskset 0x3 rm x", "rm x"),
        ("flock /l rm x", "rm x"),
        ("flock -n -w 5 /l rm x", "rm x"),
        ("flock -n /l -c 'rm x'", "<rm x>"),
        ("strace -f -e trace=file -o out rm x", "rm x"),
        ("ltrace -S rm x", "rm x"),
        ("gdb -q --args rm x", "rm x"),
        ("valgrind --tool=memcheck rm x", "rm x"),
        ("watch rm x", "<rm x>"),
        ("watch -d -n 2 'rm x; ls'", "<rm x; ls>"),
        ("watch -n2 -x rm x", "rm x"),
        ("script -c 'rm x'", "<rm x>"),
        ("script -qc 'rm x' /dev/null", "<rm x>"),
        ("script -q /dev/null rm x", "rm x"),
        ("script f -- rm x", "rm x"),
        ("unshare -rm --fork rm x", "rm x"),
        ("nsenter -t 1 -m -u rm x", "rm x"),
        ("chroot /d rm x", "rm x"),
        ("chroot --userspec=a:b /d rm x", "rm x"),
        ("busybox rm x", "rm x"),
        ("toybox rm x", "rm x"),
        ("systemd-run --user -p A=b --scope rm x", "rm x"),
        ("caffeinate -i -t 5 rm x", "rm x"),
        ("catchsegv rm x", "rm x"),
        ("rlwrap -a rm x", "rm x"),
        ("proot -r /d -b /dev rm x", "rm x"),
        ("firejail --net=none rm x", "rm x"),
        ("bwrap --ro-bind / / --dev /dev --unshare-all -- rm x", "rm x"),
        ("bwrap --bind a b rm x", "rm x"),
        ("faketime '2020-01-01' rm x", "rm x"),
        ("unbuffer rm x", "rm x"),
        ("chronic rm x", "rm x"),
        ("dbus-run-session -- rm x", "rm x"),
        ("xvfb-run -a -s '-screen 0' rm x", "rm x"),
        ("pkexec --user bob rm x", "rm x"),
        ("run0 -u bob rm x", "rm x"),
        ("setpriv --reuid 1 --clear-groups rm x", "rm x"),
        ("prlimit --nofile=5 rm x", "rm x"),
        ("numactl -N 0 -m 0 rm x", "rm x"),
        ("cgexec -g cpu:x rm x", "rm x"),
        ("torsocks rm x", "rm x"),
        ("proxychains4 -q -f c rm x", "rm x"),
        ("sshpass -p pw rm x", "rm x"),
        ("/lib64/ld-linux-x86-64.so.2 /bin/rm x", "/bin/rm x"),
        ("su -c 'rm x' root", "<rm x>"),
        ("su - bob -c 'rm x'", "<rm x>"),
        ("su bob -- -c 'rm x'", "sh -c rm x"),
        ("runuser -u bob -- rm x", "rm x"),
        ("runuser -l bob -c 'rm x'", "<rm x>"),
        ("sg staff -c 'rm x'", "<rm x>"),
        ("capsh --drop=all -- -c 'rm x'", "bash -c rm x"),
        ("start-stop-daemon -S --exec /bin/rm -- -rf x", "/bin/rm -rf x"),
        ("tmux new-session -d -s n 'rm x'", "<rm x>"),
        ("tmux send-keys -t n 'rm x' Enter", "<rm x>"),
        ("screen -dmS n rm x", "rm x"),
        ("xterm -e rm x", "rm x"),
        ("ip netns exec n rm x", "rm x"),
        ("jobs -x rm x", "rm x"),
    ],
)
def test_a_wrapper_runs_what_follows_its_options(line: str, runs: str) -> None:
    assert behind(line) == [runs]
    assert all(inner.via.kind is not ViaKind.TRANSPARENT for inner in inners(command(line)))


@pytest.mark.parametrize(
    ("line", "runs"),
    [
        ("npx -y cowsay hi", "cowsay hi"),
        ("npx -p a -- rm x", "rm x"),
        ("npx -c 'rm x'", "<rm x>"),
        ("npx cross-env CI=1 jest", "cross-env CI=1 jest"),
        ("cross-env CI=1 rm x", "rm x"),
        ("bunx rm x", "rm x"),
        ("pnpm dlx rm x", "rm x"),
        ("npm exec -- rm x", "rm x"),
        ("npm --prefix d exec rm x", "rm x"),
        ("yarn dlx rm x", "rm x"),
        ("uvx rm x", "rm x"),
        ("uv tool run rm x", "rm x"),
        ("uv run --with a -p 3.12 rm x", "rm x"),
        ("pipx run rm x", "rm x"),
        ("poetry run rm x", "rm x"),
        ("bundle exec rm x", "rm x"),
        ("direnv exec . rm x", "rm x"),
        ("mise exec node@20 -- rm x", "rm x"),
        ("mise x -c 'rm x'", "<rm x>"),
        ("devbox run -- rm x", "rm x"),
        ("conda run -n e --no-capture-output rm x", "rm x"),
        ("pdm run rm x", "rm x"),
        ("rye run rm x", "rm x"),
        ("dotenv -e .env -- rm x", "rm x"),
        ("dotenv -f .env run -- rm x", "rm x"),
        ("dotenvx run -f .env -- rm x", "rm x"),
        ("nix-shell -p a --run 'rm x'", "<rm x>"),
        ("nix-shell --command 'rm x'", "<rm x>"),
        ("nix shell nixpkgs#a -c rm x", "rm x"),
        ("nodemon --exec 'rm x'", "<rm x>"),
        ("watchexec -e py -- rm x", "<rm x>"),
    ],
)
def test_a_runner_runs_a_program_in_an_environment(line: str, runs: str) -> None:
    assert behind(line) == [runs]


@pytest.mark.parametrize(
    ("line", "runs"),
    [
        ("ssh host rm -rf /", "<rm -rf />"),
        ("ssh -p 22 -i key -o A=b u@host 'rm x; ls'", "<rm x; ls>"),
        ("ssh host -t rm x", "<rm x>"),
        ("docker exec c rm x", "rm x"),
        ("docker exec -it -u root -e A=1 c sh -c 'rm x'", "sh -c rm x"),
        ("docker run --rm -v /:/h --network none img rm x", "rm x"),
        ("docker run --entrypoint rm img -rf /", "rm -rf /"),
        ("docker --context a container exec c rm x", "rm x"),
        ("docker compose -f f exec -T web rm x", "rm x"),
        ("docker-compose run --rm web rm x", "rm x"),
        ("podman run img rm x", "rm x"),
        ("docker run --env A --publish 1:2 --volume a:b img rm x", "rm x"),
        ("docker exec … rm x", "rm x"),
        ("docker exec $X rm x", "rm x"),
        ("ssh $X rm x", "<rm x>"),
        ("ssh … rm x", "<rm x>"),
        ("ansible all -m shell -a 'rm x'", "<rm x>"),
        ("kubectl -n ns exec -it pod -c c -- rm x", "rm x"),
        ("kubectl run n --image=i --rm -it -- rm x", "rm x"),
        ("vagrant ssh -c 'rm x'", "<rm x>"),
        ("lxc exec c -- rm x", "rm x"),
        ("lxc exec c rm x", "rm x"),
        ("rsync --rsync-path='rm x' a h:b", "<rm x>"),
    ],
)
def test_what_runs_elsewhere_is_remote(line: str, runs: str) -> None:
    assert behind(line) == [runs]
    assert [inner.via.kind for inner in inners(command(line))] == [ViaKind.REMOTE]


@pytest.mark.parametrize(
    ("line", "runs"),
    [
        ("bash -c 'rm x'", "<rm x>"),
        ("/bin/sh -c 'rm x'", "<rm x>"),
        ("bash -lc 'rm x'", "<rm x>"),
        ("bash -cx 'rm x'", "<rm x>"),
        ("bash -c -e 'rm x'", "<rm x>"),
        ("bash -c -- 'rm x'", "<rm x>"),
        ("bash -euo pipefail -c 'rm x'", "<rm x>"),
        ("bash -oc pipefail 'rm x'", "<rm x>"),
        ("bash -O extglob +o posix +x -c 'rm x'", "<rm x>"),
        ("bash --norc --rcfile f -c 'rm x'", "<rm x>"),
        ("bash -norc -c 'rm x'", "<rm x>"),
        ("bash -n +n -c 'rm x'", "<rm x>"),
        ("zsh -fc 'rm x'", "<rm x>"),
        ("dash -c 'rm x'", "<rm x>"),
        ("bash $X 'rm x'", "<rm x>"),
        ("bash … 'rm x'", "<rm x>"),
        ("eval rm -rf /", "<rm -rf />"),
        ("eval -- 'rm x'", "<rm x>"),
        ("trap 'rm x' EXIT INT", "<rm x>"),
        ("trap -- 'rm x' 0", "<rm x>"),
        ("mapfile -C 'rm x' -c 1 a", "<rm x 0 …>"),
        ("compgen -C 'rm x'", "<rm x>"),
        ("printf -v 'a[$(rm x)]' y", "<: $(rm x)>"),
        ("read 'a[$(rm x)]'", "<: $(rm x)>"),
        ("unset 'a[`rm x`]'", "<: `rm x`>"),
        ("let 'a[$(rm x)]=1'", "<: $(rm x)>"),
        ("[ -v 'a[$(rm x)]' ]", "<: $(rm x)>"),
        ("sort --compress-program='rm x' f", "<rm x>"),
        ("sort --compress-prog 'rm x' f", "<rm x>"),
        ("man -P 'rm x' ls", "<rm x>"),
        ("go test -exec 'rm x' ./...", "<rm x>"),
        ("split --filter='rm x' f", "<rm x>"),
        ("rg --pre 'rm' x", "<rm>"),
        ("tar cf a b --checkpoint=1 --checkpoint-action=exec='rm x'", "<rm x>"),
        ("tar cf a b --checkpoint-act 'exec=rm x'", "<rm x>"),
        ("tar -xf a --to-command='rm x'", "<rm x>"),
        ("tar -cI 'rm x' -f a b", "<rm x>"),
        ("tar cIf 'rm x' a b", "<rm x>"),
        ("tar --use-comp='rm x' -cf a b", "<rm x>"),
        ("rsync -aze 'rm x' a b", "<rm x>"),
        ("rsync --rsh='rm x' a b", "<rm x>"),
        ("ssh -o ProxyCommand='rm x' -N h", "<rm x>"),
        ("scp -oProxyCommand='rm x' a h:b", "<rm x>"),
        ("ncat --sh-exec 'rm x' h 1", "<rm x>"),
        ("socat - EXEC:'rm x'", "<rm x>"),
        ("vim -c '!rm x' f", "<rm x>"),
        ("vim '+:silent !rm x' f", "<rm x>"),
        ("ex -c '%!rm x' f", "<rm x>"),
        ("gdb -batch -ex 'shell rm x'", "<rm x>"),
        ("sqlite3 db '.shell rm x'", "<rm x>"),
        ("sed '1e rm x' f", "<rm x>"),
        ("sed -n -e '/a/,$!{s/x/y/;e rm x' -e '}' f", "<rm x>"),
        ("sed 's/.*/rm x/e' f", "<rm x>"),
        ("sed 's,a,rm \\,,ge' f", "<rm ,>"),
    ],
)
def test_a_text_given_to_a_shell_is_code(line: str, runs: str) -> None:
    assert behind(line) == [runs]


@pytest.mark.parametrize(
    ("line", "runs"),
    [
        ("git submodule foreach --recursive 'rm x'", "<rm x>"),
        ("git rebase -i --exec 'rm x' HEAD~3", "<rm x>"),
        ("git rebase -x 'rm x'", "<rm x>"),
        ("git bisect run rm x", "rm x"),
        ("git -c alias.a='!rm x' a 'b c'", "<rm x 'b c'>"),
        ("git -C d -c Alias.a='push --force' a", "git push --force"),
        ("git -c core.pager='rm x' log", "<rm x>"),
        ("git -c core.sshCommand='rm x' fetch", "<rm x>"),
        ("git -c credential.helper='!rm x' fetch", "<rm x>"),
        ("git -c filter.a.clean='rm x' add f", "<rm x>"),
        ("git clone -c core.fsmonitor='rm x' u", "<rm x>"),
        ("git clone 'ext::rm% x'", "<rm x>"),
        ("git fetch --upload-pa='rm x' r", "<rm x>"),
        ("git difftool -x 'rm x'", "<rm x>"),
        ("git grep -O'rm x' y", "<rm x>"),
        ("git filter-branch --tree-filter 'rm x' HEAD", "<rm x>"),
    ],
)
def test_git_runs_what_its_options_and_settings_say(line: str, runs: str) -> None:
    assert behind(line) == [runs]


@pytest.mark.parametrize(
    "line",
    [
        "ls -la",
        "rm -rf /",
        "command -v rm",
        "command -pV rm",
        "sudo -l rm",
        "sudo -v",
        "sudo -e f",
        "sudo --help",
        "env",
        "env -i",
        "env --help rm",
        "env A=1",
        "timeout --version",
        "ionice -p 5",
        "taskset -p 5",
        "flock 9",
        "exec",
        "xargs",
        "xargs -0",
        "find . -name rm",
        "find . -delete",
        "fd rm",
        "parallel --dry-run rm ::: a",
        "bash",
        "bash script.sh -c rm",
        "bash -n -c 'rm x'",
        "bash … reboot",
        "sh -c",
        "trap - EXIT",
        "trap '' INT",
        "trap EXIT",
        "trap -p",
        "trap -l",
        "source x.sh",
        ". ./env",
        "printf '%s' 'a[$(rm x)]'",
        "export 'PS=[$(rm x)]'",
        "git commit -m 'rm -rf /'",
        "git push -o force",
        "git -c user.name=rm add .",
        "git -c core.fsmonitor=true status",
        "git -c alias.a='!rm x' b",
        "git rm x",
        "docker rm c",
        "docker ps",
        "docker run img",
        "npm run rm",
        "npm install",
        "ssh host",
        "ssh -N -L 1:a:2 host",
        "scp a h:b",
        "tar xzf a.tgz -C /tmp",
        "rsync -a a b",
        "sort -k2 f",
        "sed 's/rm -rf \\//safe/e2' --sandbox f",
        "sed 's/e/rm x/' f",
        "sed -i 's/sudo //' x.sh",
        "sed '/e rm/d' f",
        "sed 'a\\' -e 'text' f",
        "vim su",
        "vim -c 'set nu' f",
        "make -j8 rm",
        "type rm",
        "which rm",
        "dotenv list",
        "tmux ls",
        "kubectl get pods",
        "docker run img --flag rm",
        "docker exec c",
        "ssh h -M -S /s -N",
        "go test -v ./...",
        "bat --pager never f",
        "corepack enable",
        "screen -r rm",
        "screen -x rm -X title a",
        "tmux send-keys -t n C-c Escape Enter",
        "sg run --pattern rm",
        "ansible all -m debug -a rm",
        "./script rm x",
        "bin/watch rm x",
    ],
)
def test_what_runs_nothing_has_nothing_inside(line: str) -> None:
    assert behind(line) == []


def test_input_that_is_no_code_is_not_read() -> None:
    assert behind("sed 's/a/rm x/' f", "e rm y") == []
    assert behind("echo rm x", "rm y") == []


@pytest.mark.parametrize(
    ("line", "stdin", "runs"),
    [
        ("bash", "rm x", ["<rm x>"]),
        ("bash -", "rm x", ["<rm x>"]),
        ("bash -x -s a b", "rm x", ["<rm x>"]),
        ("sh /dev/stdin", "rm x", ["<rm x>"]),
        ("bash -c ls", "rm x", ["<ls>"]),
        ("bash f", "rm x", []),
        ("source /dev/stdin", "rm x", ["<rm x>"]),
        (". /dev/fd/0", "rm x", ["<rm x>"]),
        ("sudo -i", "rm x", ["<rm x>"]),
        ("su - bob", "rm x", ["<rm x>"]),
        ("chroot /d", "rm x", ["<rm x>"]),
        ("ssh host", "rm x", ["<rm x>"]),
        ("ssh -T host", "rm x", ["<rm x>"]),
        ("at now", "rm x", ["<rm x>"]),
        ("at -l", "rm x", []),
        ("ex f", "!rm x\nq", ["<rm x>"]),
        ("sed e", "rm x", ["<rm x>"]),
        ("sed -f - f", "1e rm x", ["<rm x>"]),
        ("xargs rm", "a b\nc", ["rm a b c"]),
        ("xargs -n1 rm", "a b", ["rm a", "rm b"]),
        ("xargs -n 2 rm", "a b c", ["rm a b", "rm c"]),
        ("xargs rm", "'a b' c\\ d", ["rm a b c d"]),
        ("xargs -0 bash -c", "rm x", ["bash -c rm x"]),
        ("xargs -d, rm", "a,b", ["rm a b"]),
        ("xargs -I{} rm {}/y", "a\nb", ["rm a/y|b/y"]),
        ("xargs -I % sh -c 'rm %'", "a b", ["sh -c rm a b"]),
        ("xargs -a f rm", "a", ["rm …"]),
        ("parallel", "rm x\nls", ["<rm x\nls>"]),
        ("parallel rm", "a\nb c", ["<rm a|'b c'>"]),
        ("parallel --pipe wc", "a", ["<wc>"]),
    ],
)
def test_known_input_is_read(line: str, stdin: str, runs: list[str]) -> None:
    assert behind(line, stdin) == runs


@pytest.mark.parametrize(
    ("line", "runs"),
    [
        ("xargs -r rm", ["rm …"]),
        ("xargs -P4 -n 1 rm", ["rm …"]),
        ("xargs -I{} rm {}", ["rm …"]),
        ("xargs -i rm {}", ["rm …"]),
        ("xargs --max-args=1 rm", ["rm …"]),
        ("xargs --max-p 4 rm", ["rm …"]),
        ("parallel rm ::: a b", ["<rm a|b>"]),
        ("parallel -j 4 rm {} -v ::: a", ["<rm a -v>"]),
        ("parallel ::: 'rm x' ls", ["<rm x\nls>"]),
        ("parallel rm :::: f", ["<rm …>"]),
        ("sem -j 4 rm x", ["<rm x>"]),
        ("find . -exec rm {} ;", ["rm .|./…"]),
        ("find / -maxdepth 0 -exec rm -rf {} ;", ["rm -rf /"]),
        ("find . -type f -exec rm {} +", ["rm ./…"]),
        ("find . -exec a ; -ok b ; -execdir c {} + -okdir d ;", ["a", "b", "c .|./…", "d"]),
        ("find ~ -name id_rsa -exec cat {} ;", ["cat …/id_rsa"]),
        ("find . ( -name '*.pem' -o -name k? ) -exec cat {} +", ["cat …/*.pem|…/k?"]),
        ("find . -iname .ENV -exec cat {} +", ["cat …/.ENV|…/.env"]),
        ("find . -path '*/.ssh/*' -exec cat {} +", ["cat …/.ssh/…"]),
        ("find . ! -name .env -exec cat {} +", ["cat ./…"]),
        ("find . -exec sh -c 'rm {}' ;", ["sh -c rm .|rm ./…"]),
        ("fd -e pem -x cat", ["cat …/*.pem"]),
        ("fd -H id_rsa / -X cat {} ;", ["cat …/id_rsa"]),
    ],
)
def test_a_fan_out_runs_a_command_for_each(line: str, runs: list[str]) -> None:
    assert behind(line) == runs
    assert {inner.via.kind for inner in inners(command(line))} == {ViaKind.FANOUT}


@pytest.mark.parametrize(
    ("line", "runs"),
    [
        ("sudo $X rm y", ["rm y", "… rm y"]),
        ("sudo -Q foo rm y", ["foo rm y", "rm y"]),
        ("env $X rm y", ["rm y", "… rm y"]),
        ("timeout $X 5 rm y", ["rm y", "5 rm y"]),
        ("timeout … git rm y", ["git rm y"]),
        ("timeout $X git rm y", ["git rm y"]),
        ("flock $X git rm y", ["git rm y"]),
        ("nice -n… rm y", ["rm y"]),
        ("nice -… rm y", ["rm y", "y"]),
        ("hatch run test:rm y", ["test:rm y", "rm y"]),
    ],
)
def test_words_that_can_be_read_in_several_ways_are(line: str, runs: list[str]) -> None:
    assert list(dict.fromkeys(behind(line))) == runs


@pytest.mark.parametrize(
    ("line", "runs"),
    [
        ("ssh $X user@host rm y", ["<rm y>", "<user@host rm y>"]),
        ("ssh $X host git rm y", ["<git rm y>", "<host git rm y>"]),
        ("docker exec $X c git rm y", ["git rm y", "c git rm y"]),
        ("timeout $X 5 rm y", ["rm y", "5 rm y"]),
        ("flock $X f git rm y", ["git rm y", "f git rm y"]),
    ],
)
def test_a_variable_named_like_options_is_taken_for_some(line: str, runs: list[str]) -> None:
    words = tuple(
        Word("$OPTS", SPAN, (FIELDS,), (Expansion("SSH_OPTS", ""),))
        if each.source == "$X"
        else each
        for each in command(line).words
    )
    found = inners(Command(words=words, span=SPAN))
    assert list(dict.fromkeys(map(seen, found))) == runs


def test_an_unknown_word_before_options_of_another_program_is_that_program() -> None:
    assert behind("env $X --prompt rm") == ["… --prompt rm"]


def test_doubt_does_not_grow_without_bound() -> None:
    assert len(behind("sudo " + "-Q " * 200 + "rm")) <= 8


def test_every_command_of_one_find_is_given() -> None:
    line = "find . " + "-exec true ; " * 50 + "-exec rm -rf / ;"
    assert behind(line)[-1] == "rm -rf /"
    assert len(inners(command(line))) == 2


def test_a_word_with_several_values_is_each_of_them() -> None:
    either = Word("$f", SPAN, ("-c", "-x"))
    words = (word("bash"), either, word("rm x"))
    assert [seen(each) for each in inners(Command(words=words, span=SPAN))] == ["<rm x>"]


def test_a_name_with_several_values_is_read_as_each() -> None:
    name = Word("$c", SPAN, ("sudo", "ls", "watch"))
    found = inners(Command(words=(name, word("rm")), span=SPAN))
    assert [seen(each) for each in found] == ["rm", "<rm>"]


@pytest.mark.parametrize("name", [f"/bin/b{QUERY}sh", f"/bin/ba{STAR}", f"/usr/bin/{QUERY}ash"])
def test_a_glob_in_a_name_is_matched(name: str) -> None:
    words = (Word(name, SPAN, (name,)), word("-c"), word("rm x"))
    assert "<rm x>" in [seen(each) for each in inners(Command(words=words, span=SPAN))]


@pytest.mark.parametrize(
    ("variable", "line", "runs"),
    [
        ("SUDO", "rm x", ["rm x"]),
        ("SHELL", "-c 'rm x'", ["<rm x>"]),
        ("PYTHON", "-c 'import os; os.system(\"rm x\")'", ["<rm x>"]),
        ("TOOL", "rm x", []),
    ],
)
def test_a_variable_named_like_a_wrapper_is_taken_for_one(
    variable: str, line: str, runs: list[str]
) -> None:
    program = Word(f"${variable}", SPAN, (FIELDS,), (Expansion(variable, ""),))
    found = inners(Command(words=(program, *command(line).words), span=SPAN))
    assert [seen(each) for each in found] == runs


@pytest.mark.parametrize(
    ("name", "value", "runs"),
    [
        ("GIT_SSH_COMMAND", "rm x", ["<rm x>"]),
        ("PAGER", "rm x", ["<rm x>"]),
        ("EDITOR", "rm x", ["<rm x>"]),
        ("PS4", "+ $(rm x) ", ["<: $(rm x)>"]),
        ("BASH_ENV", "$(rm x)", ["<: $(rm x)>"]),
        ("PS4", "+ ", []),
        ("A", "$(rm x)", []),
    ],
)
def test_variables_that_programs_run_are_commands(name: str, value: str, runs: list[str]) -> None:
    given = (Assigned(name, (Word(value, SPAN, (value,)),)),)
    found = inners(Command(words=(), span=SPAN, assignments=given))
    assert [seen(each) for each in found] == runs


def test_the_arguments_of_a_code_string_are_known() -> None:
    (inner,) = inners(command("bash -c '\"$@\"' _ rm -rf /"))
    assert texts(inner.positional or ()) == "_ rm -rf /"
    (alone,) = inners(command("bash -c 'rm x'"))
    assert alone.positional == ()


def test_a_folder_and_assignments_are_kept() -> None:
    (inner,) = inners(command("env -C /d A=1 B= rm x"))
    assert inner.cwd == Word("/d", SPAN, ("/d",))
    assert [(name, value.value) for name, value in inner.assignments] == [("A", "1"), ("B", "")]


def test_derived_words_stand_where_they_came_from() -> None:
    text = Word("'A=1 rm'", Span(7, 15), ("A=1 rm",))
    program = Word("env", Span(0, 3), ("env",))
    (inner,) = inners(Command(words=(program, word("-S"), text), span=Span(0, 15)))
    assert [each.span for each in inner.words[1:]] == [Span(7, 15), Span(7, 15)]


@pytest.mark.parametrize(
    ("line", "stdin", "text"),
    [
        ("echo rm  x", None, "rm x\n"),
        ("echo -n rm x", None, "rm x"),
        (r"echo 'r\x6d'", None, "r\\x6d\n"),
        (r"echo -e 'r\x6d \0101\tb'", None, "rm A\tb\n"),
        (r"echo -ne 'rm\c x'", None, "rm"),
        ("echo -nope", None, "-nope\n"),
        (r"printf '\162\155 -rf /'", None, "rm -rf /"),
        (r"printf '\x72\u006d'", None, "rm"),
        (r"printf '%s\n' a b", None, "a\nb\n"),
        ("printf '%s-%d-%x-%%' a 012 255", None, "a-10-ff-%"),
        (r"printf '%b' 'r\0155'", None, "rm"),
        ("printf '%c%c' rx mx", None, "rm"),
        ("printf '%.2s|%3s|%-3s|' rmx a b", None, "rm|  a|b  |"),
        ("printf '%*s' 3 a", None, "  a"),
        ("printf -- a", None, "a"),
        ("printf %s …/x", None, "…/x"),
        ("cat", "rm x", "rm x"),
        ("cat -", "rm x", "rm x"),
        ("base64 -d", "cm0gLXJmIC8=\n", "rm -rf /"),
        ("base64 --decode", "cm0gLXJmIC8", "rm -rf /"),
        ("openssl base64 -d", "cm0gLXJmIC8=", "rm -rf /"),
        ("base32 -d", "OJWQ====", "rm"),
        ("xxd -r -p", "726d 0a", "rm\n"),
        ("xxd -p -r", "726d", "rm"),
        ("rev", "/ fr- mr\n", "rm -rf /\n"),
        ("tac", "a\nb\n", "b\na\n"),
        ("tr a-z n-za-m", "ez", "rm"),
        ("tr -d x", "rxm", "rm"),
        ("tr '[:upper:]' '[:lower:]'", "RM", "rm"),
        ("sed 's/x//g'", "xrxm", "rm"),
        ("sed 's/^/rm /'", "a\nb\n", "rm a\nrm b\n"),
        ("sed -E 's/(.*)/rm \\1 &/'", "a\n", "rm a a\n"),
        ("sed 's/[x]*//'", "rm a", "rm a"),
        ("cut -c2-", "xrm\n", "rm\n"),
        ("cut -d, -f2", "a,rm,b", "rm\n"),
        ("head -n 1", "rm x", "rm x"),
        ("grep rm", "rm x", "rm x"),
        ("tee f", "rm x", "rm x"),
        ("find . -name .env", None, "…/.env\n"),
        ("find . ( -name a -o -name b )", None, "…/a\n…/b\n"),
        ("find . -name a -print0", None, "…/a\0"),
        ("which rm", None, "…/rm\n"),
        ("command -v rm", None, "…/rm\n"),
        ("pwd", None, ".\n"),
        ("dirname /a/b", None, "/a\n"),
        ("basename /a/b", None, "b\n"),
        ("mktemp -d", None, "…\n"),
        ("env A=1 timeout 5 echo rm", None, "rm\n"),
        ("busybox printf rm", None, "rm"),
    ],
)
def test_what_is_printed_is_known(line: str, stdin: str | None, text: str) -> None:
    given_text = Word("", SPAN, (stdin,)) if stdin is not None else None
    found = produced(command(line), given_text)
    assert found is not None
    assert [shown(each) for each in found.templates] == [text]


@pytest.mark.parametrize(
    ("line", "stdin"),
    [
        ("cat f", "rm x"),
        ("cat", None),
        ("curl x", None),
        ("printf -v a b", None),
        ("printf … b", None),
        ("base64 -d", HOLE),
        ("sed 's/[x]*//'", f"{HOLE}/a"),
        ("find . -type f", None),
        ("find . -name a -exec cat {} ;", None),
        ("find . -name a -printf x", None),
        ("bash -c 'echo x'", None),
    ],
)
def test_what_is_printed_is_not_guessed(line: str, stdin: str | None) -> None:
    text = Word("", SPAN, (stdin,)) if stdin is not None else None
    assert produced(command(line), text) is None


def test_every_text_that_could_be_printed_is_given() -> None:
    either = Word("$x", SPAN, ("rm", "ls"))
    found = produced(Command(words=(word("echo"), either), span=SPAN))
    assert found is not None
    assert found.templates == ("rm\n", "ls\n")


_NAMES = st.sampled_from(
    [
        "bash",
        "sudo",
        "env",
        "xargs",
        "find",
        "git",
        "parallel",
        "tar",
        "sed",
        "ssh",
        "docker",
        "printf",
        "echo",
        "python3",
        "perl",
        "node",
        "awk",
        "tr",
        "cut",
        "su",
        "script",
        "fd",
    ]
)
_PIECES = st.sampled_from(
    [
        "-",
        "--",
        "-c",
        "-e",
        "-I",
        "-exec",
        "{}",
        ";",
        "+",
        "a",
        "=",
        "A=1",
        ":::",
        "/",
        "'",
        '"',
        "`",
        "$(",
        ")",
        "\\",
        "\n",
        "rm",
        "%s",
        "%*d",
        "\\x",
        "s/a/b/e",
        "e",
        "5",
        "alias.a=!",
        HOLE,
        FIELDS,
        STAR,
        HOME,
        "\x00",
        "system(",
        "qx{",
        "é",
    ]
)
_WORDS = st.lists(st.lists(_PIECES, max_size=4).map("".join), max_size=6)


@given(name=_NAMES, arguments=_WORDS, stdin=st.none() | st.lists(_PIECES).map("".join))
def test_no_words_are_too_strange(name: str, arguments: list[str], stdin: str | None) -> None:
    words = tuple(Word(each, SPAN, (each,)) for each in (name, *arguments))
    text = None if stdin is None else Word(stdin, SPAN, (stdin,))
    odd = Command(words=words, span=SPAN)
    for inner in inners(odd, text):
        assert inner.words or inner.code
    found = produced(odd, text)
    assert found is None or found.templates
