"""Files are whole or absent, on the disk before they bear their names, and as permitted as the umask says."""

from __future__ import annotations

import os
import stat

import pytest

from suffice.support.files import unfinished, write_whole


@pytest.mark.parametrize("umask", [0o022, 0o077, 0o002])
def test_a_file_has_the_permissions_that_the_umask_leaves(tmp_path, umask):
    before = os.umask(umask)
    try:
        path = write_whole(tmp_path / "file", b"text")
    finally:
        os.umask(before)
    assert stat.S_IMODE(path.stat().st_mode) == 0o666 & ~umask


def test_content_is_synced_before_it_is_renamed_and_the_folder_after(tmp_path, monkeypatch):
    done = []

    def sync(handle):
        found = os.fstat(handle)
        done.append("folder" if stat.S_ISDIR(found.st_mode) else found.st_size)

    monkeypatch.setattr(os, "fsync", sync)
    monkeypatch.setattr(os, "replace", lambda *_: done.append("rename"))
    write_whole(tmp_path / "file", b"text")
    assert done == [4, "rename", "folder"]


def test_a_failure_leaves_the_old_file_and_nothing_else(tmp_path, monkeypatch):
    path = write_whole(tmp_path / "file", b"old")

    def full(handle):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space left"):
        write_whole(path, b"new")
    assert [entry.read_bytes() for entry in tmp_path.iterdir()] == [b"old"]


@pytest.mark.parametrize("name", ["cell.json", "é" * 127, "x" * 255, ".hidden"])
def test_what_a_killed_process_leaves_is_recognised_by_the_name_of_its_file(tmp_path, monkeypatch, name):
    with monkeypatch.context() as patch:
        patch.setattr(os, "replace", lambda *_: None)  # killed before
        for _ in range(2):
            write_whole(tmp_path / name, b"text")
    left = list(tmp_path.iterdir())
    assert len(left) == 2
    assert sorted(unfinished(tmp_path, {"another", name})) == sorted(left)
    assert unfinished(tmp_path, {"another"}) == []
    assert write_whole(tmp_path / name, b"text").read_bytes() == b"text"
