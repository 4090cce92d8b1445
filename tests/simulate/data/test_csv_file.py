"""Tables in text files: columns of any kind; whatever separates them and writes decimals, the same rows or refused."""

from __future__ import annotations

import bz2
import gzip
import random
from collections import Counter
from decimal import Decimal

import numpy as np
import pytest
from polars import Series

import suffice as sf
from suffice.bounds import InputError
from suffice.simulate.data.cells import numbers_of, series_of, texts_of
from suffice.simulate.data.csv_file import TextFile
from suffice.simulate.data.frame import Replayed


@pytest.mark.parametrize(
    ("cells", "numbers"),
    [
        (["1", " 2.5 ", "-3e2"], [1, 2.5, -300]),
        (["1", "NA", "?"], [1, np.nan, np.nan]),
        (["", "nan"], [np.nan, np.nan]),
        (["inf", "1"], [np.inf, 1]),
    ],
)
def test_numbers(cells, numbers):
    np.testing.assert_array_equal(numbers_of(Series(cells)), numbers)


@pytest.mark.parametrize("cells", [["1", "two"], ["1_000", "2"], ["١", "2"], ["0x1", "2"]])
def test_texts(cells):
    assert numbers_of(Series(cells)) is None
    assert texts_of(Series([*cells, "NA"])).to_list() == [*cells, None]


def test_lists_of_python():
    np.testing.assert_array_equal(series_of("x", [1, None, 2.5]), [1, np.nan, 2.5])
    np.testing.assert_array_equal(series_of("x", [True, False]), [1, 0])
    assert texts_of(series_of("x", ["a", None, float("nan"), " b "])).to_list() == ["a", None, None, "b"]
    for bad in ([[1], [2]], "abc", 3, ["a", "\ud800"]):
        with pytest.raises(InputError):
            series_of("x", bad)
    with pytest.raises(InputError, match="a date"):
        series_of("x", np.array(["2020-01-01"], dtype="datetime64[D]"))


def test_the_word_none_is_a_level_among_texts_and_a_gap_among_numbers(tmp_path, monkeypatch):
    """Read whole and in pieces, some of which hold nothing else, the word is a level of its own, and what was read as
    missing is counted; rows without a site are left out."""
    columns = {
        "client": ["a", "b"] * 9 + ["", "NA"],
        "promo": ["none"] * 8 + ["flyer", "Flyer"] * 4 + ["", "NA", "none", "none"],
        "x": ["None"] * 2 + [str(k * k) for k in range(16)] + ["", "none"],
        "target": [str(k % 7) for k in range(20)],
    }
    path = tmp_path / "t.csv"
    path.write_text("\n".join(",".join(row) for row in (columns, *zip(*columns.values()))))
    for piece in (50_000, 30):
        monkeypatch.setattr("suffice.simulate.data.csv_file.PIECE", piece)
        fit = sf.fit(path, loss="least-squares")
        assert set(fit["a"].coefficients) == {"promo=Flyer", "promo=flyer", "promo=missing", "x", "x=missing"}
        said = " | ".join((*fit.left_out, *fit.notes))
        assert "promo: 2 cells read as missing (empty 1, NA 1)" in said
        assert "promo: Flyer, flyer differ only in capitals: write one" in said
        assert "promo: none is a level, though missing among numbers" in said
        assert "4 cells read as missing (None 2, empty 1, none 1)" in said
        assert "2 rows without a site (client)" in said
    new = {"client": ["a"] * 3, "x": ["none", None, 1]}
    none, gap = (fit.predict(new | {"promo": [level] * 3}) for level in ("none", "NA"))
    np.testing.assert_allclose(gap - none, fit["a"].coefficients["promo=missing"], rtol=1e-9)
    assert none[0] == none[1]
    problem = sf.read(path)  # as a fit does
    assert problem.row_counts == (9, 9)
    assert "2 rows without a site (client)" in " ".join(problem.remarks)


def test_sites_are_named_as_they_stand_in_the_file(tmp_path):
    """Numbers of 17 digits, which a float cannot tell apart, and codes with zeros in front; but 3 for 3.0."""
    sites = ["12345678901234567", "12345678901234568", "007", "7", "3.0"]
    rows = [f"{site},{k},{k * k % 7}" for k in range(12) for site in sites]
    (tmp_path / "t.csv").write_text("\n".join(["client,x,target", *rows]))
    fit = sf.fit(tmp_path / "t.csv")
    assert [model.name for model in fit] == [*sites[:4], "3"]
    assert len(fit.predict(tmp_path / "t.csv")) == 60


ODD = ["", " ", ",,", "# c", "#,1,2", "1,2,3,4", "1,2", '"a",2,3', '"a\nb",2,3', "5,6,7"]


def test_rows_are_taken_apart_alike_by_polars_and_line_by_line(tmp_path, monkeypatch):
    """Blank lines, comments, quotes, and rows that are short where others are long: one table, or one complaint."""
    path, rng = tmp_path / "t.csv", np.random.default_rng(5)

    def found():
        try:
            return [(frame.rows(), list(lines)) for frame, lines in TextFile(path).pieces()]
        except InputError as error:
            return str(error)

    for body in (
        "1,2\n1,2,3,4\n",
        "1,\u20282,\x0c3\n",
        *("".join(f"{rng.choice(ODD)}\n" for _ in range(4)) for _ in range(150)),
    ):
        path.write_text("a,b,c\n" + body)
        by_polars = found()
        with monkeypatch.context() as patch:
            patch.setattr(TextFile, "_fast", lambda *given: None)
            assert found() == by_polars
    path.write_text("a,b,c\n1,2\n1,2,3,4\n")
    with pytest.raises(InputError, match=r"line 2 of t\.csv = '2 fields'"):
        list(TextFile(path).frames())


def test_a_file_is_the_same_table_in_pieces_and_blocks_of_any_length(tmp_path, monkeypatch):
    """A column that is numbers in one block and texts in the next ends a piece; no row, gap or line is lost."""
    path = tmp_path / "t.csv"
    path.write_text("x,k\n" + "".join(f"{row if row % 9 else 'NA'},{'u' if row > 20 else row}\n" for row in range(40)))
    for piece in (50_000, 50, 7, 1):
        monkeypatch.setattr("suffice.simulate.data.csv_file.PIECE", piece)
        frames = list(TextFile(path).frames())
        x, k = (np.concatenate([frame.texts(name) for frame in frames]).tolist() for name in "xk")
        assert x == [str(row) if row % 9 else None for row in range(40)]
        assert k == ["u" if row > 20 else str(row) for row in range(40)]
        gaps = [frame.gaps("x", np.isnan(frame.numbers("x"))) for frame in frames]
        assert sum(gaps, Counter()) == {"NA": 5}
        assert [line for frame in frames for line in frame.lines] == list(range(2, 42))
        assert len(frames) > 1 or piece == 50_000


def test_numbers_of_one_file_make_no_levels_of_the_texts_of_another(tmp_path):
    """Beside n/a, 1.50 stands as it is written; the numbers of the next file add no level 1.5, which no row has."""
    for site, cells in (("a", ("1.50", "n/a", "2.50")), ("b", ("3", "4", "5")), ("c", ("low", "high", "low"))):
        rows = [f"{cell},{row % 4}.5" for row, cell in enumerate(cells * 5)]
        (tmp_path / f"{site}.csv").write_text("\n".join(["dose,target", *rows]))
    names = {name.partition("=")[2] for name in sf.fit(tmp_path)["a"].coefficients}
    assert names | {"low"} == {"1.50", "2.50", "3", "4", "5", "high", "low", "missing"}


@pytest.mark.parametrize("room", [1 << 24, 1, 0])
def test_later_passes_find_the_pieces_of_the_first_in_memory_on_disk_or_in_the_file(tmp_path, monkeypatch, room):
    """With gaps, texts and lines; where there is no `room` at all the file is read again."""
    path, passes = tmp_path / "t.csv", []
    path.write_text("x,k\n" + "".join(f"{row if row % 9 else 'NA'},{row if row % 5 else ''}u\n" for row in range(40)))
    monkeypatch.setattr("suffice.simulate.data.csv_file.PIECE", 50)
    monkeypatch.setattr("suffice.simulate.data.frame.FEW", room)
    if not room:
        monkeypatch.setattr("tempfile.SpooledTemporaryFile.write", lambda *given: (_ for _ in ()).throw(OSError()))
    frames = Replayed(lambda: passes.append(1) or TextFile(path).frames())
    wanted, *others = (list(frames()) for _ in range(3))
    assert len(passes) == (1 if room else 3)
    for found in others:
        for one, other in zip(wanted, found, strict=True):
            assert (one.file, [*one.lines]) == (other.file, [*other.lines])
            assert one.cells.equals(other.cells)


def dialect_of(path, read=lambda name: True):
    found = TextFile(path, read)
    return found.separator, found.decimal


AMBIGUOUS = {
    "both marks": ("x;y\n1,5;2\n1;2.5\n", r"^y in line 3 of t.csv = '2.5': but x in line 2 of t.csv = '1,5'"),
    "three digits": ("x;y\n1,234;2\n999;12,345\n", r"'1,234': decimals or thousands\?"),
    "two separators": ("x;y\tz\n1;2\t3\n", "by semicolons or by tabs, not by both"),
}


@pytest.mark.parametrize("name", AMBIGUOUS)
def test_an_ambiguous_table_is_refused_once_with_all_that_is_to_be_done(tmp_path, name):
    text, message = AMBIGUOUS[name]
    (tmp_path / "t.csv").write_text(text)
    with pytest.raises(InputError, match=message) as caught:
        dialect_of(tmp_path / "t.csv")
    assert name == "two separators" or "separate the columns by commas and write decimals with points" in str(
        caught.value
    )


def test_one_number_settles_the_mark_and_columns_left_out_do_not_count(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("x;version\n1,234;1.5\n0,5;2.5\n")
    with pytest.raises(InputError, match="drop a column"):
        dialect_of(path)
    assert dialect_of(path, lambda name: name != "version") == (";", ",")
    path.write_text('"a;b",c\n1,2\n')
    assert dialect_of(path) == (",", ".")
    path.write_text("x  y\n1 2\n")
    assert dialect_of(path) == (" ", ".")  # as `predict --keep` writes it again
    path.write_text("x,y\n1,5,2,5\n")
    with pytest.raises(
        InputError,
        match="4 fields': give 2 fields, as the header in line 1 has; where decimals have commas",
    ):
        sf.fit(path)


def table_of(found):
    return [model.to_dict() for model in found]


PLAIN_ROWS = [[f"s{k % 3}", f"{k * 7919 % 971 / 10}", f"{k * k * 31 % 353 / 4}"] for k in range(48)]


def plainly(rows=PLAIN_ROWS, header="site,x,y", separator=",", end="\n"):
    return end.join([header, *(separator.join(row) for row in rows)]) + end


WITH_COMMAS = [[cell.replace(".", ",") for cell in row] for row in PLAIN_ROWS]
AS_WRITTEN = {
    "sep line": "\ufeffsep=;\r\n" + plainly(header="site;x;y", separator=";", end="\r\n"),
    "quoted sep line": '"sep=|"\n' + plainly(header="site|x|y", separator="|"),
    "bars": plainly(header="site|x|y", separator="|"),
    "comments": "# made by hand\n#\n" + plainly() + "# the end\n",
    "header of NumPy": plainly(header="# site,x,y"),
    "blanks": plainly(header="  site x  y", separator="   "),
    "tabs and blanks": plainly(header="site \t x y", separator=" \t"),
    "blank lines": plainly().replace("\n", "\n\n"),
    "decimal commas": plainly(WITH_COMMAS, header="site;x;y", separator=";"),
    "decimal commas and tabs": plainly(WITH_COMMAS, header="site\tx\ty", separator="\t"),
    "old line ends": plainly(end="\r"),
    "quotes": plainly([[f'"{cell}"' for cell in row] for row in PLAIN_ROWS], header='"site","x","y"'),
    "names of rows": plainly([[str(at), *row] for at, row in enumerate(PLAIN_ROWS)]),
    "commas in the header": plainly(header='"site";x;"y"', separator=";"),
}


@pytest.mark.share(6)
@pytest.mark.parametrize("name", AS_WRITTEN)
@pytest.mark.parametrize("piece", [1 << 22, 40])
def test_files_as_programs_write_them_are_one_table(tmp_path, monkeypatch, name, piece):
    monkeypatch.setattr("suffice.simulate.data.csv_file.PIECE", piece)
    (tmp_path / "plain.csv").write_text(plainly())
    (tmp_path / "t.csv").write_bytes(AS_WRITTEN[name].encode())
    how = {"client": "site", "target": "y"}
    wanted = table_of(sf.fit(tmp_path / "plain.csv", **how))
    assert table_of(sf.fit(tmp_path / "t.csv", **how)) == wanted
    if name == "tabs and blanks":
        (tmp_path / "t.txt").write_bytes(AS_WRITTEN[name].encode())
        assert table_of(sf.fit(tmp_path / "t.txt", **how)) == wanted


def test_compressed_and_wide_files_are_read(tmp_path):
    (tmp_path / "plain.csv").write_text(plainly())
    wanted = table_of(sf.fit(tmp_path / "plain.csv", client="site", target="y"))
    for name, content in (
        ("t.csv.gz", gzip.compress(plainly().encode())),
        ("t.tsv.bz2", bz2.compress(plainly(header="site\tx\ty", separator="\t").encode())),
        *((f"{kind}.csv", plainly().encode(kind)) for kind in ("utf-16", "utf-16-le", "utf-16-be")),
    ):
        (tmp_path / name).write_bytes(content)
        fit = sf.fit(tmp_path / name, client="site", target="y")
        assert table_of(fit) == wanted
        assert sf.read(tmp_path / name, client="site", target="y").clients == 3
    (tmp_path / "t.csv.gz").write_bytes(gzip.compress(plainly().encode())[:90])
    with pytest.raises(InputError, match="damaged compression"):
        sf.fit(tmp_path / "t.csv.gz", client="site", target="y")


BEFORE = {
    "a title": "Export of trial 12\n",
    "a title and a blank line": "\ufeffExport of trial 12, for review\n\n",
    "empty cells": "Trial 12;;\n;;\nby;hand;\n",
    "two lines with a date": '"Trial, 12"\nmade on 2024-01-02 at 14:05\n',
}


@pytest.mark.share(2)
@pytest.mark.parametrize("separator", [",", ";", "\t"])
@pytest.mark.parametrize("name", BEFORE)
def test_text_before_the_header_is_named_with_the_line_to_begin_with(tmp_path, name, separator):
    text = BEFORE[name].replace(";", separator)
    rows = [["", *row] for row in PLAIN_ROWS] if name == "empty cells" else PLAIN_ROWS
    header = ["site", "x", "z", "y"] if name == "empty cells" else ["site", "x", "y"]
    rows = [[site, "1", x, y] for _, site, x, y in rows] if name == "empty cells" else rows
    (tmp_path / "t.csv").write_text(text + plainly(rows, separator.join(header), separator))
    wanted = rf"^line 1 of t\.csv = .*text before the header\? begin with line {text.count(chr(10)) + 1}, or"
    for reader in (sf.fit, sf.read):
        with pytest.raises(InputError, match=wanted):
            reader(tmp_path / "t.csv", client="site", target="y")


def test_a_row_may_be_longer_than_a_field_of_pythons_csv(tmp_path):
    header, cells = ",".join(f"x{at}" for at in range(20_000)), ",".join(["1.234567"] * 20_000)
    (tmp_path / "t.csv").write_text(f"{header}\n{cells}\n{cells}\n")
    (frame,) = TextFile(tmp_path / "t.csv").frames()
    assert frame.numbers("x19999").tolist() == [1.234567] * 2


OTHER_FILES = {
    "a workbook": (b"PK\x03\x04" + bytes(99), "no text: a workbook"),
    "an old workbook": (b"\xd0\xcf\x11\xe0" + bytes(99), "no text: a workbook"),
    "Parquet": (b"PAR1" + bytes(range(99)), "no text: a workbook"),
    "gzip": (gzip.compress(plainly().encode()), "name it .gz"),
    "separators at the ends": (plainly().replace("\n", ",\n").replace("y,", "y", 1).encode(), "a separator too many"),
}


@pytest.mark.parametrize("name", OTHER_FILES)
def test_a_file_that_is_something_else_is_called_what_it_is(tmp_path, name):
    content, said = OTHER_FILES[name]
    (tmp_path / "t.csv").write_bytes(content)
    for reader in (sf.fit, sf.read):
        with pytest.raises(InputError, match=said):
            reader(tmp_path / "t.csv", client="site", target="x")


@pytest.mark.parametrize("spelt", ["2024-01-{:02d}", "{:02d}.1.2024", "01/{:02d}/24", "{} janvier 2024"])
@pytest.mark.parametrize("column", ["x", "y"])
def test_dates_are_called_dates_in_any_column(tmp_path, spelt, column):
    rows = [[site, *(spelt.format(1 + k % 28) if name == column else cell for name, cell in (("x", x), ("y", y)))]
            for k, (site, x, y) in enumerate(PLAIN_ROWS)]  # fmt: skip
    (tmp_path / "t.csv").write_text(plainly(rows))
    for reader in (sf.fit, sf.read):
        with pytest.raises(InputError, match=rf"^column {column} = .*: a date: make a number of it"):
            reader(tmp_path / "t.csv", client="site", target="y")


def test_texts_that_nearly_every_row_has_for_itself_are_left_out_and_named(tmp_path):
    rows = [[site, x, f"PT{k % 40}M", y] for k, (site, x, y) in enumerate(PLAIN_ROWS)]
    (tmp_path / "t.csv").write_text(plainly(rows, header="site,x,wait,y"))
    fit = sf.fit(tmp_path / "t.csv", client="site", target="y")
    assert fit.encoding.columns == ("x",)
    assert any(note.startswith("wait: dropped, 40 texts in 48 rows") for note in fit.left_out)


def test_another_encoding_is_named_with_what_was_read(tmp_path):
    rows = [["Orl\u00e9ans" if row[0] == "s1" else row[0], *row[1:]] for row in PLAIN_ROWS]
    (tmp_path / "t.csv").write_bytes(plainly(rows).encode("latin-1"))
    with pytest.raises(InputError, match=r"Latin-1, as near 'Orl\u00e9ans'\?\): save the table as UTF-8 CSV"):
        sf.fit(tmp_path / "t.csv", client="site", target="y")


def test_a_header_over_two_lines_and_lines_of_rows_behind_it(tmp_path):
    text = 'site;"age (years,\nat entry)";"dose; mg"\nA;"1\n";2,5\nB;3,5;4\nA;n/k;5\n'
    (tmp_path / "t.csv").write_text(text)
    found = TextFile(tmp_path / "t.csv")
    assert found.header == ("site", "age (years, at entry)", "dose; mg")
    (frame,) = found.frames()
    assert frame.numbers("dose; mg").tolist() == [2.5, 4, 5]
    assert frame.texts("age (years, at entry)").to_list() == ["1", "3.5", "n/k"]
    assert list(frame.lines) == [4, 5, 6]


def test_decimal_numbers_are_rounded_as_python_rounds_them():
    rng = random.Random(5)
    cells = []
    for _ in range(20_000):
        digits = "".join(rng.choice("0123456789") for _ in range(rng.randint(1, 20)))
        point = rng.randint(0, len(digits))
        power = f"e{rng.randint(-330, 310)}" if rng.random() < 0.3 else ""
        cells.append(f"{rng.choice(['', '-', '+'])}{digits[:point]}.{digits[point:]}{power}")
    for _ in range(2000):  # halfway between two floats, to 20 digits
        one = Decimal(rng.uniform(0.1, 1) * 10 ** rng.randint(-5, 5))
        cells.append(f"{(one + Decimal(float(np.nextafter(float(one), np.inf)))) / 2:.20g}")
    np.testing.assert_array_equal(numbers_of(Series(cells)), [float(cell) for cell in cells])


DISGUISED = {
    "percent": ("{:.1f} %", "numbers with %"),
    "unit": ("{:.1f}mg/dl", "numbers with mg/dl"),
    "apostrophe": ("1'{:03.0f}", "thousands without a mark"),
    "currency": ('"$1,{:03.0f}.50"', "thousands without a mark"),
    "clock": ("14:{:02.0f}", "a time: write a number"),
    "minus": ("\u2212{:.1f}", "- for minus"),
    "narrow blank": ("2\u202f{:03.0f}", "thousands without a mark"),
    "censored": ("<{:.1f}", "a number?"),
    "accounts": ("({:.1f})", "a number?"),
    "power": ("{:.1f} x 10^3", "write each as one plain number"),
    "two units": ("{:.0f} min 30 s", "numbers with min s"),
    "fraction": ("{:.0f}/100", "numbers with /"),
    "another currency": ("\u20a9{:.0f}", "a number?"),
    "brackets": ("[{:.1f}]", "write each as one plain number"),
    "formula": ('"=""{:.1f}"""', "write each as one plain number"),
}


@pytest.mark.share(2)
@pytest.mark.parametrize("name", DISGUISED)
def test_numbers_in_disguise_are_refused_with_the_two_ways_out(tmp_path, name):
    spelt, remedy = DISGUISED[name]
    for share in (1.0, 0.9, 0.5):  # the others are plain numbers or missing
        cells = [
            spelt.format(k * 7919 % 53) if k % 10 < 10 * share else ["", str(k)][k % 2] if share < 1 else ""
            for k in range(50)
        ]
        rows = [f"s{k % 3},{cell},{k * k % 31}" for k, cell in enumerate(cells)]
        (tmp_path / "t.csv").write_text("\n".join(["site,x,y", *rows]))
        for reader in (sf.fit, sf.read):
            with pytest.raises(InputError, match=r"^x in line 2 of t\.csv") as refused:
                reader(tmp_path / "t.csv", client="site", target="y")
            assert remedy in str(refused.value)
            assert "leave the column out by drop" in str(refused.value)


@pytest.mark.parametrize("kinds", [["10-19", "20-29", "30+"], ["T1", "T2"], ["1", "2", "3A"], ["1st", "2nd", "3rd"]])
def test_categories_with_digits_stay_categories(kinds):
    rng = np.random.default_rng(0)
    x, kind = rng.normal(size=60), rng.choice(kinds, 60)
    fit = sf.fit({"client": ["a", "b", "c"] * 20, "x": x, "kind": kind, "target": x + rng.normal(size=60)})
    assert len(fit.encoding.columns) == len(kinds)


@pytest.mark.parametrize("comment", ["made by hand", "a; b | c", "exported, on Monday", "x"])
@pytest.mark.parametrize("mark", [",", ";", " "])
def test_a_comment_of_words_is_no_header(comment, mark, tmp_path):
    path = tmp_path / "rows.csv"
    rows = [["client", "x", "target"], *([who, str(k), str(k + 0.5)] for k, who in enumerate("abab"))]
    path.write_text("\n".join([f"# {comment}", *map(mark.join, rows)]) + "\n")
    assert TextFile(path).header == ("client", "x", "target")
