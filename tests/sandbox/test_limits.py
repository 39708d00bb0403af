import os
import resource
import threading

import pytest

from nacre.model.confinement import Limits
from nacre.sandbox.limits import own_tasks, resource_limits, tasks_to_count


def test_each_limit_has_its_number_and_core_files_always_have_theirs() -> None:
    limits = Limits(memory=1, cpu_seconds=2, processes=3, file_bytes=4, open_files=5)
    assert dict(resource_limits(limits)) == {
        resource.RLIMIT_DATA: 1,
        resource.RLIMIT_CPU: 2,
        resource.RLIMIT_NPROC: 3,
        resource.RLIMIT_FSIZE: 4,
        resource.RLIMIT_NOFILE: 5,
        resource.RLIMIT_CORE: 1,
    }
    assert resource_limits(Limits()) == ((resource.RLIMIT_CORE, 1),)


def test_tasks_that_run_already_are_added_where_they_are_counted_with() -> None:
    def processes(limits: Limits) -> int | None:
        return dict(resource_limits(limits, tasks=40)).get(resource.RLIMIT_NPROC)

    assert processes(Limits(processes=3)) == 43
    assert processes(Limits(processes=0)) == 40
    assert processes(Limits()) is None


@pytest.mark.needs("root")
def test_the_processes_of_root_are_to_be_counted_by_the_warden() -> None:
    assert tasks_to_count(Limits(processes=7)) == 7
    assert tasks_to_count(Limits()) is None


@pytest.mark.needs("ordinary-user")
def test_those_of_others_are_counted_by_the_kernel() -> None:
    assert tasks_to_count(Limits(processes=7)) is None


def test_own_tasks_are_all_processes_and_threads_of_this_user() -> None:
    before = len(os.listdir("/proc/self/task"))
    done = threading.Event()
    threads = [threading.Thread(target=done.wait) for _ in range(200)]
    for thread in threads:
        thread.start()
    try:
        assert own_tasks() >= before + 200
    finally:
        done.set()
        for thread in threads:
            thread.join()
