"""Trees: what is a container, in which order its values come, and that structure and values together are the tree again."""

import collections
import dataclasses
import threading
import time

import numpy as np
import optree
import pytest

from pergrad.compiler.core.trees import (
    LEAF,
    Attr,
    Index,
    Key,
    Mismatch,
    as_tuples,
    flatten,
    flatten_as,
    is_container,
    path_text,
    prefix,
    write,
)

A = np.ones(2)
Point = collections.namedtuple("Point", "x y")


@dataclasses.dataclass
class Layer:
    weights: object
    bias: object = None


@dataclasses.dataclass(frozen=True, kw_only=True)
class Frozen:
    scale: object
    area: object = dataclasses.field(init=False, default=0)

    def __post_init__(self):
        object.__setattr__(self, "area", self.scale)


@dataclasses.dataclass(init=False)
class OwnInit:
    value: object

    def __init__(self, one, other):
        self.value = one + other


@dataclasses.dataclass
class WithInitVar:
    value: object
    factor: dataclasses.InitVar[float]

    def __post_init__(self, factor):
        self.value = self.value * factor


class Registered:
    def __init__(self, a, b):
        self.a, self.b = a, b

    def __eq__(self, other):
        return (self.a, self.b) == (other.a, other.b)

    __hash__ = None


optree.register_pytree_node(Registered, lambda r: ((r.a, r.b), None, ("a", "b")), lambda _, ab: Registered(*ab), namespace="pergrad")

TREES = {
    "value": 1.0,
    "none": None,
    "text": "hello",
    "empty tuple": (),
    "empty list": [],
    "empty dict": {},
    "tuple of one": (1,),
    "dict": {"b": 1, "a": 2},
    "nested": ({"w": 1, "more": [2, (3, None)]}, 4),
    "int keys": {3: 1, "a": 2, (1, 2): 3},
    "namedtuple": Point(1, Point(2, 3)),
    "dataclass": Layer(1, [Layer(2, None)]),
    "ordered dict": collections.OrderedDict(b=1, a=2),
    "defaultdict": collections.defaultdict(list, {"b": 1, "a": [2]}),
    "deque": collections.deque([1, 2], maxlen=5),
    "registered": [Registered(1, {"x": 2})],
    "struct sequence": time.gmtime(0),
}


@pytest.mark.parametrize("name", TREES)
def test_a_tree_is_rebuilt_from_values_and_structure(name):
    tree = TREES[name]
    leaves, structure = flatten(tree)
    again = structure.unflatten(leaves)
    assert again == tree and type(again) is type(tree)
    assert structure.count == len(leaves) == len(structure.paths())
    assert structure == flatten(tree)[1] and hash(structure) == hash(flatten(tree)[1])
    assert flatten_as(structure, tree) == leaves


@pytest.mark.parametrize("name", TREES)
def test_paths_read_what_they_say(name):
    leaves, structure = flatten(TREES[name])
    for leaf, path in zip(leaves, structure.paths()):
        assert eval(path_text("t", path), {"t": TREES[name]}) is leaf


@pytest.mark.parametrize("name", TREES)
def test_nodes_build_what_they_describe(name):
    leaves, structure = flatten(TREES[name])
    assert structure.fold(leaves, lambda node, parts: node.build(parts)) == TREES[name]


def test_dicts_keep_their_order_and_differ_by_it():
    leaves, structure = flatten({"z": 1, "a": 2})
    assert leaves == [1, 2]
    assert list(structure.unflatten([1, 2])) == ["z", "a"]
    assert structure != flatten({"a": 1, "z": 2})[1]
    nested, other = flatten([{"z": 1, "a": (2,)}])[1], flatten([{"a": (2,), "z": 1}])[1]
    assert nested != other and list(nested.unflatten([1, 2])[0]) == ["z", "a"]


def test_structures_of_different_classes_differ():
    kinds = [(1, 2), [1, 2], Point(1, 2), {"x": 1, "y": 2}, collections.OrderedDict(x=1, y=2), Layer(1, 2)]
    structures = [flatten(k)[1] for k in kinds]
    assert len(set(structures)) == len(kinds)


def test_none_is_a_value():
    leaves, structure = flatten({"a": None, "b": 1})
    assert leaves == [None, 1]
    assert structure == flatten({"a": 2, "b": 1})[1]


def test_arrays_numbers_and_strange_objects_are_values():
    for value in (A, np.float32(1), 1, 2.0, True, 1j, "text", b"bytes", None, object(), len, int, Layer, {1, 2}, np.random.default_rng(0)):
        leaves, structure = flatten(value)
        assert leaves == [value] and structure is LEAF and not is_container(value)
    assert is_container(()) and is_container({}) and is_container(Layer(1))


def test_dataclasses_need_no_registration():
    @dataclasses.dataclass
    class Local:
        b: object
        a: object

    leaves, structure = flatten([Local(1, Local(2, 3))])
    assert leaves == [1, 2, 3]
    assert structure.unflatten(leaves) == [Local(1, Local(2, 3))]
    assert structure.node.children[0].kind == "dataclass"
    assert structure.node.children[0].keys == ("b", "a")


def test_computed_fields_are_computed_again():
    leaves, structure = flatten(Frozen(scale=2))
    assert leaves == [2]
    assert structure.unflatten([5]).area == 5


@pytest.mark.parametrize("make", [lambda: OwnInit(1, 2), lambda: WithInitVar(3, 1)])
def test_dataclasses_whose_constructor_takes_other_arguments(make):
    leaves, structure = flatten(make())
    assert leaves == [3] and structure.node.kind == "custom"
    assert structure.unflatten([7]).value == 7


def test_a_class_that_answers_for_an_array_is_a_value():
    @dataclasses.dataclass
    class Quantity:
        number: object

        def __array_ufunc__(self, *args, **kwargs): ...

    q = Quantity(1)
    assert flatten([q])[0] == [q]


def test_descriptions():
    tree = ({"w": A, "n": [1]}, Point(1, 2), Layer(1, None), Registered(1, 2), collections.defaultdict(int, k=1))
    node = flatten(tree)[1].node
    assert node.kind == "tuple" and node.keys == (0, 1, 2, 3, 4)
    assert [c.kind for c in node.children] == ["dict", "namedtuple", "dataclass", "custom", "custom"]
    assert [c.type for c in node.children] == [dict, Point, Layer, Registered, collections.defaultdict]
    assert [c.keys for c in node.children] == [("w", "n"), ("x", "y"), ("weights", "bias"), ("a", "b"), ("k",)]
    assert node.children[0].children[1].children[0].kind == "leaf"
    assert flatten(tree)[1].paths()[:3] == [(Index(0), Key("w")), (Index(0), Key("n"), Index(0)), (Index(1), Attr("x"))]
    text = "({'w': *, 'n': [*]}, Point(x=*, y=*), Layer(weights=*, bias=*), Registered(a=*, b=*), {'k': *})"
    assert write(node, ["*"] * 9) == text and repr(flatten(tree)[1]) == f"Tree({text})"


def test_path_text():
    assert path_text("params", (Key("W1"),)) == "params['W1']"
    assert path_text("p", (Attr("w"), Key(3))) == "p.w[3]"
    assert path_text("ab", (Index(0),)) == "ab[0]"
    assert path_text("x", ()) == "x"


@pytest.mark.parametrize(
    ("dims", "tree", "expected"),
    [
        (0, {"a": 1, "b": [2, 3]}, [0, 0, 0]),
        (None, (1, 2), [None, None]),
        ((0, None), (1, [2, 3]), [0, None, None]),
        (({"b": 1, "a": 0},), ({"a": 1, "b": 2},), [0, 1]),
        (({"b": 1, "a": 0},), (collections.OrderedDict(a=1, b=2),), [0, 1]),
        ({"b": 1, "a": None}, collections.defaultdict(int, a=1, b=2), [None, 1]),
        (Layer(0, None), Layer([1, 2], 3), [0, 0, None]),
        (Point(0, [1, 2]), Point(1, [2, 3]), [0, 1, 2]),
        ((), (), []),
        (Registered(0, 1), Registered(1, 2), [0, 1]),
    ],
)
def test_prefix(dims, tree, expected):
    assert prefix(dims, flatten(tree)[1]) == expected


@pytest.mark.parametrize(
    ("dims", "tree", "path"),
    [
        ((0,), 1, ()),
        ((0,), (1, 2), ()),
        ([0, 0], (1, 2), ()),
        ((0, 0), [1, 2], ()),
        ((0, {"b": 0}), (1, {"a": 2}), (Index(1),)),
        ((0, [0]), (1, {"a": 2}), (Index(1),)),
        ({"a": (0,)}, {"a": [1]}, (Key("a"),)),
        ({"weights": 0, "bias": 0}, Layer(1, 2), ()),
        (Point(0, 0), (1, 2), ()),
        (Point(0, (1,)), Point(1, 2), (Attr("y"),)),
    ],
)
def test_prefix_that_does_not_fit(dims, tree, path):
    with pytest.raises(Mismatch) as caught:
        prefix(dims, flatten(tree)[1])
    assert caught.value.path == path


def test_dataclasses_met_by_several_threads_at_once():
    errors = []

    def work(barrier, cls):
        barrier.wait()
        try:
            assert flatten([cls(1)])[0] == [1]
        except Exception as error:
            errors.append(error)

    for n in range(20):
        cls = dataclasses.make_dataclass(f"C{n}", ["v"])
        barrier = threading.Barrier(4)
        threads = [threading.Thread(target=work, args=(barrier, cls)) for _ in range(4)]
        for t in threads:
            t.start()
        for t in threads:
            t.join()
    assert not errors


def test_other_users_of_optree_see_none_of_it():
    flatten(Layer(1, 2))
    assert optree.tree_leaves({"b": 1, "a": 2}) == [2, 1]
    assert optree.tree_structure(Layer(1, 2)).num_nodes == 1


def test_what_python_can_read():
    tree = (Point(1, 2), Layer(1), OwnInit(1, 2), {"a": 1}, collections.defaultdict(int, a=1), collections.deque([1]), Registered(1, 2))
    node = flatten(tree)[1].node
    assert [c.readable for c in node.children] == [True, True, True, True, True, True, False]
    assert [c.by_item for c in node.children] == [False, False, False, True, True, True, False]
    assert not node.readable_throughout and node.children[0].readable_throughout
    assert as_tuples(tree) == (*tree[:2], as_tuples(tree[2]), *tree[3:6], (1, 2))


def test_classes_registered_under_any_namespace():
    class Theirs:
        def __init__(self, a):
            self.a = a

    assert flatten([Theirs(1)])[0] != [1]
    optree.register_pytree_node(Theirs, lambda t: ((t.a,), None), lambda _, parts: Theirs(*parts), namespace="theirs")
    leaves, structure = flatten([Theirs(1)])
    assert leaves == [1] and structure.unflatten([2])[0].a == 2


def test_values_as_another_tree_has_them():
    tree = flatten({"a": 1, "b": (2, {"c": 3, "d": 4})})[1]
    assert flatten_as(tree, {"b": (2, {"d": 4, "c": 3}), "a": 1}) == [1, 2, 3, 4]
    assert flatten_as(tree, {"b": (2, {"d": 4}), "a": 1}) is None
    assert flatten_as(tree, {"b": [2, {"d": 4, "c": 3}], "a": 1}) is None
    assert flatten_as(flatten({"a": 1})[1], collections.OrderedDict(a=1)) is None
