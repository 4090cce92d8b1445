"""Plans about the population behind the rows: models for rows that nobody has seen yet, from one round of messages.

`messages` what sites send; `posterior` models under a Gaussian prior on how sites differ; `random_coefficients`,
`clusters` and `all_for_one` other candidates; `rule` averages them all by how well each predicts held-out folds; `gain`
what a site gains by it.
"""

from .messages import FOLDS as FOLDS
from .messages import Fold as Fold
from .messages import Messages as Messages
from .rule import Fitted as Fitted
from .rule import collaborate as collaborate
