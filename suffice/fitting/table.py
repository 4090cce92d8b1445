"""The table that `suffice fit` shows of a `Fit`."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from suffice.simulate.data.design import CHANGED, NOTE
from suffice.simulate.data.folds import FOLDS
from suffice.support.tables import WIDE, Table, gathered, number, some

from .gain import LEAST_ROWS, PER_COEFFICIENT, beyond_chance
from .site_models import LEFT_OUT

MOST = 40
"""So many sites are shown; all are in the JSON."""
WRONG = 8.0
"""A site with a column whose deviations are so many times the others', or a level so far, is told to look at its data:
one of another law may be as far by its residuals, where there is little noise, but seldom so."""
MOST_GROUPS, WIDEST = 3, 16
"""The names of collaborators take at most so many characters."""
COLUMNS = ("site", "rows", "own share", "learns from", "constant", "alone", "together", "gain +- 2 se")
"""The share of its own rows in a site's model, the sites with more than half an equal share of the rest, and losses."""
MEASURES = {"least-squares": "mean squared error"}
NOT_HELD = "their rows came in one part, so none was held out"


def fit_table(fit: Any, width: int = WIDE) -> Table:
    """The answer, sites with what they gain, and three notes at most. More sites that one learns from are named where
    there is room for more than `WIDE` characters."""
    rows = []
    for model in fit.clients[:MOST]:
        share, who = (
            model.weights.get(model.name, 0.0),
            listed(model.collaborators, len(fit) - 1, WIDEST + max(width - WIDE, 0)),
        )
        losses = (model.expected_loss_constant, model.expected_loss_alone, model.expected_loss)
        shown = (meant(loss, model.rows) for loss in losses)
        rows.append((model.name, str(model.rows), f"{share:.0%}", who, *shown, interval(model.gain, model.gain_se)))
    numeric = [name for name in COLUMNS if name not in ("site", "learns from")]
    optional = ("own share", "constant")
    return Table(title=answer(fit), columns=COLUMNS, numeric=numeric, optional=optional, rows=rows, lines=_notes(fit))


def answer(fit: Any) -> str:
    """A sentence on the gain of all sites, and of which loss; means over sites are weighted by rows."""
    measure = MEASURES.get(fit.loss, "log-loss")
    among = [model for model in fit if model.rows >= LEAST_ROWS and LEFT_OUT not in model.notes]
    held = [model for model in among if model.expected_loss_alone is not None]
    rows = sum(model.rows for model in held)

    def mean(name: str) -> float | None:
        known = [getattr(model, name) for model in held]
        return None if None in known or not rows else sum(x * model.rows for x, model in zip(known, held)) / rows

    alone, constant = (meant(mean(f"expected_loss_{of}"), rows) for of in ("alone", "constant"))
    scale = f"(a constant has {constant})" if constant != "-" else ""
    gain, error, many = (fit.rule[name] for name in ("network_gain", "network_gain_se", "network_gain_sites"))
    if len(fit) == 1:
        known = f", whose {measure} on new rows is {alone} {scale}".rstrip() if held else ""
        return f"There is only one site{known}, so there is nothing to gain."
    if gain is None or error is None:
        apart = len(fit) == 2 and all(LEFT_OUT in model.notes for model in fit)
        why = "they are fitted apart" if apart else NOT_HELD if among else f"no site has {LEAST_ROWS} rows"
        return f"Nobody can tell what the {len(fit)} sites gain: {why}."
    sure = "Collaboration pays off" if gain > 0 else "Working alone is better"
    verdict = sure if abs(gain) > 2 * error else "The gain is not significant"
    which = f"the {len(fit)} sites" if many == len(fit) else f"{many} of {len(fit)} sites"
    gains = f"lose {interval(-gain, error)}" if gain < -2 * error else f"gain {interval(gain, error)}"
    return f"{verdict}: together {which} {gains} in their mean, of a {measure} of {alone} alone {scale}".rstrip() + "."


def interval(gain: float | None, error: float | None) -> str:
    """A gain, with two standard errors behind +-; "-" where it is unknown."""
    return "-" if gain is None or error is None else f"{beside(gain, error)} +- {rounded(2 * error, 2)}"


def meant(loss: float | None, rows: int) -> str:
    """A mean of so many squares, whose relative standard error is sqrt(2/rows) at least: two digits, or three."""
    return rounded(loss, 2 if rows < 200 else 3)


def rounded(value: float | None, digits: int) -> str:
    return number(None if value is None else float(f"{value:.{digits}g}"), 6)


def beside(value: float | None, error: float | None) -> str:
    """A number, rounded at the place where two standard errors have their second digit."""
    if value is None or not error:
        return number(value)
    place = 1 - math.floor(math.log10(2 * error))
    return f"{round(value, place) + 0.0:.{max(place, 0)}f}" if place < 7 else number(value)


def listed(names: Sequence[str], others: int, widest: int = WIDEST) -> str:
    """Collaborators in few characters: all others, or the first ones and how many more."""
    if len(names) == others > 2:
        return f"all {others} others"
    for shown in range(len(names), 0, -1):
        text = ", ".join(names[:shown]) + (f" + {len(names) - shown}" if shown < len(names) else "")
        if len(text) <= widest or shown == len(names) == 1:
            return text
    return f"{len(names)} others" if names else "nobody"


def _notes(fit: Any) -> list[str]:
    """Three: what the sites' data show, what is known of their gains, how the columns were read and what is sent."""
    said, more = findings(fit), []
    if len(fit.classes) == 2:
        more.append(f"A coefficient above 0 makes {fit.target}={fit.classes[1]} more probable.")
    sources = dict.fromkeys(column.source for column in fit.design.columns)
    more.append(f"Predictors: {some(list(sources))}.")
    most, least = fit.rule["numbers_per_site"], fit.rule["fewest_numbers"]
    if least is not None:
        more.append(f"Each site sent one message of {f'{least} to ' * (least < most)}{most} numbers, and no rows.")
    more += gathered(
        [*map(CHANGED.format, fit.left_out), *(NOTE.format(note) for note in fit.notes if note not in said)]
    )
    return [" ".join(lines) for lines in (said, _gains(fit), more) if lines]


def findings(fit: Any) -> list[str]:
    """Sentences on the sites' data: who is alone or wrong, who is alike, whether a logarithm would do better."""
    power, said = fit.rule["spread_power"], []
    if power is not None:
        scatter = f"scatter more where sites' means are larger (as their power {power:.2g})"
        said = [f"Rows of {fit.target} {scatter}: try log(1 + {fit.target})."]
    return [*_suspects(fit, grows=power is not None), *_groups(fit), *said]


def _suspects(fit: Any, *, grows: bool) -> list[str]:
    """A site that is only apart is not said to be wrong, nor any where the target `grows` noisier with its size, or
    fewer than two sites have rows enough to judge."""
    lines, enough = [], PER_COEFFICIENT * (len(fit.encoding.columns) + 1)
    single = {entry["sites"][0]: f", and {_values(entry)}" for entry in fit.rule["groups"] if len(entry["sites"]) == 1}
    judged = sum(model.rows >= enough for model in fit) > 1
    for entry in fit.rule["suspects"]:
        name, rows = entry["site"], fit[entry["site"]].rows
        times = f"{float(number(entry['times'] or 1.0, 2)):,.6g} times"
        if entry["left_out"] == "site" and len(fit) == 2:
            lines.append(
                f"{name} is fitted apart: the other's model is {times} as far from its rows as one of its own. "
                "Of two sites nobody can tell which is wrong: compare their units, signs and labels."
            )
        elif entry["left_out"] == "site":
            few = rows <= FOLDS
            wrong = judged and not grows and (few or entry["units"] >= WRONG)
            which = "its row is" if rows == 1 else "a row of it is" if few else "its rows are"
            remedy = "look for a slip, or a line of sums" if few else "check its units, signs and labels"
            what = f"left out: {which} {times}" if wrong else f"alone: {which} {times}"
            told = single.get(name, "") + f"; {remedy}" * wrong
            lines.append(f"{name} is {what} as far from the others' models as others'{told}.")
            if len(fit) == 3:
                lines.append("Of three sites, two that are wrong alike would be believed.")
        for fold in entry["folds"]:
            which = f"its rows {fold}, {fold + FOLDS}, {fold + 2 * FOLDS} and so on"
            lines.append(f"Fold {fold} of {name} ({which}) is left out: it is {times} as far as its other rows.")
        if entry["row_share"]:
            share = min(100 * entry["row_share"], 99.9)  # never all of what is less
            lines.append(f"{entry['row']} has {share:.3g} % of the squared error of {name}.")
    return lines


def _values(entry: Mapping[str, Any]) -> str:
    return f"{entry['column']} has {entry['own']:.3g} against {entry['others']:.3g}"


def _gains(fit: Any) -> list[str]:
    """Which sites decide the gain, why some have none, and whose is beyond chance."""
    if len(fit) == 1:
        return []
    lines, held = [], [model for model in fit if model.expected_loss is not None]
    if len(fit) > MOST:
        lines.append(f"{len(fit) - MOST} more sites are in --json and --out FILE.")
    if any(not (one.collaborators or LEFT_OUT in one.notes) and one.weights.get(one.name, 0) < 0.995 for one in fit):
        lines.append("Where a site learns from nobody, the rest comes from all others, none above half an equal share.")
    decisive = fit.rule["network_gain_decided_by"]
    if decisive is not None:
        without = fit.rule["network_gain_without"]
        rows = fit[decisive].rows
        lines.append(
            f"Most of what sites gain or lose is at {decisive} ({rows} rows), without which the gain is {without:.3g} "
            "per row."
        )
    if len(held) < len(fit):
        unheld = some([model.name for model in fit if model.expected_loss is None])
        lines.append(f"Where all rows came in one part, none is held out and no loss is known: {unheld}.")
    known = [model for model in held if model.gain is not None]
    size = len(fit.encoding.columns) + 1
    if any(model.gain is None and model.rows < PER_COEFFICIENT * size for model in held):
        lines.append(
            f"A site with fewer than {PER_COEFFICIENT * size} rows, {PER_COEFFICIENT} for each of {size} coefficients, "
            "has no gain here, because the interval would be unreliable."
        )
        pairs = [(one.name, one.expected_loss_alone, one.expected_loss) for one in held if one.gain is None]
        worse = [
            name for name, alone, together in pairs if alone is not None and together is not None and together > alone
        ]
        if worse:
            lines.append(f"At {some(worse)} the loss together is larger than that alone.")
    limit = beyond_chance(len(known))
    beyond = [model for model in known if abs(model.gain or 0.0) > limit * (model.gain_se or 0.0)]
    if known:
        signs = {"gain": [model.name for model in beyond if (model.gain or 0.0) > 0]}
        signs["loss"] = [model.name for model in beyond if model.name not in signs["gain"]]
        whose = " and ".join(f"the {what} at {some(names)}" for what, names in signs.items() if names)
        verb = "are" if all(signs.values()) else "is"
        whose = whose or "no single site's gain"
        among = f"With {len(known)} sites" if len(known) == len(fit) else f"Of the {len(known)} sites with a gain here"
        lines.append(f"{among}, {whose} {verb} beyond chance (above {limit:.2g} standard errors).")
    return lines


def _groups(fit: Any) -> list[str]:
    """Sentences on groups, and on sites that are like no other but not left out: their slopes and gains; the largest
    come first."""
    lines: list[str] = []
    groups = [entry for entry in fit.rule["groups"] if LEFT_OUT not in fit[entry["sites"][0]].notes]
    for entry in groups[:MOST_GROUPS]:
        gain, error = entry["gain"], entry["gain_se"]
        gains = "" if gain is None else f"; gain {interval(gain, error)}"
        several = len(entry["sites"]) > 1
        who = "are alike and differ from the others" if several else "is like no other site"
        lines.append(f"{some(entry['sites'])} {who}: {_values(entry)}{gains if several else ''}.")
    more = [entry["sites"] for entry in groups[MOST_GROUPS:]]
    return [*lines, f"So are {some([' with '.join(sites) for sites in more])} (--json)."] if more else lines
