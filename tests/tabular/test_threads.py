"""Work is shared out to threads; those that cannot start are done without."""

import threading
import time

import pytest

from adastack.tabular import threads
from adastack.tabular.threads import share_out


@pytest.mark.parametrize(("count", "number"), [(0, 2), (1, 4), (7, 1), (7, 3), (3, 8)])
def test_everything_is_done_once(count, number):
    found = []
    share_out(found.append, count, number)
    assert sorted(found) == list(range(count))


def test_several_threads_work_at_once():
    meet, met = threading.Barrier(3), []

    def work(number):
        meet.wait(10)  # Breaks, with an error, unless three are there at a time.
        met.append(threading.get_ident())

    share_out(work, 3, 3)
    assert len(set(met)) == 3


def test_an_error_comes_out_when_all_have_stopped():
    working = []

    def work(number):
        working.append(number)
        if number == 1:
            raise KeyError("one")
        time.sleep(0.05)
        working.remove(number)

    with pytest.raises(KeyError, match="one"):
        share_out(work, 40, 4)
    assert working == [1]


@pytest.mark.parametrize("start", [lambda *_: None, lambda *_: (_ for _ in ()).throw(RuntimeError)])
def test_threads_that_die_at_their_start_are_not_waited_for(monkeypatch, start):
    monkeypatch.setattr(threads, "start_new_thread", start)
    found = []
    share_out(found.append, 5, 3)
    assert found == [0, 1, 2, 3, 4]
