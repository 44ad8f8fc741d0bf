"""How JAX is set up before the first compilation."""

from __future__ import annotations

import os
from pathlib import Path

import jax

CACHE_VARIABLE = "JAX_COMPILATION_CACHE_DIR"
CACHE_SETTING = "jax_compilation_cache_dir"
LEAST_SETTING = "jax_persistent_cache_min_compile_time_secs"


def enable_compilation_cache() -> None:
    """Keeps compiled programs in the user's cache folder, so that a second start is quick.

    A folder that the user names in JAX_COMPILATION_CACHE_DIR is used instead.
    """
    if os.environ.get(CACHE_VARIABLE) or getattr(jax.config, CACHE_SETTING):
        return
    home = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    folder = Path(home) / "adastack" / "jax"
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError:
        return  # Without a cache everything works, only the start is slower.
    for name, value in ((CACHE_SETTING, str(folder)), (LEAST_SETTING, 0.2)):
        jax.config.update(name, value)  # type: ignore[no-untyped-call]
