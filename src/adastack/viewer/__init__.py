"""Pages that show what an agent remembers."""

from adastack.viewer.episode import record
from adastack.viewer.page import Page

__all__ = ["Page", "record"]
