"""What a diagnosis rests on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from adastack.diagnosis.kept import Kept
from adastack.diagnosis.proof import Proof
from adastack.diagnosis.verdict import Trial, Verdict
from adastack.viewer.show import Show


@dataclass
class Evidence:
    """What was found about a task."""

    task: str
    verdict: Verdict
    seconds: float = 0.0
    metric: str = "return"
    """What is compared."""
    random: Sequence[float] = ()
    """What random actions get."""
    trials: list[Trial] = field(default_factory=list)
    failed: dict[str, str] = field(default_factory=dict)
    stopped: str = ""
    """Why the search ended before all was decided."""
    proof: Proof | None = None
    kept: Kept | None = None
    show: Show | None = None
    """The agent with the memory that is enough, to watch."""
    command: str = ""
    """What to run to get it again."""
