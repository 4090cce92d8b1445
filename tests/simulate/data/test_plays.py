"""Plays in Markdown by speaking role."""

from __future__ import annotations

import pytest

import suffice as sf
from suffice.simulate.data.plays import ALPHABET, characters, plays

PLAY = """# A Play

## ACT I

### SCENE I. A room.

_Enter ANNE, BEN,
and others_

**ANNE**
Who's there?
Speak!

**BEN**
_[Aside]_  It is I.

*Enter a
king.*

**ANNE**
Good.

**BEN**
Ah! _[To ANNE

Yes.

_Exeunt_
"""
PLAY = PLAY.replace("**\n", "**  \n")  # two spaces break a line


def test_roles_say_what_is_below_their_names(tmp_path):
    (tmp_path / "comedies").mkdir()
    (tmp_path / "comedies" / "a-play.md").write_text(PLAY)
    said = plays(tmp_path, least=1)
    assert said == {"a-play: ANNE": "Who's there?\nSpeak!\nGood.", "a-play: BEN": "It is I.\nAh!\nYes."}
    assert list(plays(tmp_path, least=20)) == ["a-play: ANNE"]
    with pytest.raises(sf.InputError, match="the longest role has 25 characters"):
        plays(tmp_path, least=26)


def test_contexts_are_followed_by_their_next_characters():
    X, y = characters("abcd~", before=3)
    assert ["".join(ALPHABET[at] for at in row) for row in X] == ["abc", "bcd"]
    assert y.tolist() == [ALPHABET.index("d"), len(ALPHABET)]
    assert len(set(ALPHABET)) == len(ALPHABET)
    with pytest.raises(sf.InputError, match="give more than the 5 of a context"):
        characters("abcde", before=5)


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("notes.md", b"# A heading\n\nand text", "no play in Markdown with speakers in bold; pip download"),
        ("image.md", bytes([0xFF, 0xFE]), "not text in UTF-8"),
        ("play.txt", PLAY.encode(), "no play in Markdown"),
    ],
    ids=["no speakers", "no text", "another ending"],
)
def test_a_folder_without_plays_is_named(tmp_path, name, content, message):
    (tmp_path / name).write_bytes(content)
    with pytest.raises(sf.InputError, match=message) as caught:
        plays(tmp_path)
    assert "\n" not in str(caught.value)
