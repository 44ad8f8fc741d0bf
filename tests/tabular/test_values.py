"""The compiled learners of action values, against the plain ones and against closed forms."""

import itertools
import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from adastack.process.draws import first_words
from adastack.process.events import EVENTS
from adastack.tabular import Session, settings_for
from adastack.tabular.moves import LONGEST
from adastack.tabular.reference import ReferenceLearner, SplitMix
from adastack.tasks import active_tmaze, passive_tmaze, xormaze
from tabular.tiny import chain, noisy_choice, wait

TASKS = {
    "passive": passive_tmaze(4, continual=True),
    "random lengths": passive_tmaze(4, random_length=True),
    "active": active_tmaze(3),
    "active continual": active_tmaze(3, continual=True),
    "xormaze": xormaze(),
    "noisy": noisy_choice(),
}
MEMORIES = [("adaptive", 2), ("adaptive", 3), ("frame", 3), ("push_skip", 3), ("none", 1)]
MEMORIES += [("random", 2), ("push_skip_unseen", 2), ("push_skip_unseen", 3)]
ALGOS = ("q", "q-lambda", "sarsa", "expected-sarsa")
BONUSES = ("none", "rare", "rare-kept")


def learned(task, memory, k, algo, chosen, steps, seeds=(3,), chunk=10**9):
    session = Session(task, memory, k, algo, chosen, steps, seeds)
    while session.blocks_done < session.blocks:
        session.advance(chunk)
    return session


@settings(max_examples=60, deadline=None)
@given(
    task=st.sampled_from(sorted(TASKS)),
    memory=st.sampled_from(MEMORIES),
    algo=st.sampled_from(ALGOS),
    independent=st.booleans(),
    persistence=st.sampled_from([(1, 1), (40, 3), (1, 20)]),
    bonus=st.sampled_from(BONUSES),
    count_once=st.booleans(),
    seed=st.integers(0, 2**40),
)
def test_equals_the_plain_learner(
    task, memory, algo, independent, persistence, bonus, count_once, seed
):
    overrides = {
        "epsilon": 0.4,
        "epsilon_end": 0.1,
        "alpha_end": 0.01,
        "exploration": "independent" if independent else "joint",
        "persistence": persistence[0],
        "persistence_end": persistence[1],
        "intrinsic": bonus,
        "count_once": count_once,
    }
    chosen, steps = settings_for("paper", algo, overrides), 1050
    session = learned(TASKS[task], *memory, algo, chosen, steps, (seed,), chunk=4)
    word = int(first_words([seed])[0, 0])
    plain = ReferenceLearner(TASKS[task], *memory, algo, chosen, steps, SplitMix(word))
    plain.run()
    untouched = np.ones(session.induced.n_agent_states, bool)
    for stack, row in plain.q.items():
        agent = session.induced.find(stack)
        untouched[agent] = False
        np.testing.assert_allclose(session.table[0, agent], row, rtol=0, atol=1e-12)
    assert (session.table[0, untouched] == chosen.initial_value).all()
    counted = session.arrays["counts"][0].sum(axis=0).tolist()
    assert counted == [plain.totals[name] for name in EVENTS]
    assert session.arrays["paid"][0, :, 0].sum() == pytest.approx(plain.totals["reward"], abs=1e-9)


def test_sarsa_lambda_on_a_chain_credits_each_step_by_its_distance():
    length, alpha, gamma, decay = 7, 0.5, 0.9, 0.8
    overrides = {
        "alpha": alpha,
        "alpha_end": alpha,
        "gamma": gamma,
        "trace_decay": decay,
        "initial_value": 0.0,
        "trace_cut": 1e-12,
    }
    session = learned(
        chain(length), "none", 1, "sarsa", settings_for("paper", "sarsa", overrides), length
    )
    # No reward before the last step, so all errors but the last are zero in the first episode.
    expected = alpha * (gamma * decay) ** np.arange(length - 1, -1, -1)
    found = [session.table[0, session.induced.find((cell,)), 0] for cell in range(length)]
    np.testing.assert_allclose(found, expected, rtol=1e-12)


@pytest.mark.parametrize("length", [2, 40])
def test_a_wait_is_one_decision_however_long_it_is(length):
    gamma, seeds = 0.9, range(20)
    overrides = {"gamma": gamma, "alpha": 1.0, "alpha_end": 1.0, "initial_value": 0.0}
    chosen = settings_for("paper", "q", {**overrides, "count_once": True})
    session = learned(wait(length), "none", 1, "q", chosen, 100 * length, seeds)
    # Some seeds' last wait was given up and begun again: that is worth something else.
    whole = gamma ** (1 + math.log(length - 1))
    assert np.isclose(session.table, whole).any(axis=(1, 2)).mean() > 0.3
    assert (session.arrays["place"][:, LONGEST] == length).all()


@pytest.mark.parametrize("algo", ["q", "q-lambda"])
def test_q_learning_finds_the_exact_values_of_a_deterministic_maze(algo):
    gamma = 0.9
    overrides = {"alpha": 1.0, "alpha_end": 1.0, "epsilon": 1.0, "epsilon_end": 1.0}
    overrides |= {"gamma": gamma, "trace_decay": 0.0}
    chosen = settings_for("paper", algo, overrides)
    session = learned(passive_tmaze(4), "frame", 4, algo, chosen, 20_000)
    for cue, sign in ((2, 1), (3, -1)):
        stacks = [(4, 4, 4, cue), (4, 4, cue, 0), (4, cue, 0, 0), (cue, 0, 0, 1)]
        rows = [session.table[0, session.induced.find(stack)] for stack in stacks]
        for distance, row in enumerate(reversed(rows[:-1]), start=1):
            np.testing.assert_allclose(row, gamma**distance, rtol=1e-12)
        np.testing.assert_array_equal(rows[-1], np.array([1, 1, -1, -1]) * sign)


def test_truncation_bootstraps_and_termination_does_not():
    long = replace(chain(30), time_limit=3)
    overrides = {"alpha": 1.0, "alpha_end": 1.0, "gamma": 0.5, "initial_value": 8.0}
    session = learned(long, "none", 1, "q", settings_for("paper", "q", overrides), 3000)
    values = [session.table[0, session.induced.find((cell,)), 0] for cell in range(4)]
    # Cell 3 is never left, so it keeps its first value, and the cells before it halve it.
    assert values == [1.0, 2.0, 4.0, 8.0]
    short = learned(chain(3), "none", 1, "q", settings_for("paper", "q", overrides), 3000)
    assert short.table[0, :, 0].tolist() == [0.25, 0.5, 1.0]


def test_a_seed_learns_the_same_alone_beside_others_and_in_pieces():
    chosen = settings_for("robust", "sarsa")
    task = active_tmaze(4, continual=True)
    together = learned(task, "adaptive", 2, "sarsa", chosen, 20_000, (5, 6, 7, 8, 9))
    alone = learned(task, "adaptive", 2, "sarsa", chosen, 20_000, (7,), chunk=13)
    for name, array in alone.arrays.items():
        np.testing.assert_array_equal(array[0], together.arrays[name][2], err_msg=name)
    assert not np.array_equal(together.table[0], together.table[1])


def test_noted_best_actions_are_the_best():
    session = learned(xormaze(), "adaptive", 3, "q", settings_for("paper", "q"), 30_000, (1, 2))
    np.testing.assert_array_equal(session.arrays["greedy"], session.table.argmax(axis=2))


def test_curves_have_a_row_for_every_hundred_steps_and_add_up():
    session = learned(xormaze(), "adaptive", 3, "q", settings_for("paper", "q"), 12_345, (1, 2))
    curves = session.curves()
    assert curves["step"][:2].tolist() == [100, 200]
    assert curves["step"][-1] == 12_345
    assert curves["reward"].shape == (2, 124)
    attempts = np.nan_to_num(curves["attempts"])
    returns = np.nansum(curves["return"] * attempts, axis=1)
    unfinished = session.arrays["attempt"][:, 0]
    np.testing.assert_allclose(returns + unfinished, curves["reward"].sum(axis=1), atol=1e-9)
    assert (np.nan_to_num(curves["success"]) <= 1).all()
    assert ((curves["memory_regret"] >= 0) & (curves["memory_regret"] <= 1)).all()


def test_memory_does_not_grow_with_the_steps():
    def size(steps):
        session = Session(xormaze(), "adaptive", 3, "q", settings_for("paper", "q"), steps, [0])
        return sum(array.nbytes for array in session.arrays.values())

    assert size(10**6) == size(10**9)


def test_long_runs_share_rows():
    chosen = settings_for("paper", "q")
    session = Session(passive_tmaze(3, continual=True), "frame", 2, "q", chosen, 3 * 10**6, [0])
    session.advance(7)
    curves = session.curves()
    assert curves["step"].tolist() == [300, 600, 700]
    assert curves["attempts"].sum() == 700 // 3


@pytest.mark.parametrize("memory", ["adaptive", "random"])
def test_a_random_memory_learns_no_memory_actions(memory):
    session = Session(xormaze(), memory, 3, "q", settings_for("paper", "q"), 100, [0])
    assert session.table.shape[2] == (12 if memory == "adaptive" else 4)


def test_a_table_that_is_too_large_is_refused_with_its_size(monkeypatch):
    monkeypatch.setattr("adastack.process.capacity.half_of_memory", lambda: 10**7)
    chosen = settings_for("paper", "q")
    with pytest.raises(ValueError, match=r"14 slots has more pairs .* takes .* [GTPE]B: use a"):
        Session(active_tmaze(6), "adaptive", 14, "q", chosen, 100, [0])


def test_all_pairs_of_algorithm_and_preset_exist():
    for algo, preset in itertools.product(ALGOS, ("paper", "robust")):
        assert settings_for(preset, algo).gamma < 1


@pytest.mark.parametrize(
    ("algo", "preset", "overrides", "message"),
    [
        ("sarsa", "papper", {}, "preset must be one of paper, robust, default, actual: 'papper'"),
        ("sarza", "paper", {}, "algo must be one of q, .*actual: 'sarza'"),
        ("q", "paper", {"alhpa": 1}, r"expected a setting of .*did you mean alpha\?"),
        ("q", "paper", {"alpha": "much"}, "alpha must be a finite number, actual: 'much'"),
        ("q", "paper", {"alpha": 2}, "alpha must be in 0..1, actual: 2.0"),
        ("q", "paper", {"trace_decay": 0.5}, "algo q has no traces"),
        (
            "q",
            "paper",
            {"persistence": 0},
            "persistence must be an integer of at least 1, actual: 0",
        ),
        ("q", "paper", {"exploration": "both"}, "exploration must be one of joint, independent"),
        ("reinforce", "paper", {"radius": 0}, "radius must be positive, actual: 0.0"),
        ("reinforce", "paper", {"block_end": 10**6}, "blocks must not be longer than horizon"),
    ],
)
def test_bad_settings_are_refused(algo, preset, overrides, message):
    with pytest.raises(ValueError, match=message):
        settings_for(preset, algo, overrides)


def test_an_unknown_memory_is_refused():
    with pytest.raises(ValueError, match=r"expected a memory of .*, random, actual: 'elephant'"):
        Session(xormaze(), "elephant", 3, "q", settings_for("paper", "q"), 100, [0])
