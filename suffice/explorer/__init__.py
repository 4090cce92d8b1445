"""Every bound in a browser: one HTML page, written from the records, the claims' instances and the errata."""

from __future__ import annotations

from .page import explore as explore
