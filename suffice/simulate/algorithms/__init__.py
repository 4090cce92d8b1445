"""Update rules: `init` and `step`, whether the step is linear, and what an iteration costs."""

from __future__ import annotations

from .algorithm import Algorithm as Algorithm
from .algorithm import Draw as Draw
from .algorithm import State as State
from .all_for_all import AllForAll as AllForAll
from .all_for_all_estimated import EstimatedAllForAll as EstimatedAllForAll
from .all_for_all_two_stage import TwoStageAllForAll as TwoStageAllForAll
from .all_for_one import AllForOne as AllForOne
from .apfl import APFL as APFL
from .cobo import CoBo as CoBo
from .cobo_fixed import FixedCoBo as FixedCoBo
from .ditto import Ditto as Ditto
from .fedamp import FedAMP as FedAMP
from .fedavg import FedAvg as FedAvg
from .federated_clustering import FederatedClustering as FederatedClustering
from .fedfomo import FedFomo as FedFomo
from .fedprox import FedProx as FedProx
from .fixed_weights import FixedWeights as FixedWeights
from .flix import Flix as Flix
from .gradient_tracking import GradientTracking as GradientTracking
from .ifca import IFCA as IFCA
from .local import Local as Local
from .local_sgd import LocalSGD as LocalSGD
from .minibatch import MinibatchSGD as MinibatchSGD
from .momentum import Momentum as Momentum
from .optimiser import Optimised as Optimised
from .reshuffling import RandomReshuffling as RandomReshuffling
from .scafflix import Scaffnew as Scaffnew
from .scaffold import Scaffold as Scaffold
from .scouts import Scouts as Scouts
from .validation_based import ValidationBased as ValidationBased
from .wga import WGABC as WGABC
