"""Exact first and second moments of clients' models and gradients. NumPy alone.

A client that follows weighted gradients at fixed rates v has a model whose moments z = (1, m, pack(S)) obey the linear
recursion z+ = M(v) z that `recursion` derives. M needs the first and second moments of the clients' gradients
(`gradient_moments`) or, where these have too many coefficients, the clients' rows. One recursion, five back ends:

    recursion.ExactRecursion   dense: one client at one vector of rates, its curve, step limit and floor
    batched.MomentMaps         many clients and rates at once, with derivatives by the rates
    reduced.ReducedMaps        these on subspaces, for searches where second moments are many
    by_rows.RowRecursion       passes over rows, for more coefficients than second moments can have
    gram_model.GramModel       closed form of a model with identity Hessians, which says where a search begins

`suffice/planning/exact` calls them: `search`, `descent`, `arrivals` and `stages` the first two, `search`,
`single_rates` and `many_clients` the third, `large_models` the fourth, `many_clients` the last. A problem offers what
they start from by `gradient_moments` and `gradient_rows`.

Moments of any other linear algorithm are found by calling its own step, since no formula of it is written down:
`suffice/simulate/moment_maps.py` finds the maps of one iteration, `probed_moments.py` goes on step by step, and
`moment_powers.py` (`expected_values.py` for many problems) takes T steps at once. `verification` calls these.
"""
