"""The rules, one file each. A rule is found by its class; a new file is a new rule."""
