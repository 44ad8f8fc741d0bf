"""Tasks that fit no table, a folder each."""
