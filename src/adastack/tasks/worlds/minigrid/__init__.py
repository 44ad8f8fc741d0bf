"""MiniGrid-Memory."""
