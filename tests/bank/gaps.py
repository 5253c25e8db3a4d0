"""What the compiler cannot do yet: `family.program` or `family.program:check`, with the reason.

Each is a strict xfail, so that an entry whose program works makes the tests fail until it is taken out.
"""

KNOWN_GAPS: dict[str, str] = {}
