"""The compiled graphs with a scripted model."""

from tests.support.agent import drive
from tests.support.debugging import debug
from tests.support.distilling import distil
from tests.support.synthesizing import synthesize

__all__ = ["debug", "distil", "drive", "synthesize"]
