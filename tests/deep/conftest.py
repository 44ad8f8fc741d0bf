"""What was compiled is kept: the next process, or the next run of the tests, need not."""

from adastack.deep.backend import enable_compilation_cache

enable_compilation_cache()
