"""The lab: experiments as data, runs that resume anywhere, claims and a report."""

from adastack.extras import check_installed

check_installed("scipy", "jax", "rich", "matplotlib", extra="train")
