"""Large sweeps: cells that are pure functions of their description, one file each, resumed after any interruption."""

from __future__ import annotations

from .conduct import Progress as Progress
from .conduct import Session as Session
from .conduct import conduct as conduct
from .definition import Campaign as Campaign
from .definition import read_campaign as read_campaign
from .tabulate import summary as summary
from .tabulate import table as table
