"""`sf.check` against bounds that are tight by a route which shares nothing with it: every algorithm, every quantity."""
