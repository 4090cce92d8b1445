"""Does the statement hold? Exact, sampled and adversarial checks that could have gone the other way."""

from __future__ import annotations

from .claim import Claim as Claim
from .claim import Effort as Effort
from .claims import verify as verify
from .errata import Erratum as Erratum
from .errata import errata as errata
from .evidence import Evidence as Evidence
from .families import Domain as Domain
from .families import Family as Family
from .mutants import Mutant as Mutant
from .mutants import mutants as mutants
from .verdict import Outcome as Outcome
from .verdict import Verdict as Verdict
