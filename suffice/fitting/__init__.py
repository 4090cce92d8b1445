"""Models for rows that nobody has seen yet, from one round of messages.

`rule` averages candidates by how well each predicts held-out folds: `posterior` has models under a Gaussian prior on
how sites differ, `random_coefficients`, `clusters` and `all_for_one` others; `gain` is what a site gains by it.
"""
