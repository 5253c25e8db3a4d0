"""Parameters in dicts, lists, tuples, namedtuples; nested; with constants beside them; several argnums."""

from typing import NamedTuple

import numpy as np

from tests.bank import mat, num, program, shared, vec


class Layer(NamedTuple):
    w: np.ndarray
    b: np.ndarray


@program({"w": shared(mat(3, 4)), "b": shared(vec(3))}, vec(4), vec(3))
def dict_of_parameters(p, x, y):
    return np.sum((p["w"] @ x + p["b"] - y) ** 2)


@program([shared(mat(3, 4)), shared(mat(2, 3))], vec(4))
def list_of_weights(ws, x):
    for w in ws:
        x = np.tanh(w @ x)
    return np.sum(x)


@program((shared(mat(3, 4)), shared(vec(3))), vec(4))
def tuple_of_parameters(p, x):
    w, b = p
    return np.sum(np.sin(w @ x + b))


@program(Layer(shared(mat(3, 4)), shared(vec(3))), vec(4))
def namedtuple_of_parameters(layer, x):
    return np.sum(np.tanh(layer.w @ x + layer.b) ** 2)


@program({"layers": [Layer(shared(mat(3, 4)), shared(vec(3))), Layer(shared(mat(2, 3)), shared(vec(2)))], "scale": shared(num())}, vec(4))
def nested_tree(p, x):
    for layer in p["layers"]:
        x = np.tanh(layer.w @ x + layer.b)
    return p["scale"] * np.sum(x * x)


@program({"a": vec(3), "b": vec(3)})
def mapped_tree(p):
    return p["a"] @ p["b"] + np.sum(p["a"] ** 3)


@program({"a": vec(3), "s": shared(vec(3))})
def partly_mapped_tree(p):
    return np.sum(p["a"] * p["s"] ** 2)


@program(vec(3), vec(3), argnums=(0, 1))
def two_argnums(a, b):
    return np.sum(a * np.sin(b))


@program(vec(3), vec(3), argnums=(1, 0))
def argnums_in_another_order(a, b):
    return np.sum(a**2 * b)


@program(vec(3), vec(2), argnums=1)
def second_argument(a, b):
    return np.sum(a) * np.prod(b)


@program({"used": shared(vec(3)), "unused": shared(mat(2, 2))}, vec(3))
def unused_parameter(p, x):
    return np.sum(p["used"] ** 2 * x)


@program({"w": shared(vec(3))}, {"x": vec(3), "meta": {"y": vec(1)}})
def tree_of_data(p, sample):
    return (p["w"] @ sample["x"] - sample["meta"]["y"][0]) ** 2


@program({"w": shared(vec(3)), "b": shared(num())}, vec(3))
def dict_unpacked_into_keywords(p, x):
    def model(x, *, w, b):
        return np.tanh(x @ w + b)

    return model(x, **p) ** 2


@program([shared(vec(3)), shared(vec(3))], vec(3))
def list_unpacked_into_arguments(ws, x):
    def model(x, *weights):
        return sum(np.sin(x * w) for w in weights)

    return np.sum(model(x, *ws))


@program({"w": shared(vec(3))}, vec(3))
def dict_rebuilt(p, x):
    q = {**p, "x": x}
    q = {k: v * 2 for k, v in q.items()}
    return np.sum(q["w"] * q["x"])


@program({"w": shared(vec(3))}, vec(3))
def parameters_updated_by_a_step(p, x):
    def loss(q):
        return np.sum((q["w"] - x) ** 2)

    step = {k: v - 0.1 * 2 * (v - x) for k, v in p.items()}
    return loss(step) + loss(p)


@program({"x": num(), "y": num()})
def dict_of_numbers(p):
    return (1 - p["x"]) ** 2 + 100 * (p["y"] - p["x"] ** 2) ** 2


@program({(0, 1): shared(vec(2)), "k": shared(vec(2))}, vec(2))
def odd_keys(p, x):
    return p[(0, 1)] @ x + np.sum(p["k"] ** 2 * x)


@program([[shared(vec(2))], (shared(vec(2)), [])], vec(2))
def empty_containers(p, x):
    (a,), (b, nothing) = p
    return a @ x + np.sum(b**2) + len(nothing)
