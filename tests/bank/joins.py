"""Names, views and containers whose memory a branch or a loop decides on."""

import numpy as np

from tests.bank import program, shared, vec


@program(vec(4), shared(vec(4)))
def view_of_an_inner_branch_and_a_write_after_it(x, w):
    a, v = x * 1.0, x[:2]
    if w[0] > 0.0:
        if w[1] > 0.0:
            v = a[:2]
        a *= np.cos(a)
    return np.sum(v * a[:2])  # <- PGR701 always


@program(vec(4), shared(vec(4)))
def view_of_a_turn_that_may_be_the_last(x, w):
    a, v = x * 1.0, x[1:3]
    for _ in range(2):
        if w[0] > 0.0:
            v = a[:2]
        a *= np.cos(a)
        if w[0] > 0.0:
            break
    return np.sum(v * a[:2])  # <- PGR701 always


@program(vec(4), shared(vec(4)))
def view_and_base_made_on_both_sides(x, w):
    if w[0] > 0.0:
        z = np.sin(x)
        y = z[:2]
    else:
        z = np.cos(x)
        y = z[:2]
    z *= x
    y += 0.5
    return np.sum(z) * np.sum(y)


@program(vec(4), shared(vec(4)))
def view_and_base_where_one_side_has_left(x, w):
    if w[0] > 0.0:
        if w[1] > 0.0:
            return np.sum(x * x)
        z = np.sin(x)
        y = z[:2]
    else:
        z = np.cos(x)
        y = z[:2]
    z *= x
    return np.sum(z) * np.sum(y)


@program(vec(4), shared(vec(4)))
def list_made_where_the_other_side_has_left(x, w):
    a = x * 1.0
    if w[0] > 0.0:
        if w[1] > 0.0:
            return np.sum(a * a)
        z = [np.sin(x), a]
    else:
        z = [np.cos(x), a]
    z[0] *= x
    a *= x
    return np.sum(z[0]) * np.sum(z[1])


def written_and_returned(p, q, w):
    if w[2] > 0.0:
        if w[1] > 0.0:
            p[0] = 0.4
            return p
        q[1] = 0.3
    return q


@program(vec(4), shared(vec(4)))
def what_a_helper_wrote_and_returned(x, w):
    a, b = x * 1.0, np.sin(x)
    c = written_and_returned(a, b, w)
    return np.sum(c * a) + np.sum(b)


@program(vec(4), shared(vec(4)))
def argument_of_a_helper_that_may_have_returned_it(x, w):
    a, b = x * 1.0, np.sin(x)
    c = written_and_returned(a, b, w)
    a *= x
    return np.sum(c * a) + np.sum(b)  # <- PGR701 always


def notes_on_the_way(book, p, w):
    if w[0] > 0.0:
        book["last"] = p * 2.0
        return np.sum(p)
    book["last"] = p
    return np.sum(p * p)


@program(vec(4), shared(vec(4)))
def container_of_the_caller_when_the_helper_leaves_early(x, w):
    book = {"last": np.cos(x)}
    s = notes_on_the_way(book, np.sin(x), w)
    return s + np.sum(book["last"] ** 2)


@program(vec(4), shared(vec(4)))
def one_of_two_lists(x, w):
    box, other = [x * 1.0, np.sin(x)], [np.cos(x), x * x]
    bag = box if w[0] > 0.0 else other
    bag[0] = np.tanh(x)  # <- PGR701 always
    return np.sum(box[0] * other[0]) + np.sum(bag[1])


@program(vec(4), shared(vec(4)))
def one_of_two_lists_that_is_read(x, w):
    box, other = [x * 1.0, np.sin(x)], [np.cos(x), x * x]
    bag = box if w[0] > 0.0 else other
    bag = [np.tanh(x), *bag]
    bag[1] = bag[0] * bag[2]
    return np.sum(box[0] * other[0]) + np.sum(bag[1])


@program(vec(4), shared(vec(4)))
def one_list_under_two_names_on_both_sides(x, w):
    if w[0] > 0.0:
        bag = box = [x * 1.0, np.sin(x)]
    else:
        bag = box = [np.cos(x), x * x]
    bag[0] = np.tanh(x)
    return np.sum(box[0] * box[1]) + np.sum(bag[0] * bag[1])


@program(vec(4), shared(vec(4)))
def one_list_under_two_names_on_one_side(x, w):
    if w[0] > 0.0:
        bag = box = {"k": np.sin(x)}
    else:
        bag, box = {"k": np.cos(x)}, {"k": x * x}
    bag["k"] = np.tanh(x)  # <- PGR701 always
    return np.sum(box["k"] * bag["k"])


@program(vec(4), shared(vec(4)))
def while_writes_a_name_that_its_branch_binds_to_another(x, w):
    a, b, c = x * 1.0, np.sin(x), np.cos(x)
    n = np.abs(w[1]) * 4.0
    while n > 0.3:  # <- PGR701 always
        n = n * 0.5
        c += 0.5 * x
        if w[0] > 0.0:
            c = a
        else:
            c = np.sin(b)
    return np.sum(a * b) + np.sum(c)


@program(vec(4), shared(vec(4)))
def write_after_a_while_whose_branch_bound_the_name(x, w):
    a, b, c = x * 1.0, np.sin(x), np.cos(x)
    n = np.abs(w[1]) * 4.0
    while n > 0.3:
        n = n * 0.5
        if w[0] > 0.0:
            c = a
        else:
            c = np.sin(b)
    c *= x  # <- PGR701 always
    return np.sum(a * b) + np.sum(c)


@program(vec(4), shared(vec(4)))
def while_that_swaps_views_and_writes_their_base(x, w):
    a, b = x * 1.0, np.sin(x)
    u, v = a[:2], b[:2]
    n = np.abs(w[1]) * 4.0
    while n > 0.3:  # <- PGR701 always
        n = n * 0.5
        u, v = v, u
        a[0] *= 0.9
    return np.sum(a * b) + np.sum(u * 2 + v)


@program(vec(4), shared(vec(4)))
def while_that_moves_results_along(x, w):
    old, new = x * 1.0, np.sin(x)
    n = np.abs(w[1]) * 4.0
    while n > 0.3:
        n = n * 0.5
        old, new = new, old + new
        new *= 0.9
    new += old
    return np.sum(old * new)
