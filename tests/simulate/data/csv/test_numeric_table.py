"""Comma-separated tables: what is read, and what is refused with the place of the mistake."""

from __future__ import annotations

import pytest
from client_data import TABLE, written

import suffice as sf

MISTAKES = {
    "no such target": (TABLE.replace("y\n", "z\n", 1), "target = 'y': no such column"),
    "no such client": (TABLE.replace("site", "centre", 1), "client = 'site': no such column"),
    "text in numbers": (TABLE.replace("4,1", "four,1"), "age in line 4 (client Nice) = 'four': give a number"),
    "nan": (TABLE.replace("4,1", "nan,1"), "age in line 4 (client Nice) = 'nan'"),
    "infinity": (TABLE.replace("4,1", "inf,1"), "age in line 4"),
    "ragged": (TABLE.replace("4,1", "4,1,8"), "line 4 of clients.csv = '4 fields': give 3 fields"),
    "nameless client": (TABLE.replace("Nice,4", ",4"), "site in line 4"),
    "double header": (TABLE.replace("age", "y", 1), "columns 2 and 3 have this name"),
    "header only": ("site,age,y\n", "at least one row"),
    "empty file": ("", "at least one row"),
    "one row": (TABLE + "Paris,3,3\n", "rows of client Paris = 1"),
    "client is the target": (TABLE.replace("site,age,y", "site,age,z").replace("site", "y", 1), "cannot be the target"),
    "other digits": (TABLE.replace("4,1", "1_0,1"), "age in line 4 (client Nice) = '1_0'"),
    "constant predictor": (TABLE.replace("Nice,5", "Nice,4").replace("Nice,9", "Nice,4"), "age of client Nice"),
}


@pytest.mark.parametrize("name", MISTAKES)
def test_a_mistake_is_refused_with_its_place(tmp_path, name):
    text, message = MISTAKES[name]
    client = "y" if name == "client is the target" else "site"
    with pytest.raises(sf.InputError) as caught:
        sf.read(written(tmp_path, text), client=client, target="y", standardise="client")
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


def test_other_encodings_are_refused(tmp_path):
    path = tmp_path / "clients.csv"
    path.write_bytes(TABLE.replace("Lyon", "Orléans").encode("latin-1"))
    with pytest.raises(sf.InputError, match="UTF-8"):
        sf.read(path, client="site", target="y")
