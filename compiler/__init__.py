"""Python source in, Python source out. Installed as ``pergrad.compiler``; never computes on a user's array."""
