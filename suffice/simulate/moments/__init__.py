"""Exact first and second moments of clients' models and gradients. NumPy alone.

A client that follows weighted gradients at fixed rates v has a model whose moments z = (1, m, pack(S)) obey the linear
recursion z+ = M(v) z that `recursion` derives. M needs the first and second moments of the clients' gradients
(`gradient_moments`) or, where these have too many coefficients, the clients' rows:

    recursion.LinearRecursion  any such map: its curve, first passage, and E e_T with its derivatives by the rates
    recursion.ExactRecursion   the map of one client, with its step limit and floor
    orbits                     its powers, sums over them, and first passages, also of many lengths of rates at once
    reduced.subspaces          what to project large maps on, for searches
    by_rows.RowRecursion       the same map in factors, by passes over rows
    gram_model.GramModel       the map of a model with identity Hessians, which says where a search begins

`suffice/planning/exact` calls them, excesses being in units of the precision: `search` and `stages` the first
three, `search.scaled` the fourth, `plan` the fifth, `search.modelled` the last. A problem offers what they start from
by `gradient_moments` and `gradient_rows`.

Moments of any other linear algorithm are found by calling its own step, since no formula of it is written down:
`suffice/simulate/moment_maps.py` finds the maps of one iteration, `excess_loss.py` goes on step by step, and
`moment_powers.py` (`expected_values.py` for many problems) takes T steps at once. `verification` calls these.
"""
