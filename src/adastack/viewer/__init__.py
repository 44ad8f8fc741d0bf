"""Pages and films that show what an agent remembers, and a game in which the visitor remembers."""

from adastack.viewer.episode import record
from adastack.viewer.film import Film, shoot
from adastack.viewer.page import Page

__all__ = ["Film", "Page", "record", "shoot"]
