"""Exact first and second moments of clients' models and gradients. NumPy alone.

A client that follows weighted gradients at fixed rates v has a model whose moments z = pack(E q q'), q = (1, delta),
obey the linear recursion z+ = M(v) z that `recursion` derives, from the moments of the clients' gradients
(`gradient_moments`) or, where these have too many coefficients, in factors by passes over the clients' rows
(`by_rows`). `orbits` has the powers of such maps, sums over them and first passages, `reduced` what to project large
ones on, and `gram_model` a small one that says where a search begins. `suffice/planning/exact` calls them, excesses
being in units of the precision. A problem offers what they start from by `gradient_moments` and `gradient_rows`.

Moments of any other linear algorithm are found by calling its own step: `suffice/simulate/moment_maps.py` finds the
maps of one iteration, `excess_loss.py` goes on step by step, and `moment_powers.py` (`expected_values.py` for many
problems) takes T steps at once. `verification` calls these.
"""
