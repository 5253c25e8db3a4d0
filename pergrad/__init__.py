"""pergrad: per-sample gradients and function transforms for plain NumPy, from source to readable source."""
