"""``python -m adastack`` is the command ``adastack``."""

from adastack_command import main

if __name__ == "__main__":
    raise SystemExit(main())
