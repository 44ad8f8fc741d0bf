"""What a test registers is gone after it."""

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
