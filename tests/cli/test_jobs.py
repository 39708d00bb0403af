import json
import os
import subprocess
import sys
import time
from pathlib import Path

from hosts import finish, nacre, start_host
from processes import gone_blocking, tag


def _start(state: Path, script: str, *flags: str) -> str:
    done = nacre("run", "--background", *flags, "--", script, state=state)
    assert (done.code, done.err) == (0, "")
    return done.out.strip()


def _job(state: Path, job_id: str) -> dict[str, object]:
    found = json.loads(nacre("jobs", "--json", state=state).out)
    return next(job for job in found if job["id"] == job_id)


def _wait_ended(state: Path, job_id: str) -> dict[str, object]:
    nacre("logs", "-f", job_id, state=state)
    return _job(state, job_id)


def test_a_background_run_is_listed_followed_and_has_its_true_exit_code(state: Path) -> None:
    gate = state.parent / "gate"
    waits = f"echo one; until [ -e {gate} ]; do sleep 0.01; done; echo two; exit 4"
    job = _start(state, waits, "--workspace", str(state.parent))
    assert _job(state, job)["state"] == "running"
    gate.touch()
    assert nacre("logs", "-f", job[:4], state=state).out == (
        "one\ntwo\n\n[job ended with exit code 4]\n"
    )
    ended = _job(state, job)
    assert (ended["state"], ended["exit_code"], ended["kind"]) == ("exited", 4, "detached")
    table = nacre("jobs", state=state).out.splitlines()
    assert table[0].split() == ["ID", "STATE", "TIME", "KIND", "SCRIPT"]
    assert table[1].startswith(f"{job}  exited 4")


def test_kill_ends_the_job_and_everything_it_started(state: Path) -> None:
    mark = tag()
    job = _start(state, f"env -i setsid sleep {mark} & trap '' TERM; sleep {mark}")
    done = nacre("kill", "--grace", "0.1", job, state=state)
    assert (done.code, done.out) == (0, f"{job} killed\n")
    gone_blocking(mark)
    assert _job(state, job)["state"] == "killed"
    assert nacre("kill", job, state=state).out == f"{job} killed\n"


def test_kill_ends_the_jobs_there_are_and_names_those_there_are_not(state: Path) -> None:
    job = _start(state, "sleep 60")
    done = nacre("kill", "--grace", "0", "nonsense", job, state=state)
    assert (done.code, done.out) == (1, f"{job} killed\n")
    assert done.err == "nacre: there is no job 'nonsense'; 'nacre jobs' lists them\n"


def test_following_ends_when_the_reader_has_found_what_it_looked_for(state: Path) -> None:
    job = _start(state, "echo listening; sleep 60")
    shell = f"{sys.executable} -m nacre logs -f {job} | grep -m1 listening"
    done = subprocess.run(
        ["bash", "-c", shell],
        check=False,
        capture_output=True,
        timeout=30,
        env={**os.environ, "NACRE_STATE": str(state)},
    )
    assert (done.stdout, done.stderr) == (b"listening\n", b"")
    nacre("kill", "--grace", "0", job, state=state)


def test_a_job_whose_output_is_gone_is_one_sentence(state: Path) -> None:
    job = _start(state, "true")
    _wait_ended(state, job)
    (state / "jobs" / f"{job}.out").unlink()
    done = nacre("logs", job, state=state)
    assert (done.code, done.out) == (1, "")
    assert done.err.startswith(f"nacre: the output of job {job} cannot be read")


def test_state_files_are_for_their_owner_only_wherever_they_are(state: Path) -> None:
    state.mkdir(mode=0o755)
    _start(state, "true")
    files = [path for path in state.rglob("*") if path.is_file()]
    assert {path.stat().st_mode & 0o777 for path in files} == {0o600}


def test_a_job_that_is_none_is_one_sentence(state: Path) -> None:
    for command in ("logs", "kill"):
        done = nacre(command, "nonsense", state=state)
        assert (done.code, done.out) == (1, "")
        assert done.err == "nacre: there is no job 'nonsense'; 'nacre jobs' lists them\n"


def test_no_jobs_are_said_to_be_none(state: Path) -> None:
    done = nacre("jobs", state=state)
    assert (done.code, done.out, done.err) == (0, "", "no jobs\n")
    assert nacre("jobs", "--json", state=state).out == "[]\n"


def test_only_running_jobs_can_be_asked_for(state: Path) -> None:
    ended = _start(state, "true")
    _wait_ended(state, ended)
    running = _start(state, "sleep 60")
    found = json.loads(nacre("jobs", "--running", "--json", state=state).out)
    assert [job["id"] for job in found] == [running]
    nacre("kill", "--grace", "0", running, state=state)


def test_the_jobs_of_a_living_host_are_seen_and_ended_from_outside(state: Path) -> None:
    mark = tag()
    host = start_host(
        f"""
        import sys
        from nacre import Bash
        tool = Bash()
        reply = tool.call_sync("Bash", {{"command": "echo hi; sleep {mark}", "background": True}})
        job = reply.details["id"]
        print(job, flush=True)
        print(tool.call_sync("BashOutput", {{"id": job, "wait_for": "exit"}}).details["outcome"], flush=True)
        """,
        state,
    )
    assert host.stdout is not None
    job = host.stdout.readline().decode().strip()
    assert _job(state, job)["kind"] == "owned"
    assert nacre("kill", "--grace", "0", job, state=state).out == f"{job} killed\n"
    assert host.stdout.readline() == b"stopped\n"
    gone_blocking(mark)
    finish(host)


def test_following_ends_quietly_when_the_reader_leaves(state: Path) -> None:
    job = _start(state, "while :; do echo tick; sleep 0.05; done")
    shell = f"{sys.executable} -m nacre logs -f {job} | head -2"
    done = subprocess.run(
        ["bash", "-c", shell],
        check=False,
        capture_output=True,
        timeout=30,
        env={**os.environ, "NACRE_STATE": str(state)},
    )
    assert (done.stdout, done.stderr) == (b"tick\ntick\n", b"")
    nacre("kill", "--grace", "0", job, state=state)


def test_a_broken_database_is_one_sentence_and_the_command_works(state: Path) -> None:
    state.mkdir()
    (state / "nacre.db").write_bytes(b"no database" * 100)
    done = nacre("jobs", state=state)
    assert (done.code, done.out) == (0, "")
    assert "the job database is broken" in done.err
    assert "set aside as" in done.err


def test_a_job_that_prints_for_ever_costs_no_more_than_its_cap(state: Path) -> None:
    """The warden that stays for a detached job keeps its memory."""
    job = _start(state, "yes")
    deadline = time.monotonic() + 90
    while Path(str(_job(state, job)["output"])).stat().st_size < 256 << 20:
        assert time.monotonic() < deadline
    nacre("kill", "--grace", "0", job, state=state)
    ended = _job(state, job)
    assert ended["state"] == "killed"
    assert Path(str(ended["output"])).stat().st_size < (256 << 20) + (1 << 17)
