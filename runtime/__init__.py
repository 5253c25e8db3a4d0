"""The few functions that emitted code may call. NumPy only; never imports the compiler."""
