"""Recurrent cells; see `adastack.deep.cell_table` for what a cell has."""
