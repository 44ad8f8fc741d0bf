"""Worlds: tasks whose states do not fit a table, one folder each."""
