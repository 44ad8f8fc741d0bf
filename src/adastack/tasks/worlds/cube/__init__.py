"""A 2x2x2 cube of which one face is in view."""
