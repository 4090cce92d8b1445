"""FedAvg: a server averages what the clients it sampled trained. McMahan et al. (2017), Algorithm 1."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from torch import Tensor

from suffice.support.errors import InputError
from suffice.support.numbers import as_whole

from ..oracle import Oracle
from ..randomness import Randomness, Stream
from .algorithm import Algorithm, Draw, State, checked
from .arguments import check_clusters, check_sizes
from .averaging import cluster_means, of_client
from .sampling import cluster_sizes, every_sample, only, sample


@dataclass(frozen=True, kw_only=True)
class FedAvg(Algorithm):
    """x_i <- x_i - eta_i g_i(x_i) for the participants i in P of a round of H iterations, started at x_i = w;
    after its last, w <- sum_{i in P} n_i x_i / sum_{i in P} n_i.

    period           H, the local steps (iterations) of a round
    participants     how many clients each round draws, uniformly without replacement (of each cluster); None: all
    sizes            the n_i (N,), sample sizes; None: equal
    clusters         labels (N,), one server per cluster: the oracle that knows them; None: one server
    fine_tune_after  after this iteration, which must end a round, every client goes on alone from w; None: never

    The state keeps the server models w (S, G, d); they start at the weighted mean of the clients' starts. The
    models are what clients would deploy: their local copies x_i while they participate, w otherwise.
    """

    period: int = checked(as_whole, 1)
    participants: int | None = checked(as_whole, None)
    sizes: Tensor | None = None
    clusters: Tensor | None = None
    fine_tune_after: int | None = checked(as_whole, None, least=0)
    name: str = "fedavg"
    linear: bool = True

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.fine_tune_after is not None and self.fine_tune_after % self.period:
            remedy = f"give a multiple of period = {self.period}: fine-tuning starts from a server model"
            raise InputError("fine_tune_after", self.fine_tune_after, remedy)

    def init(self, problem: Oracle, models: Tensor) -> State:
        check_clusters(self.clusters, problem.clients)
        check_sizes(self.sizes, problem.clients)
        smallest = int(cluster_sizes(problem.clients, self.clusters).min())
        if self.participants is not None and self.participants > smallest:
            raise InputError("participants", self.participants, f"the smallest cluster has {smallest} clients")
        server = cluster_means(models, self._sizes(models), self._labels(models))
        return {"models": self.received(server, problem.clients), "server": server}

    def draw(self, problem: Oracle, randomness: Randomness, iteration: int) -> Draw:
        """The draw; when sampling, with extra["participants"] (S, N), the same throughout a round."""
        noise = problem.draw(randomness, iteration)
        if self.participants is None or self._alone(iteration):
            return Draw(iteration=iteration, noise=noise)
        first = self.round_of(iteration)
        u = randomness.uniform(iteration=first, stream=Stream.COIN, clients=problem.clients, features=1)[..., 0]
        return Draw(
            iteration=iteration,
            noise=noise,
            extra={"participants": sample(u, self.participants, self._labels(u))},
        )

    def step(self, problem: Oracle, state: State, draw: Draw, eta: Tensor) -> State:
        x, present = state["models"], draw.extra.get("participants")
        x = x - eta[..., None] * only(present, self.direction(problem, state, draw))
        if not self._averages(draw.iteration):
            return {"models": x, "server": state["server"]}
        return self._averaged(problem, x, draw, state["server"].shape[1])

    def _averaged(self, problem: Oracle, x: Tensor, draw: Draw, servers: int) -> State:
        """The mean of the participants' x, sent to all."""
        sizes, present = self._sizes(x), draw.extra.get("participants")
        server = cluster_means(x, sizes if present is None else sizes * present, self._labels(x), servers)
        return {"models": self.received(server, problem.clients), "server": server}

    def direction(self, problem: Oracle, state: State, draw: Draw) -> Tensor:
        """The direction against which each client moves, (S, N, d)."""
        return problem.stochastic_gradient(state["models"], None, draw.noise)

    def received(self, server: Tensor, clients: int) -> Tensor:
        """Each client's server model, (S, G, d) -> (S, N, d)."""
        return of_client(server, clients, self._labels(server))

    def oracle_calls(self, problem: Oracle, draw: Draw) -> int:
        return problem.clients if self._alone(draw.iteration) else self._present(problem)

    def vectors_sent(self, problem: Oracle, draw: Draw) -> int:
        """2 |P| a round: up go the x_i, down w to as many; to all clients before they go on alone."""
        if not self._averages(draw.iteration):
            return 0
        down = problem.clients if draw.iteration == self.fine_tune_after else self._present(problem)
        return self._present(problem) + down

    def outcomes(self, problem: Oracle, iteration: int) -> Sequence[tuple[float, Mapping[str, Tensor]]]:
        if self.participants is None or self._alone(iteration):
            return [(1.0, {})]
        rows = every_sample(problem.clients, self.participants, self.clusters).to(problem.device)
        return [(1 / len(rows), {"participants": row[None]}) for row in rows]

    def round_of(self, iteration: int) -> int:
        return iteration if self._alone(iteration) else iteration - (iteration - 1) % self.period

    def phase(self, iteration: int) -> int:
        return self.period if self._alone(iteration) else iteration % self.period

    def _alone(self, iteration: int) -> bool:
        return self.fine_tune_after is not None and iteration > self.fine_tune_after

    def _averages(self, iteration: int) -> bool:
        return iteration % self.period == 0 and not self._alone(iteration)

    def _present(self, problem: Oracle) -> int:
        if self.participants is None:
            return problem.clients
        return self.participants * len(cluster_sizes(problem.clients, self.clusters))

    def _labels(self, like: Tensor) -> Tensor | None:
        return None if self.clusters is None else self.clusters.to(like.device)

    def _sizes(self, like: Tensor) -> Tensor:
        return like.new_ones(like.shape[1]) if self.sizes is None else self.sizes.to(like)
