"""The front door, as users meet it."""
