"""A theorem guarantees these plans, its hypotheses checked on the problem at hand."""
