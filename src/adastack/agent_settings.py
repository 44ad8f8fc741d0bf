"""The settings that `adastack.Agent` takes by keyword, for editors and type checkers.

A test holds this list against the settings of the learners, which check the values.
"""

from __future__ import annotations

from typing import TypedDict


class AgentSettings(TypedDict, total=False):
    """Settings of the learners by name; which of them an agent has depends on its algorithm."""

    # Networks: ppo and grpo.
    action_form: str
    """Two heads sampled independently (factored), or one over all pairs (flat)."""
    critic: bool
    """Learn a value function; without one, advantages are Monte-Carlo returns (GRPO)."""
    shared: bool
    """Let actor and critic share one body."""
    hidden: int
    """Units of every hidden layer and embedding."""
    n_envs: int
    """Environments that run side by side."""
    n_steps: int
    """Steps of each environment between two updates."""
    batch_size: int
    """Steps in a minibatch."""
    n_epochs: int
    """Passes over the steps at each update."""
    learning_rate: float
    """Adam's step size at the start."""
    learning_rate_end: float
    """Adam's step size at the end; linear in between."""
    clip_range: float
    """How far a probability ratio may move before its gradient is cut."""
    gamma: float
    """Discount."""
    gae_lambda: float
    """Weight of longer returns in the advantage."""
    dense_gae_lambda: float | None
    """The same for a discrete action where rewards are dense and vary, if it shows its worth at
    once; needs count_once, scale_reward and a critic. None: one advantage for both heads."""
    entropy: float
    """Weight of the environment action's entropy at the start."""
    memory_entropy: float
    """Weight of the memory action's entropy at the start."""
    entropy_until: float
    """Fraction of the run after which both entropy weights are zero; linear before."""
    anneal_entropy: bool
    """Let the entropy weights fall; otherwise they stay."""
    value_coef: float
    """Weight of the value loss."""
    optimism: float
    """Initial value everywhere; above the maximum return it encourages exploration."""
    padding: str
    """What a new stack shows beside the first observation: empty slots, or (reset) that again."""
    read_empty: bool
    """Let sequence networks read empty slots like others; otherwise they read what is filled."""
    patience: float
    """How much likelier it is at first, as a logit, to evict the newest slot than another."""
    fill_first: bool
    """Never evict the newest slot while another one is empty."""
    hold_noise: int
    """Longest period, in steps, for which every second environment holds its noise; with dense
    rewards three of four, the memory action's alone. 1 draws it anew at each step."""
    hold_real: bool
    """Also hold the noise of real-valued actions, in every fourth environment and nothing else
    there; needs hold_noise and four environments."""
    look_back: bool
    """Let the memory action's held noise ignore the newest slot in half of its periods (with dense
    rewards: in all)."""
    critic_clock: bool
    """Give the critic the storage time and age of each slot; the policy sees the stack alone. Not
    with a cell or a shared body, nor on finite tasks."""
    count_once: bool
    """Let a choice stand while it leaves the stack as it is, and learn from a decision once."""
    critic_worth: bool
    """Where rewards are dense and vary, let the critic estimate what each memory action is worth:
    the memory action is judged by that, and the environment action is not blamed for it. Needs
    count_once, scale_reward and two heads; not with a cell, nor on finite tasks."""
    keep_rare: bool
    """In every fourth environment keep rare observations whatever the policy says, and do not learn
    the memory action there. Needs count_once, critic_clock, two heads and four environments; not on
    finite tasks."""
    limits_end: bool
    """Treat a time limit as an end, worth nothing afterwards, rather than as a cut."""
    scale_advantage: bool
    """Centre advantages, and scale them down where an outcome is worth more than one."""
    scale_reward: bool
    """Count rewards in units of half their range so far, and values in units of returns."""
    gaussian_entropy: float
    """Factor of the entropy bonus where actions are real numbers."""
    max_grad_norm: float
    """Gradients longer than this are shortened to it."""
    normalize_observation: bool
    """Show real numbers and one-hot symbols in units of their deviation from the mean so far."""
    normalize_advantage: bool
    """Standardise the advantages of each minibatch."""
    adam_eps: float
    """Adam's epsilon."""
    keep_best: bool
    """On finite tasks, keep the weights of the rollout that earned the most, and test them, too."""
    tables: bool | None
    """Evaluate the network once on all agent states; None: when that is less than a minibatch."""

    # Tables: q, q-lambda, sarsa and expected-sarsa.
    alpha: float
    """Step size at the start."""
    alpha_end: float
    """Step size once ``anneal`` of the run is over; linear before."""
    epsilon: float
    """Chance of exploring at the start."""
    epsilon_end: float
    """Chance of exploring once ``anneal`` of the run is over; linear before."""
    anneal: float
    """Fraction of the run over which step size, exploration and persistence fall."""
    trace_decay: float
    """Lambda, the decay of eligibility traces; algorithms without traces have 0."""
    trace_cut: float
    """Traces smaller than this are forgotten."""
    initial_value: float
    """Initial value everywhere; above the maximum return it encourages exploration."""
    exploration: str
    """Explore action and memory action together (joint), or each on its own (independent)."""
    persistence: int
    """Longest period for which an agent state keeps its explored choice, at the start."""
    persistence_end: int
    """Longest such period once ``anneal`` of the run is over; geometric before."""
    intrinsic: str
    """Bonus for rare observations in the stack: none, rare or rare-kept (two readings)."""
    intrinsic_weight: float
    """Weight of that bonus, beta."""

    # Tables: reinforce and average-reinforce.
    step_size: float
    """Step size at the start."""
    step_size_end: float
    """Step size once ``anneal`` of the run is over; linear before."""
    entropy_end: float
    """Weight of the entropy once ``anneal`` of the run is over; linear before."""
    radius: float
    """Parameters are projected onto the ball of this radius."""
    baseline_rate: float
    """How fast the baseline of each agent state follows its returns; 0 for no baseline."""
    batch: int
    """Segments (episodes, blocks or cycles) behind one update."""
    horizon: int
    """Longest segment; an episode or a cycle that has not ended by then is cut."""
    segment: str
    """Average-reward estimates: blocks of steps, or cycles between visits to one pair of M_k."""
    block: int
    """Steps in a block at the start."""
    block_end: int
    """Steps in a block once ``anneal`` of the run is over; linear before."""
