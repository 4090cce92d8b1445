"""Checks of statements are exact, sampled and adversarial, and could have gone the other way."""

from __future__ import annotations

from . import families as families
from . import testing as testing
from .check import check as check
from .claim import Claim as Claim
from .claim import Effort as Effort
from .claims import unchecked as unchecked
from .claims import verify as verify
from .errata import Erratum as Erratum
from .errata import errata as errata
from .evidence import Evidence as Evidence
from .family import Domain as Domain
from .family import Family as Family
from .mutants import Mutant as Mutant
from .mutants import mutants as mutants
from .quantity import quantity as quantity
from .verdict import Outcome as Outcome
from .verdict import Verdict as Verdict
