"""Programs are compiled quickly, and what a test registers is gone after it."""

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


@pytest.fixture(autouse=True)
def _registries_as_they_were():
    tables = (rules._RULES, registry._TASKS, gymnasium.registry)
    before = [dict(table) for table in tables]
    yield
    for table, entries in zip(tables, before, strict=True):
        table.clear()
        table.update(entries)


@pytest.hookimpl(wrapper=True)
def pytest_pyfunc_call():
    """Pytest names the running test in the environment, for which workers would start anew."""
    os.environ.pop("PYTEST_CURRENT_TEST", None)
    return (yield)
