"""The tests: a folder per package, a file per module; the bank of sample programs; golden emitted sources."""
