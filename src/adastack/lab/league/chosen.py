"""The settings that the search has chosen, by family of tasks and memory.

``adastack league --search`` runs the search, `adastack.lab.league.search.best` reads it; a test
compares what it says of the archive with what stands here. What is not here keeps ``usual``.
"""

CHOSEN: dict[str, dict[str, str]] = {"mazes": {}, "games": {}, "control": {}}
