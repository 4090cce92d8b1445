"""`summarise`: what a site sends instead of its rows, from which `fit` makes the models of all sites."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from suffice.support.errors import InputError
from suffice.support.memory import MAX_MEMORY
from suffice.support.numbers import as_flag

if TYPE_CHECKING:
    from suffice.simulate.data.message import Message


def summarise(
    source: Any,
    *,
    site: str,
    target: str = "target",
    drop: Sequence[str] = (),
    client: str = "client",
    reveal: bool = False,
    max_memory: float = MAX_MEMORY,
) -> Message:
    """Sum up a site's rows in the message that it sends instead of them; `.write("lyon.json")` writes it to a file.

    source   a table of this site's rows, read as `fit` does
    site     the name of the site
    target, drop, client  columns to predict, to leave out, and of sites, which is ignored
    reveal   whether a message may tell single rows
    max_memory  bytes that the table may take

    `fit` of all messages gives the models of `fit` of all rows, to rounding, if every site sends five folds. If a site
    has fewer rows in a fold than a model has coefficients, it sends one message for all of them, unless `reveal`: a
    fold of one row is that row. Raises `InputError`.
    """
    from suffice.simulate.data.message import message_of
    from suffice.simulate.data.site_source import read_sites

    as_flag("reveal", reveal)
    if not isinstance(site, str) or not site.strip():
        raise InputError("site", site, "give the site's name")
    sites, _ = read_sites(
        source,
        client=client,
        target=target,
        drop=drop,
        loss="least-squares",
        site=site,
        max_memory=max_memory,
    )
    return message_of(sites, reveal=reveal)
