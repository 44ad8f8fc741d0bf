"""Starts a process for each library, lets them train in turns, and prints ratios.

    python benchmarks/peers/compare.py OURS SB3 MEMORAX REJAX

are the interpreters of their virtual environments. Everything runs on one core.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from statistics import median

HERE = Path(__file__).parent
CACHE = HERE.parents[1] / ".venv-peers" / "compiled"
REPEATS = int(os.environ.get("REPEATS", "7"))
COMPARED = {
    "RecurrentPPO": ("recurrent_ppo.py", ("lstm-16", "lstm-1"), 10),
    "memorax": ("memorax_ppo.py", ("lstm-16", "gru-16", "lstm-1", "gru-1"), 1),
    "rejax": ("rejax_ppo.py", ("none-16", "none-1"), 1),
}
"""Each peer's script, what it is compared in, and the ratio that is aimed at."""


class Process:
    """A library that trains when asked."""

    def __init__(self, python: str, script: str) -> None:
        settings = {
            "OMP_NUM_THREADS": "1",
            "XLA_FLAGS": "--xla_cpu_multi_thread_eigen=false",
            "JAX_COMPILATION_CACHE_DIR": str(CACHE),
        }
        self._process = subprocess.Popen(
            [python, str(HERE / script)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
            env={**os.environ, **settings, "PYTHONWARNINGS": "ignore"},
        )  # fmt: skip

    def rates(self, case: str) -> tuple[float, float]:
        """Steps a second of one turn: of processor time, and of the clock."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(f"{case}\n")
        self._process.stdin.flush()
        line = self._process.stdout.readline()
        if not line:
            raise RuntimeError(f"{self._process.args} ended, exit code {self._process.wait()}")
        processor, clock = map(float, line.split())
        return processor, clock

    def end(self) -> None:
        """Lets it go."""
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.wait()


def main(pythons: list[str]) -> int:
    """Prints a line for each comparison; 1 if a ratio is missed."""
    if len(pythons) != 1 + len(COMPARED):
        raise SystemExit(f"expected {1 + len(COMPARED)} interpreters: ours, {', '.join(COMPARED)}")
    os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
    print(f"load average {os.getloadavg()[0]:.1f}; one core; medians of {REPEATS} turns")
    ours, missed = Process(pythons[0], "ours.py"), False
    for python, (name, (script, cases, target)) in zip(pythons[1:], COMPARED.items(), strict=True):
        peer = Process(python, script)
        for case in cases:
            pairs = [(ours.rates(case), peer.rates(case)) for _ in range(REPEATS)]
            rates = [median(each[side][0] for each in pairs) for side in (0, 1)]
            ratio = median(mine[0] / theirs[0] for mine, theirs in pairs)
            clock = median(mine[1] / theirs[1] for mine, theirs in pairs)
            missed |= ratio < target
            print(
                f"{case:8} / {name:12} {ratio:6.2f}x (by the clock {clock:.2f}x; aim {target}x)  "
                f"{rates[0]:8,.0f} and {rates[1]:8,.0f} trained steps per processor second",
                flush=True,
            )
        peer.end()
    ours.end()
    return int(missed)


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
