"""Hidden units of the league's entrants on its tasks, in the order of `SIZED`.

Found by `adastack.lab.league.weights`, which takes seconds to import; a test counts again.
"""

# fmt: off
HIDDEN: dict[str, tuple[int, ...]] = {
    "passive-tmaze:length=16": (128, 124, 124, 124, 124, 64, 56, 68, 64, 108),
    "active-tmaze:length=6": (128, 124, 124, 124, 124, 64, 56, 68, 64, 108),
    "xormaze": (128, 124, 124, 124, 124, 64, 56, 68, 64, 108),
    "minigrid-memory:size=7": (84, 24, 48, 24, 48, 64, 60, 68, 40, 8),
    "passive-tmaze:length=4": (128, 124, 124, 124, 124, 64, 56, 68, 64, 108),
    "passive-tmaze:length=10": (128, 124, 124, 124, 124, 64, 56, 68, 64, 108),
    "popgym-repeat-previous:previous_action=true": (128, 120, 124, 120, 124, 64, 56, 68, 64, 96),
    "popgym-position-only-cartpole:previous_action=true":
        (128, 124, 124, 124, 124, 64, 56, 68, 64, 108),
    "popgym-repeat-first": (128, 124, 124, 124, 124, 64, 56, 68, 64, 108),
    "popgym-repeat-previous": (128, 124, 124, 124, 124, 64, 56, 68, 64, 108),
    "popgym-autoencode": (128, 120, 124, 120, 124, 64, 56, 68, 64, 100),
    "popgym-count-recall": (124, 120, 124, 120, 124, 64, 56, 68, 64, 104),
    "popgym-concentration:previous_action=true": (104, 44, 72, 44, 72, 64, 60, 68, 52, 12),
    "popgym-higher-lower": (128, 116, 124, 116, 124, 64, 56, 68, 64, 84),
    "popgym-battleship:previous_action=true": (116, 84, 104, 84, 104, 64, 56, 68, 60, 32),
    "popgym-mine-sweeper:previous_action=true": (124, 112, 120, 112, 120, 64, 56, 68, 64, 72),
    "popgym-multiarmed-bandit:previous_action=true": (124, 116, 124, 116, 124, 64, 56, 68, 64, 84),
    "popgym-labyrinth-escape:previous_action=true": (120, 84, 108, 84, 108, 64, 56, 68, 60, 32),
    "popgym-labyrinth-explore:previous_action=true": (120, 84, 108, 84, 108, 64, 56, 68, 60, 32),
    "popgym-position-only-cartpole": (128, 124, 128, 124, 128, 64, 56, 68, 64, 112),
    "popgym-velocity-only-cartpole": (128, 124, 128, 124, 128, 64, 56, 68, 64, 112),
    "popgym-noisy-cartpole": (128, 124, 128, 124, 128, 64, 56, 68, 64, 112),
    "popgym-position-only-pendulum": (128, 124, 128, 124, 128, 64, 56, 68, 64, 112),
    "popgym-noisy-pendulum": (128, 124, 128, 124, 128, 64, 56, 68, 64, 112),
}
