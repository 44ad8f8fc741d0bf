"""A process that has imported what workers need, and forks them: they start in milliseconds.

``python -m adastack.lab.fork_server SOCKET`` hears two requests on a socket, each a number: 0,
with three files attached, forks a worker that has them as standard input, output and error, and
answers its process id; a process id waits for that worker and answers its exit code. The server
computes nothing itself, so that it has no threads that a fork would lose. It ends when nobody
holds the other end of the socket.
"""

from __future__ import annotations

import os
import socket
import struct
import subprocess
import sys
import threading
from collections.abc import Mapping
from contextlib import suppress

FORK = 0
NUMBER = struct.Struct("=q")


class ForkServer:
    """The server as its clients see it; threads may share it.

    Args:
        environment: Its environment variables, and those of its workers.
    """

    def __init__(self, environment: Mapping[str, str]) -> None:
        self._lock = threading.Lock()
        self._socket, theirs = socket.socketpair()
        with theirs:
            # A session of its own: Ctrl-C is for the process that gives the jobs.
            self._process = subprocess.Popen(  # noqa: S603  # Our own module, by no shell.
                # Safe path: no module is taken from the folder it happens to be started in.
                [sys.executable, "-P", "-m", "adastack.lab.fork_server", str(theirs.fileno())],
                pass_fds=[theirs.fileno()],
                stdin=subprocess.DEVNULL,
                env=environment,
                start_new_session=True,
            )

    @property
    def alive(self) -> bool:
        """Whether it can be asked."""
        return self._socket.fileno() >= 0 and self._process.poll() is None

    def fork(self, *files: int) -> int:
        """The process id of a new worker with these standard input, output and error.

        Raises:
            ConnectionError: If the server has died.
        """
        return self._ask(FORK, files)

    def wait(self, pid: int) -> int:
        """The exit code of a worker, when it has ended; minus the signal that killed it.

        Raises:
            ConnectionError: If the server has died.
        """
        return self._ask(pid)

    def _ask(self, number: int, files: tuple[int, ...] = ()) -> int:
        with self._lock:
            try:
                socket.send_fds(self._socket, [NUMBER.pack(number)], files)
                answer = self._socket.recv(NUMBER.size, socket.MSG_WAITALL)
                if not answer:
                    raise ConnectionResetError("the process that starts workers has died")
            except BaseException:
                # Interrupted in between, the next question would hear this one's answer.
                self._socket.close()
                raise
        found: int = NUMBER.unpack(answer)[0]
        return found


def start_worker(environment: Mapping[str, str], *files: int) -> tuple[ForkServer, int]:
    """A new worker with these standard files: its server, and its process id there.

    Raises:
        ConnectionError: If a server dies as soon as it is started.
    """
    try:
        server = _server(environment)
        return server, server.fork(*files)
    except ConnectionError:
        server = _server(environment)  # The old one has been killed; closed, it is replaced.
        return server, server.fork(*files)


_running: dict[object, ForkServer] = {}


def _server(environment: Mapping[str, str]) -> ForkServer:
    """The server of this process; a new one if it died or what workers inherit has changed."""
    inherited = (os.getpid(), os.getcwd(), frozenset(environment.items()))
    server = _running.get(inherited)
    if server is None or not server.alive:
        _running.clear()
        server = _running[inherited] = ForkServer(environment)
    return server


def serve(connection: socket.socket) -> None:
    """Forks workers until nobody asks for more; returns in each of them."""
    while True:
        request, files, _, _ = socket.recv_fds(connection, NUMBER.size, 3)
        if not request:
            sys.exit()
        (number,) = NUMBER.unpack(request)
        answer = _fork(files) if number == FORK else _exit_code(number)
        if answer is None:
            connection.close()
            return
        with suppress(BrokenPipeError):
            connection.sendall(NUMBER.pack(answer))


def _fork(files: list[int]) -> int | None:
    """The process id of a child with these standard files; None in the child."""
    pid = os.fork()
    if pid == 0:
        os.setsid()
    for standard, file in enumerate(files):
        if pid == 0:
            os.dup2(file, standard)
        os.close(file)
    return pid or None


def _exit_code(pid: int) -> int:
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


if __name__ == "__main__":
    import adastack.lab.exact  # noqa: F401  # the theory, which evaluations need as well
    from adastack.algorithms import import_sessions
    from adastack.lab.worker import main

    import_sessions()
    serve(socket.socket(fileno=int(sys.argv[1])))
    main()
