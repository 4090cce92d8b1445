"""A stored result is the one that was computed for this cell, or it counts as absent."""

from __future__ import annotations

import json
import random
from pathlib import Path

import pytest
from campaign_files import SMALL, written

from suffice.verification.campaign import Campaign, conduct, read_campaign, summary, table
from suffice.verification.campaign.cells import identity
from suffice.verification.campaign.run import result

MIXED = SMALL.replace('"printed", "corrected"', '"corrected"')
"""7 cells of both kinds."""


@pytest.fixture(scope="module")
def finished(tmp_path_factory) -> tuple[Campaign, dict[Path, bytes], str]:
    campaign = read_campaign(written(tmp_path_factory.mktemp("mixed"), MIXED))
    assert not conduct(campaign).failed
    files = [campaign.out / "cells" / f"{identity(cell)}.json" for cell in campaign.cells]
    return campaign, {path: path.read_bytes() for path in files}, table(campaign)


def bit_flips(content: bytes, rng: random.Random, others: list[bytes]) -> bytes:
    broken = bytearray(content)
    for at in rng.sample(range(len(content)), rng.choice((1, 1, 2, 9))):
        broken[at] ^= 1 << rng.randrange(8)
    return bytes(broken)


def another_file(content: bytes, rng: random.Random, others: list[bytes]) -> bytes:
    return rng.choice(others)


def spliced(content: bytes, rng: random.Random, others: list[bytes]) -> bytes:
    """One cell's description with another's result, under either checksum."""
    mine, other = json.loads(content), json.loads(rng.choice(others))
    kept = rng.choice((("cell",), ("cell", "sha256")))
    return json.dumps(other | {name: mine[name] for name in kept}, sort_keys=True).encode() + b"\n"


def nested(content: bytes, rng: random.Random, others: list[bytes]) -> bytes:
    deep, (opened, closed) = rng.choice((200, 1500, 100_000)), rng.choice(((b"[", b"]"), (b'{"result":', b"}")))
    return opened * deep + content.strip() + closed * deep


def foreign_json(content: bytes, rng: random.Random, others: list[bytes]) -> bytes:
    digits = b'{"result": ' + b"9" * 5000 + b"}"
    return rng.choice(
        (b"", b"[]\n", b"5", b"null", b'{"result": 5}', b'{"result": {}}', b'{"cell": {', b"\xff\xfe", digits)
    )


DAMAGES = (bit_flips, another_file, spliced, nested, foreign_json)


@pytest.mark.parametrize("count", [300, pytest.param(3000, marks=pytest.mark.slow)])
def test_no_damaged_result_is_accepted_and_those_cells_are_computed_again(finished, count):
    campaign, files, text = finished
    rng = random.Random(count)
    cells = dict(zip(files, campaign.cells))
    accepted = []
    for at in range(count):
        damage, path = DAMAGES[at % len(DAMAGES)], rng.choice(list(files))
        others = [content for other, content in files.items() if other != path]
        broken = damage(files[path], rng, others)
        assert broken != files[path]
        path.write_bytes(broken)
        if result(campaign.out, cells[path]) is not None:
            accepted.append((damage.__name__, broken))
        path.write_bytes(files[path])
    print(f"{count} corruptions, {len(accepted)} accepted")
    assert accepted == []
    broken = dict.fromkeys(rng.choice(list(files)) for _ in range(4))
    for path, damage in zip(broken, (another_file, spliced, nested, bit_flips)):
        path.write_bytes(damage(files[path], rng, [files[next(other for other in files if other != path)]]))
    assert len(table(campaign).splitlines()) == len(text.splitlines()) - len(broken)
    assert summary(campaign) is not None
    assert conduct(campaign).computed == len(broken)
    assert table(campaign) == text


def test_what_is_no_file_counts_as_absent(finished):
    campaign, files, _ = finished
    path, content = next(iter(files.items()))
    path.unlink()
    path.mkdir()
    assert result(campaign.out, campaign.cells[0]) is None
    path.rmdir()
    path.write_bytes(content)
