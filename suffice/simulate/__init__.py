"""Problems whose constants are known, algorithms, exact moments, and a runner over batches of seeds. torch, which loads
when a name is first used that needs it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from suffice.support.lazy import lazy

if TYPE_CHECKING:
    from . import algorithms as algorithms
    from . import problems as problems
    from .algorithms import APFL as APFL
    from .algorithms import IFCA as IFCA
    from .algorithms import WGABC as WGABC
    from .algorithms import Algorithm as Algorithm
    from .algorithms import AllForAll as AllForAll
    from .algorithms import AllForOne as AllForOne
    from .algorithms import CoBo as CoBo
    from .algorithms import Ditto as Ditto
    from .algorithms import Draw as Draw
    from .algorithms import EstimatedAllForAll as EstimatedAllForAll
    from .algorithms import FedAvg as FedAvg
    from .algorithms import FederatedClustering as FederatedClustering
    from .algorithms import FixedCoBo as FixedCoBo
    from .algorithms import FixedWeights as FixedWeights
    from .algorithms import Flix as Flix
    from .algorithms import Local as Local
    from .algorithms import LocalSGD as LocalSGD
    from .algorithms import Optimised as Optimised
    from .algorithms import Scaffnew as Scaffnew
    from .catalogue import ALGORITHMS as ALGORITHMS
    from .catalogue import algorithm as algorithm
    from .excess_loss import Moments as Moments
    from .excess_loss import expected_excess as expected_excess
    from .excess_loss import expected_moments as expected_moments
    from .excess_loss import expected_moments_batch as expected_moments_batch
    from .oracle import Oracle as Oracle
    from .problem import Problem as Problem
    from .problem_batches import split as split
    from .problem_batches import stack as stack
    from .problems import LeastSquares as LeastSquares
    from .problems import Logistic as Logistic
    from .problems import Neural as Neural
    from .problems import Quadratics as Quadratics
    from .problems import Ripple as Ripple
    from .problems import Separable as Separable
    from .problems import StreamingLeastSquares as StreamingLeastSquares
    from .problems import Well as Well
    from .problems import generators as generators
    from .problems.gradient_noise import Additive as Additive
    from .randomness import Randomness as Randomness
    from .randomness import Stream as Stream
    from .randomness import philox as philox
    from .runner import Diverged as Diverged
    from .runner import hitting_times as hitting_times
    from .runner import iterate as iterate
    from .runner import run as run
    from .scouts import Collaborators as Collaborators
    from .scouts import collaborators as collaborators
    from .seed_blocks import block_size as block_size
    from .seed_blocks import padded_seeds as padded_seeds
    from .similarity_ratio import DebiasedSimilarity as DebiasedSimilarity
    from .similarity_ratio import ExactSimilarity as ExactSimilarity
    from .similarity_ratio import ReleasedSimilarity as ReleasedSimilarity
    from .similarity_ratio import SampledSimilarity as SampledSimilarity
    from .trace import Trace as Trace

__getattr__, __dir__, __all__ = lazy(__name__, __file__)
