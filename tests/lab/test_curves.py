"""Curves as figures and claims see them."""

import numpy as np

from adastack.lab.curves import POINTS, binned, curve_means, thinned


def test_what_the_environment_does_not_tell_is_left_out():
    curve, unknown = np.array([[0.5, 1.0]]), np.full((1, 2), np.nan)
    told = dict.fromkeys(("reward", "return", "success", "memory_regret"), curve)
    told |= {"step": np.array([100, 200]), "attempts": np.ones((1, 2))}
    told |= dict.fromkeys(("active_regret", "passive_regret", "memory_regret_after"), curve)
    told |= {"discounted_return": curve}
    assert curve_means(told)["auc_success"] == curve_means(told)["auc_memory_regret"] == 0.75
    hushed = curve_means(told | dict.fromkeys(("success", "memory_regret"), unknown))
    assert set(curve_means(told)) - set(hushed) == {
        *("auc_success", "end_success", "steps_to_solve"),
        *("auc_memory_regret", "auc_active_regret", "auc_passive_regret"),
        "auc_memory_regret_after",
    }
    # Where no attempt ended, none succeeded.
    stuck = told | {"success": unknown, "attempts": np.zeros((1, 2))}
    assert curve_means(stuck)["auc_success"] == 0


def test_episodes_count_alike_however_many_end_in_a_window():
    nan = np.nan
    metrics = {
        "step": np.arange(1, 11) * 100,
        "reward": np.zeros((2, 10)),
        "attempts": np.array([[1, 0, 3, 0, 0, 0, 0, 0, 0, 4], [0] * 10]),
        "return": np.array([[1.0, nan, 0, nan, nan, nan, nan, nan, nan, 0.5], [nan] * 10]),
        "success": np.array([[1.0, nan, 0, nan, nan, nan, nan, nan, nan, 1.0], [nan] * 10]),
        **{f"{kind}_regret": np.full((2, 10), nan) for kind in ("memory", "active", "passive")},
        "memory_regret_after": np.full((2, 10), nan),
    }
    metrics["discounted_return"] = metrics["return"] / 2
    means = curve_means(metrics)
    assert means["auc_return"].tolist() == [0.5, 0]
    assert means["episode_return"].tolist() == [(1 + 4 * 0.5) / 8, 0]
    assert means["discounted_episode_return"].tolist() == [(1 + 4 * 0.5) / 16, 0]
    assert means["end_episode_return"].tolist() == [0.5, 0]
    # The second seed never succeeds: the whole training was not enough.
    assert means["steps_to_solve"].tolist() == [100, 1000]
    late = {**metrics, "success": np.where(metrics["step"] < 500, 0.0, metrics["success"])}
    assert curve_means(late)["steps_to_solve"].tolist() == [1000, 1000]


def test_bins_are_means_of_what_is_known():
    step = np.arange(1, 801)
    values = np.vstack([np.arange(800.0), np.where(np.arange(800) % 2, np.nan, 3.0)])
    ends, means = binned(step, values)
    assert len(ends) == POINTS
    assert ends[0] == 10
    assert means[0, 0] == np.mean(np.arange(10))
    assert (means[1] == 3.0).all()


def test_few_points_stay_as_they_are():
    ends, means = binned(np.array([100, 200]), np.array([[1.0, np.nan]]))
    assert ends.tolist() == [100, 200]
    assert means[0, 0] == 1
    assert np.isnan(means[0, 1])


def test_a_thinned_curve_draws_the_same():
    rng, step = np.random.default_rng(0), np.arange(1, 1001) * 100
    metrics = {name: rng.random((2, 1000)) for name in ("reward", "return", "success")}
    metrics["return"][:, ::2] = np.nan
    few = thinned({"step": step, **metrics})
    assert few["step"].tolist() == binned(step, metrics["return"])[0].tolist()
    assert few["reward"].shape == (2, POINTS)
    np.testing.assert_allclose(few["reward"].sum(axis=1), metrics["reward"].sum(axis=1), rtol=1e-3)
    np.testing.assert_allclose(few["return"], binned(step, metrics["return"])[1], rtol=1e-3)
    again = thinned(few)
    assert all(np.array_equal(few[name], again[name]) for name in few)
