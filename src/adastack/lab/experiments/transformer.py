"""PPO with a Transformer over the slots, in mazes of growing length."""

from __future__ import annotations

from adastack.lab.checks import between, near
from adastack.lab.claims import Claim, all_of
from adastack.lab.experiment import Experiment
from adastack.lab.experiments.length_scaling import NAMES, above_claim, show, study_of

STUDY = study_of("transformer", batch=1)
CLAIMS = (
    above_claim(STUDY, "transformer", "a Transformer", "Figures 11 and 18"),
    Claim(
        "transformer-oracle",
        "With a Transformer, AS(2) earns what FS(k*) earns in the shorter mazes.",
        "Figure 18",
        all_of(
            [near("auc_return", *p) for p in STUDY.pairs("AS(κ)", "FS(k*)", NAMES[:3])],
            "at maximum lengths 2, 4 and 8 at least 90% of FS(k*)'s return over the training",
        ),
    ),
    Claim(
        "transformer-struggles",
        "With a Transformer, AS(2) struggles to learn in the longest maze.",
        "Figure 18",
        all_of(
            [between("auc_return", STUDY.arm("64", "AS(κ)"), high=0.8)],
            "at maximum length 64 a return below 0.8 over the training",
        ),
    ),
)
EXPERIMENT = Experiment(
    sweep=STUDY.jobs, analyse=lambda results: show(results, STUDY, "Transformer"), claims=CLAIMS
)
