"""The lab: experiments as data, runs that resume anywhere, claims and a report."""
