"""The lab: experiments as data, runs that can be stopped and resumed anywhere, claims and a report."""
