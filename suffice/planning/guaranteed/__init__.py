"""What a theorem guarantees, its hypotheses checked on the problem at hand."""
