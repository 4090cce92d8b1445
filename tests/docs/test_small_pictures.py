"""The README's pictures: small, whole, and refused when they cannot be."""

from __future__ import annotations

import io
from pathlib import Path

import numpy as np
import pytest
from PIL import Image
from small_pictures import LARGEST, NAMES, WIDTH, main, reduced, write_pictures

from suffice.bounds import InputError

KEPT = Path(__file__).parents[2] / "docs" / "pictures"


@pytest.mark.parametrize("name", NAMES)
def test_pictures_of_the_readme_are_small(name):
    assert 1000 < (KEPT / f"{name}.png").stat().st_size < LARGEST


def test_a_wide_picture_is_narrowed_and_keeps_its_colours(tmp_path):
    pixels = np.full((200, 2 * WIDTH, 3), 255, dtype=np.uint8)
    pixels[:, :WIDTH] = (0, 114, 178)
    Image.fromarray(pixels).save(tmp_path / "a.png")
    made = Image.open(io.BytesIO(reduced(tmp_path / "a.png"))).convert("RGB")
    assert made.size == (WIDTH, 100)
    assert made.getpixel((10, 50)) == (0, 114, 178)


def test_colours_that_few_pixels_have_are_kept(tmp_path):
    """Blues all over, twenty reds in one corner: a plane of gains with few losses."""
    blue, red = np.linspace(0, 1, 600), np.linspace(0, 1, 20)
    pixels = np.stack([255 * (1 - blue), 255 - 127 * blue, np.full(600, 255)], axis=1)[None].repeat(400, axis=0)
    pixels[10:14, 10:30] = np.stack([np.full(20, 255), 255 - 120 * red, 255 - 160 * red], axis=1)
    Image.fromarray(pixels.astype(np.uint8)).save(tmp_path / "a.png")
    made = np.asarray(Image.open(io.BytesIO(reduced(tmp_path / "a.png"))).convert("RGB")).astype(int)
    assert np.abs(made - pixels.astype(np.uint8)).max() <= 16  # the median cut is 159 off


def test_absent_and_too_rich_pictures_are_refused(tmp_path):
    with pytest.raises(InputError, match="no such picture"):
        write_pictures(tmp_path, tmp_path / "out")
    noise = np.random.default_rng(0).integers(0, 256, (600, 800), dtype=np.uint8)  # greys: a palette holds them all
    Image.fromarray(noise).save(tmp_path / "a.png")
    with pytest.raises(InputError, match="bytes"):
        reduced(tmp_path / "a.png")


@pytest.mark.parametrize("arguments", [[], ["one"], ["absent", "out"], ["a", "b", "c"]])
def test_bad_use_on_the_command_line_is_one_line_and_exit_code_2(arguments, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert main(arguments) == 2
    out, error = capsys.readouterr()
    assert out == ""
    assert len(error.splitlines()) == 1
