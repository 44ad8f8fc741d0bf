"""What a step costs and a run holds depends on the stacks, not on how long episodes are."""

import pytest

from adastack.deep.finite_session import FiniteSession
from adastack.deep.settings import PPOSettings
from adastack.tasks import passive_tmaze

SETTINGS = PPOSettings(hidden=16, n_envs=4, n_steps=50, batch_size=100, n_epochs=2)


def costs(length, memory, k):
    """Agent states, operations of an update and bytes of a checkpoint after 1000 steps."""
    session = FiniteSession(passive_tmaze(length), memory, k, SETTINGS, [0], 1000)
    session.start()
    seeds, capacity = session._device_seeds, session._capacity
    lowered = session.trainer.chunk.lower(session.learner, seeds, 0, 1, 1, capacity=capacity)
    program = lowered.compile()
    operations = program.cost_analysis()["flops"]
    session.trainer.chunk = lambda *given, capacity: program(*given)
    while session.done < session.total:
        session.advance()
    arrays, _ = session.checkpoint()
    size = sum(array.nbytes for array in arrays.values())
    return session.trainer.induced.n_agent_states, operations, size


@pytest.fixture(scope="module")
def short():
    return costs(16, "adaptive", 2)


@pytest.mark.slow
def test_long_episodes_cost_no_more_than_short_ones(short):
    assert costs(100_000, "adaptive", 2) == short


@pytest.mark.slow
def test_a_frame_stack_that_reaches_further_costs_more(short):
    """What the measurement would show if cost did grow."""
    frames, twice = costs(16, "frame", 16), costs(32, "frame", 32)
    assert all(few < more for few, more in zip(frames, twice, strict=True))
    assert all(ours < theirs for ours, theirs in zip(short, frames, strict=True))
