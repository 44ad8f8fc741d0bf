"""Programs are compiled quickly and once, and what a test registers is gone after it."""

import gc
import os

# Before anything is imported that reads them. Tests run side by side, each on one thread, and
# compile more than they compute, so compilers take less trouble.
os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
os.environ.setdefault("NPROC", "1")
os.environ.setdefault(
    "XLA_FLAGS",
    "--xla_backend_optimization_level=0 --xla_cpu_use_fusion_emitters=false "
    "--xla_cpu_parallel_codegen_split_count=1",
)

import gymnasium
import pytest

from adastack.memory import rules
from adastack.tasks import registry

# What is imported stays: looking through it for garbage is a quarter of the collection.
gc.disable()

FIRST = ("process", "tabular", "theory", "faults", "lab")
"""What compiles the kernels that others only load, and what takes longest in one piece."""


def pytest_collection_modifyitems(config, items):
    """One process begins with the kernels, the other with what needs none of them."""
    folders = {name: number for number, name in enumerate(FIRST)}
    root = config.rootpath / "tests"

    def place(item):
        inside = item.path.is_relative_to(root)
        folder = item.path.relative_to(root).parts[0] if inside else ""
        return folders.get(folder, len(FIRST))

    items.sort(key=place)


def pytest_collection_finish():
    gc.freeze()
    gc.enable()
    gc.set_threshold(50_000, 20, 20)


@pytest.fixture(autouse=True)
def _registries_as_they_were():
    tables = (rules._RULES, registry._TASKS, gymnasium.registry)
    before = [dict(table) for table in tables]
    yield
    for table, entries in zip(tables, before, strict=True):
        table.clear()
        table.update(entries)


@pytest.fixture
def programs_are_compiled_once(monkeypatch):
    """Sessions that have equal settings share what is compiled; for files that ask for it."""
    from trainers import share_trainers  # Here, because not every environment has JAX.

    share_trainers(monkeypatch)


@pytest.hookimpl(wrapper=True)
def pytest_pyfunc_call():
    """Pytest names the running test in the environment, for which workers would start anew."""
    os.environ.pop("PYTEST_CURRENT_TEST", None)
    return (yield)
