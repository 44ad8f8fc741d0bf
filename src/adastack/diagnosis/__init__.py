"""Which memory does an environment need? Proved where it can be, else learned, with evidence."""
