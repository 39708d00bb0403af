import os
import subprocess
import sys

from nacre.process.children import descendants
from processes import kill_all, tag

# Starts one process from a thread of its own, and says which.
_THREAD = """
import subprocess, sys, threading
def start():
    print(subprocess.Popen(["bash", "-c", "sleep {tag} & echo $!; wait"]).pid, flush=True)
    threading.Event().wait()
threading.Thread(target=start).start()
"""


def test_descendants_of_all_threads_are_found_at_any_depth() -> None:
    mark = tag()
    code = _THREAD.format(tag=mark)
    parent = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE)
    assert parent.stdout is not None
    try:
        pids = {int(parent.stdout.readline()) for _ in range(2)}
        assert descendants([parent.pid]) == {parent.pid, *pids}
        assert descendants([os.getpid()]) >= {os.getpid(), parent.pid, *pids}
    finally:
        parent.kill()
        parent.wait()
        parent.stdout.close()
        kill_all(mark)


def test_one_that_is_gone_has_none() -> None:
    assert descendants([2**22 - 1]) == {2**22 - 1}
