"""Yi, Condat, Richtarik (2023): Scafflix, explicit personalisation and accelerated local training."""

from __future__ import annotations

from ...theorem import Definition, Theorem

THEOREMS: tuple[Theorem, ...] = ()
DEFINITIONS: tuple[Definition, ...] = ()
