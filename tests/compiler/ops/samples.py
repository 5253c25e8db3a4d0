"""The sample calls of every op, by the name that its entry gives them."""

from . import samples_algebra, samples_shapes, samples_values
from .calls import SAMPLES, Sample, X, of

__all__ = ["SAMPLES", "Sample", "X", "of", "samples_algebra", "samples_shapes", "samples_values"]
