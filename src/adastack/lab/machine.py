"""The computer that a job ran on."""

from __future__ import annotations

import os
import platform
from functools import cache
from pathlib import Path


@cache
def machine() -> dict[str, str]:
    """This computer: system, processor, cores and memory."""
    return {
        "system": platform.system(),
        "architecture": platform.machine(),
        "processor": _processor(),
        "cores": str(os.cpu_count()),
        "memory": _memory(),
    }


def _processor() -> str:
    """Its name, family and model.

    Cloud providers give one name to processors of which one is several times as fast as another.
    """
    name = _line("/proc/cpuinfo", "model name") or platform.processor()
    family, model = (_line("/proc/cpuinfo", field) for field in ("cpu family", "model\t"))
    return f"{name} (family {family}, model {model})" if family and model else name


def _memory() -> str:
    text = _line("/proc/meminfo", "MemTotal")
    return f"{round(int(text.split()[0]) / 2**20)} GiB" if text else ""


def _line(path: str, name: str) -> str:
    """A value from a file of ``name: value`` lines; empty where there is no such file."""
    try:
        lines = Path(path).read_text().splitlines()
    except OSError:
        return ""
    return next((line.partition(":")[2].strip() for line in lines if line.startswith(name)), "")
