"""Emitted code against hand-written NumPy, a loop over samples, and other libraries: `python -m benchmarks.run`; see docs/benchmarks.md."""
