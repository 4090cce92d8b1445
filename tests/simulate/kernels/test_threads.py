"""Threads that share the blocks of a compiled run."""

from __future__ import annotations

import ctypes
import time
from typing import Any

import pytest
import torch

from suffice.simulate.kernels.threads import in_threads

BLOCKS = 40


class Stretch:
    """Stands for the compiled code: takes blocks 10 ms long, and notes how often it was called and what was taken."""

    def __init__(self, answer: int = 0) -> None:
        self.answer, self.calls, self.taken = answer, 0, 0

    def __call__(self, run: Any, end: ctypes.c_int64, following: Any) -> int:
        self.calls += 1
        counter = following._obj
        while counter.value < end.value:
            counter.value += 1
            self.taken += 1
            time.sleep(0.01)
        return self.answer


@pytest.fixture(autouse=True)
def two_threads():
    threads = torch.get_num_threads()
    torch.set_num_threads(2)
    yield
    torch.set_num_threads(threads)


def test_each_thread_is_called_once_and_progress_ends_with_all_blocks():
    code, seen = Stretch(), []
    in_threads(code, ctypes.c_int64(0), (BLOCKS,), BLOCKS, lambda done, whole: seen.append((done, whole)))
    assert code.calls == 2
    assert code.taken >= BLOCKS
    assert seen == sorted(seen)
    assert seen[0][0] < BLOCKS
    assert seen[-1] == (BLOCKS, BLOCKS)
    alone = Stretch()
    in_threads(alone, ctypes.c_int64(0), (1,), 1, None)
    assert alone.calls == 1


def test_an_interrupted_run_ends_with_the_blocks_under_way():
    code = Stretch()

    def interrupted(done: int, whole: int) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        in_threads(code, ctypes.c_int64(0), (10**4,), 10**4, interrupted)
    assert code.taken < 10**4


def test_where_a_block_has_no_room_the_run_says_so():
    with pytest.raises(MemoryError, match="do not fit"):
        in_threads(Stretch(answer=1), ctypes.c_int64(0), (BLOCKS,), BLOCKS, None)
