"""Results that consist of parts: an attribute of a part is one of the whole, too."""

from __future__ import annotations

from typing import Any


class Of:
    """`criterion = Of("cluster")` in a class: `whole.criterion` is `whole.cluster.criterion`."""

    def __init__(self, part: str, name: str = "") -> None:
        self.part, self.name = part, name

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = self.name or name

    def __get__(self, whole: Any, owner: type | None = None) -> Any:
        return self if whole is None else getattr(getattr(whole, self.part), self.name)
