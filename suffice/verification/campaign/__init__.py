"""Large sweeps: cells that are pure functions of their description, one file each, resumed after any interruption."""

from .cells import Campaign as Campaign
from .cells import read_campaign as read_campaign
from .run import conduct as conduct
from .run import summary as summary
from .run import table as table
