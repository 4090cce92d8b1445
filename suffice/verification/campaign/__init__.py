"""Large sweeps: cells that are pure functions of their description, one file each, resumed after any interruption."""

from __future__ import annotations

from .cells import sharpness_of as sharpness_of
from .definition import Campaign as Campaign
from .definition import read_campaign as read_campaign
from .keyboard_interrupt import Interrupted as Interrupted
from .run import Progress as Progress
from .run import Session as Session
from .run import conduct as conduct
from .tabulate import markdown as markdown
from .tabulate import report as report
from .tabulate import simulations as simulations
from .tabulate import summary as summary
from .tabulate import table as table
