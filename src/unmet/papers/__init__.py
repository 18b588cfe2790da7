"""Published experiments, run again: experiments are data, and finished work is never done twice.

Nothing here imports JAX or Matplotlib before something is run.
"""

from unmet.papers._cells import Cell, read_published
from unmet.papers._commands import WHAT, reproduce
from unmet.papers._experiments import TABLES, Block, Experiment
from unmet.papers._insert import insert_tables
from unmet.papers._models import Model
from unmet.papers._tables import show as show_table

__all__ = [
    "TABLES",
    "WHAT",
    "Block",
    "Cell",
    "Experiment",
    "Model",
    "insert_tables",
    "read_published",
    "reproduce",
    "show_table",
]
