"""Settings that do nothing without others."""

import pytest

from adastack.deep.settings import NEEDS, PPOSettings, settings_for

ASKED = {
    "entropy_until": 0.5,
    "look_back": True,
    "hold_real": True,
    "dense_gae_lambda": 0.5,
    "critic_clock": True,
    "critic_worth": True,
    "keep_rare": True,
}


@pytest.mark.parametrize("name", ASKED)
def test_what_would_do_nothing_is_refused_with_what_it_needs(name):
    with pytest.raises(ValueError, match=f"^{name}=.* does nothing here: expected "):
        settings_for("paper", "grpo", {name: ASKED[name]})
    assert getattr(settings_for("default", "ppo", {name: ASKED[name]}), name) == ASKED[name]


def test_only_what_was_asked_for_is_refused():
    assert set(ASKED) == set(NEEDS)
    assert settings_for("default", "ppo", {"cell": "gru"}).keep_rare
    assert settings_for("paper", "ppo", {"keep_rare": False}) == PPOSettings()
    with pytest.raises(ValueError, match="keep_rare"):
        settings_for("default", "ppo", {"cell": "gru", "keep_rare": True})
    with pytest.raises(ValueError, match="critic_clock"):
        settings_for("default", "grpo", {"critic_clock": True})
