"""How loose Theorem 2 is without stopping when constants alone are known: V_max for the sufficient variance."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from suffice.bounds import Binary, evaluate, find
from suffice.simulate import AllForOne, run
from suffice.verification.instances.exact import NETWORK, network, network_arguments

NETWORKS, STEPS = 24, 60


def test_constants_alone_bound_every_network_and_half_of_the_clients_within_five_times():
    """The numbers of docs/explanation/stopped.md."""
    values, record = NETWORK.draw(NETWORKS, seed=3), find("adaptive/theorem-2-constant-unconditional")
    ratios = []
    for index in range(NETWORKS):
        problem, criterion, fraction = network(values, index)
        start = problem.optimum + values["far"][index]
        e0 = problem.excess(start[None])[0].numpy()
        given = network_arguments(problem, criterion, fraction, 0.03 * e0)
        own = problem.constants().sigma2
        threshold = criterion.threshold if isinstance(criterion, Binary) else 1.0
        largest = own / (4 * threshold * (1 - threshold)) if threshold < 0.5 else own
        given |= {"e0": e0, "T": np.full_like(e0, STEPS), "V_max": largest, "below": np.ones_like(e0)}
        bound = evaluate(record, **{parameter.name: given[parameter.name] for parameter in record.parameters})
        rule = AllForOne(criterion=criterion)
        paths = run(replace(problem, start=start), rule, iterations=STEPS, eta=given["eta"], seeds=1024).excess
        ratios.append(bound / paths[:, -1].mean(0))
    least, median, most = np.quantile(ratios, [0, 0.5, 1])
    np.testing.assert_allclose([least, median, most], [1.7, 4.3, 104], rtol=0.03)  # as printed, to two figures
