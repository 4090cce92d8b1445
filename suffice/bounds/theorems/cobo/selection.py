"""Client selection near the clusters' centres: f_i = a_i |x - m_i|^2 / 2, minimisers m_i shared inside a cluster.

No statement here covers noisy gradients: no guarantee for them follows from the paper's assumptions.
"""

from __future__ import annotations

from ...elementary import survive
from ...quantities import Quantity
from ...theorem import Conditions, record_of, records, theorem
from .paper import source

# --- margin of the test ---------------------------------------------------------------------------------------------


def inside(*, separation, radius) -> Conditions:
    """The models are nearer to their own minimiser than half of the way to the other one."""
    return {"radius <= separation/2": (radius, separation / 2)}


_NEAR = "f_i = a_i |x - m_i|^2 / 2, f_j = a_j |x - m_j|^2 / 2; |x_i - m_i| <= r, |x_j - m_j| <= r, D = |m_i - m_j|"
_PLACE = "Theorem I, Appendix A.2, case 2, near the centres"

# |x_i - m_i| <= r and |x_j - m_j| <= r put the midpoint z within r of (m_i + m_j)/2, and
#     <z - m_i, z - m_j> = |z - (m_i + m_j)/2|^2 - |m_i - m_j|^2 / 4        (Thales)
# is at most r^2 - D^2/4 = -(D/2 - r)(D/2 + r). The test is negative exactly in the ball with diameter [m_i, m_j].


@theorem(
    key="cobo/selection-margin",
    title="Clients of different clusters point apart near their centres",
    source=source(_PLACE),
    quantity=Quantity.INNER_PRODUCT,
    mode="sure",
    hypotheses=_NEAR,
    conditions=inside,
    tight="The bound is tight if x_i - m_i = x_j - m_j has norm r.",
    monotone={"own_curvature": -1, "peer_curvature": -1, "separation": -1, "radius": 1},
)
def selection_margin(*, own_curvature, peer_curvature, separation, radius):
    """If both models are within r <= D/2 of their own minimisers, the gradients at their midpoint have an inner product
    of at most -a_i a_j (D^2/4 - r^2)."""
    return -own_curvature * peer_curvature * ((separation / 2 - radius) * (separation / 2 + radius))


# Every update of w_ij <= 1 adds gamma times the inner product and clips at 0.


@theorem(
    key="cobo/selection-time",
    title="Updates until two clusters are separated",
    source=source(_PLACE),
    quantity=Quantity.WEIGHT_UPDATES,
    mode="sure",
    hypotheses=f"{_NEAR} at each of these updates; gradients are exact",
    # As `inside`, short of the point where the margin vanishes.
    conditions=lambda *, separation, radius: {"radius <= 0.499 separation": (radius, 0.499 * separation)},
    tight="The bound is tight if x_i - m_i = x_j - m_j has norm r throughout and w_ij = 1 at the start.",
    monotone={"own_curvature": -1, "peer_curvature": -1, "separation": -1, "radius": 1, "weight_step": -1},
)
def selection_time(*, own_curvature, peer_curvature, separation, radius, weight_step):
    """While both models stay within r <= 0.499 D of their own minimisers, a weight w_ij <= 1 is 0 after 1/(gamma a_i
    a_j (D^2/4 - r^2)) of its own updates with exact gradients, or any larger number: at gamma theta >= 1 after one
    update.

    1 / (gamma theta)."""
    margin = (separation / 2 - radius) * (separation / 2 + radius)
    return 1 / (weight_step * own_curvature * peer_curvature * margin)


# --- the balls are invariant ----------------------------------------------------------------------------------------
#
# Settled weights, exact gradients, u_i = x_i - m:
#     u_i+ = (1 - eta a_i - eta rho (c - 1)) u_i + eta rho sum_{k != i} u_k.
# For eta <= 1/(max a + rho (c - 1)) the factors are >= 0, of sum 1 - eta a_i <= 1 - eta min a.


@theorem(
    key="cobo/selection-radius",
    title="Separated clusters stay near their centres",
    source=source(_PLACE, mu=r"a_{\min}", beta=r"a_{\max}"),
    quantity=Quantity.LARGEST_DISTANCE,
    mode="sure",
    hypotheses="f_i = a_i |x - m_i|^2 / 2, and the clients of a cluster share their minimiser; weights are 1 inside "
    "clusters and 0 between them; gradients are exact; mu = min a_i, beta = max a_i",
    # The step of the largest cluster.
    conditions=lambda *, eta, mu, beta, rho, size: {
        "step size eta <= 1/(beta + rho (size - 1))": (eta, 1 / (beta + rho * (size - 1))),
        "curvature mu <= beta": (mu, beta),
    },
    tight="The bound is tight if all models of a cluster are at one point and a_i = min a.",
    monotone={"radius": 1, "mu": -1, "eta": -1},
)
def selection_radius(*, eta, mu, radius, T):
    """With settled weights, exact gradients and eta <= 1/(max a_i + rho (c - 1)), c the largest cluster, models within
    r of their minimisers are within (1 - eta min a_i)^T r after T steps."""
    return survive(eta * mu, T) * radius


THEOREMS = records(
    selection_margin,
    record_of(selection_time).as_printed(
        "The text does not say which starts are well initialised.",
        fault="Weights start at 1, and an update, which is made with probability 1/n, moves a weight by gamma |<grad "
        "f_i, grad f_j>|; far from the centres the inner product of different clusters is positive.",
        statement="The weights are w* from the first update on, for well initialised models.",
        source=source("Theorem I, Appendix A.2, case 2"),
        hypotheses="",
    ),
    selection_time,
    selection_radius,
)
