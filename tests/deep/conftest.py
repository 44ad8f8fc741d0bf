"""Compilation is most of what these tests take: compile quickly, and keep what was compiled."""

import os

os.environ.setdefault("XLA_FLAGS", "--xla_backend_optimization_level=0")

from adastack.deep.backend import enable_compilation_cache

enable_compilation_cache()
