"""Models for rows that nobody has seen yet, from one round of messages.

`model_averaging` averages candidates by how well each predicts held-out folds: `random_coefficients` has models under a
Gaussian prior on how sites differ, `soft_clusters` and `all_for_one` others; `gain` is what a site gains by it.
"""
