"""The function transforms, one to a file."""
