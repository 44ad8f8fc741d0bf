"""Every kind of memory under one learner: who takes part, how large they are, who wins."""
