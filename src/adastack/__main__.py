"""``python -m adastack`` is the command ``adastack``."""

from adastack_command import main

raise SystemExit(main())
