"""The compiled graphs with a scripted model."""

from tests.support.agent import drive
from tests.support.debugging import debug
from tests.support.synthesizing import synthesize

__all__ = ["debug", "drive", "synthesize"]
