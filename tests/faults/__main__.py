"""The campaign: ``python -m faults [--seed N ...] [--count N] [--only WORD]``."""

from faults.campaign import main

raise SystemExit(main())
