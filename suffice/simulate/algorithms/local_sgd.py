"""Local SGD: clients step alone and average their models every H iterations. Stich (2019), Algorithm 1."""

from __future__ import annotations

from dataclasses import dataclass

from torch import Tensor

from suffice.support.numbers import as_whole

from ..oracle import Oracle
from .algorithm import Algorithm, Draw, State, checked
from .arguments import check_clusters
from .averaging import cluster_means, of_client


@dataclass(frozen=True, kw_only=True)
class LocalSGD(Algorithm):
    """theta_i <- theta_i - eta_i g_i(theta_i); after every H-th iteration theta_i <- mean of its cluster's models.

    H is `period`. Without `clusters` everybody is in one; with the true labels (N,) this is the oracle that
    knows who should collaborate. Models start where the clients start, and differ between averagings.
    """

    period: int = checked(as_whole, 1)
    clusters: Tensor | None = None
    name: str = "local-sgd"
    linear: bool = True

    def init(self, problem: Oracle, models: Tensor) -> State:
        check_clusters(self.clusters, problem.clients)
        return {"models": models}

    def step(self, problem: Oracle, state: State, draw: Draw, eta: Tensor) -> State:
        theta = state["models"]
        moved = theta - eta[..., None] * problem.stochastic_gradient(theta, None, draw.noise)
        if draw.iteration % self.period:
            return {"models": moved}
        clusters = None if self.clusters is None else self.clusters.to(theta.device)
        # labels that nobody has, up to N, get a mean of nothing that nobody takes
        means = cluster_means(moved, theta.new_ones(problem.clients), clusters, problem.clients)
        return {"models": of_client(means, problem.clients, clusters)}

    def vectors_sent(self, problem: Oracle, draw: Draw) -> int:
        """Each model to the server and the mean back, in averaging iterations."""
        return 0 if draw.iteration % self.period else 2 * problem.clients

    def phase(self, iteration: int) -> int:
        return iteration % self.period
