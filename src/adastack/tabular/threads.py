"""Work that several threads share."""

from __future__ import annotations

from _thread import allocate_lock, start_new_thread
from collections.abc import Callable


def share_out(work: Callable[[int], None], count: int, threads: int) -> None:
    """Calls ``work`` with 0 to ``count - 1``, in several threads of which this is one.

    Other threads only help. `threading.Thread.start` waits for ever for a thread that dies at its
    start, as it does without memory; here only those that have begun to work are waited for.

    Raises:
        BaseException: The first that ``work`` raised, once all threads have stopped.

    Example:
        >>> squares = [0] * 4
        >>> share_out(lambda i: squares.__setitem__(i, i * i), count=4, threads=2)
        >>> squares
        [0, 1, 4, 9]
    """
    # All that a thread without memory needs exists before it starts.
    numbers, errors = iter(range(count)), list[BaseException]()
    done, ended = [False] * count, [allocate_lock() for _ in range(count)]
    for lock in ended:
        lock.acquire()

    def take() -> None:
        for number in numbers:
            try:
                if not errors:
                    work(number)
                    done[number] = True
            except BaseException as error:
                errors.append(error)
            finally:
                ended[number].release()

    for _ in range(min(count, threads) - 1):
        try:
            start_new_thread(take, ())
        except RuntimeError:  # No more threads: those that there are will do.
            break
    try:
        take()
    finally:
        for number in numbers:  # What nobody has taken, if this thread was interrupted.
            ended[number].release()
        for lock in ended:
            lock.acquire()
    if errors:
        raise errors[0]
    if not all(done):
        raise MemoryError("out of memory in a thread")
