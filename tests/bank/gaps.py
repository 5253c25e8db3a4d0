"""What the compiler cannot do yet: `family.program` or `family.program:check`, with the reason.

Each is a strict xfail, so that an entry whose program works makes the tests fail until it is taken out.
"""

KNOWN_GAPS: dict[str, str] = {
    "indexing.slice_bound_from_a_mapped_value:value": "a slice bound known only at run time",
    "indexing.slice_bound_from_a_mapped_value:grad": "a slice bound known only at run time",
    "indexing.slice_bound_from_a_mapped_value:jvp": "a slice bound known only at run time",
    "indexing.slice_bound_from_a_mapped_value:grad_grad": "a slice bound known only at run time",
    "state.comprehension_filter:value": "a comprehension filtered by run-time values",
    "state.comprehension_filter:grad": "a comprehension filtered by run-time values",
    "state.comprehension_filter:jvp": "a comprehension filtered by run-time values",
    "state.comprehension_filter:grad_grad": "a comprehension filtered by run-time values",
    "state.range_of_a_mapped_value:value": "a range known only at run time",
    "state.range_of_a_mapped_value:grad": "a range known only at run time",
    "state.range_of_a_mapped_value:jvp": "a range known only at run time",
    "state.range_of_a_mapped_value:grad_grad": "a range known only at run time",
    "indexing.index_from_a_shared_value:jvp": "a slice bound known only at run time, under jvp",
}
