"""Pages and films that show what an agent remembers, and a game in which the visitor remembers."""

from adastack.extras import check_installed

check_installed("scipy", "PIL", "matplotlib", extra="train")

from adastack.viewer.episode import record
from adastack.viewer.film import Film, shoot
from adastack.viewer.page import Page

__all__ = ["Film", "Page", "record", "shoot"]
