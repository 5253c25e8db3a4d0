"""Functions of NumPy without a rule: the plain data that the linter reads, against NumPy and against the compiler."""

import re
import warnings
from types import ModuleType

import numpy as np
import pytest

import pergrad as pg
from pergrad.compiler.lint.libraries.numpy import UNRULED, UNRULED_METHODS, has_rule
from pergrad.compiler.lint.scan import lint_text
from pergrad.compiler.ops.table import find
from tests.bank import FAMILIES, bank
from tests.test_parity import lint

# Of NumPy, without an entry and no function of arrays: they answer about types, read and write files, set how NumPy prints.
NO_FUNCTIONS_OF_ARRAYS = frozenset(
    """bartlett base_repr binary_repr bitwise_invert bitwise_left_shift bitwise_right_shift blackman broadcast_shapes datetime_data
    einsum_path fft.fftfreq fft.rfftfreq format_float_positional format_float_scientific fromfile fromregex genfromtxt get_include
    get_printoptions getbufsize geterr geterrcall hamming hanning info isdtype issubdtype iterable kaiser load loadtxt mask_indices
    nested_iters printoptions promote_types set_printoptions setbufsize seterr seterrcall show_config
    show_runtime test linalg.test fft.test typename""".split()
)
PROGRAMS = """
import numpy as np
def frexp(x): return np.frexp(x)[0]
def isin(x): return np.isin(x, np.arange(3.0)) * x
def poly(x): return np.poly(x)
def polyadd(x): return np.polyadd(x, x)
def unwrap(x): return np.unwrap(x)
def i0(x): return np.i0(x)
def spacing(x): return np.spacing(x)
def nextafter(x): return np.nextafter(x, 1.0)
def nanmedian(x): return np.nanmedian(x)
def eigvals(x): return np.linalg.eigvals(np.outer(x, x))
def hfft(x): return np.fft.hfft(x)
def apply_along_axis(x): return np.apply_along_axis(np.sum, 0, x)
def vecmat(x): return np.vecmat(x, np.outer(x, x))
def shared(x, w=np.ones(3)): return np.poly(w) * x.sum()
"""
NAMES = re.findall(r"def (\w+)", PROGRAMS)


def functions(module, prefix=""):
    for name, value in vars(module).items():
        if not name.startswith("_") and callable(value) and not isinstance(value, (type, ModuleType)):
            yield prefix + name


def test_every_function_of_numpy_has_an_entry_or_is_listed():
    everything = {*functions(np), *functions(np.linalg, "linalg."), *functions(np.fft, "fft.")}
    without = {name for name in everything if find(f"numpy.{name}") is None}
    assert without - UNRULED - NO_FUNCTIONS_OF_ARRAYS == set()


def test_what_has_an_entry_is_not_listed():
    assert {name for name in UNRULED if find(f"numpy.{name}") is not None} == set()
    assert not has_rule("numpy.poly") and has_rule("numpy.sin") and has_rule("numpy.float64")


def findings(text):
    return [(d.code, d.line, d.severity) for d in lint_text("unruled.py", text).diagnostics]


@pytest.mark.parametrize("name", NAMES)
def test_what_the_compiler_refuses_for_want_of_a_rule_is_a_warning(name, tmp_path, monkeypatch):
    (tmp_path / "unruled.py").write_text(PROGRAMS)
    monkeypatch.syspath_prepend(tmp_path)
    namespace = {}
    exec(compile(PROGRAMS, str(tmp_path / "unruled.py"), "exec"), namespace)
    with pytest.raises(pg.PergradError) as refused, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        pg.vmap(namespace[name])(np.ones((2, 3)) + np.arange(3.0))
    assert refused.value.code == "PGR702"
    reported = findings(PROGRAMS + f"from pergrad import vmap\nF = vmap({name})\n")
    assert reported == [("PGR702", refused.value.line, "warning")]


def test_methods_without_a_rule():
    head = "import numpy as np\nfrom pergrad import vmap\n"
    text = head + "def f(x, name):\n    y = x * 2\n    {}\n    return y\nF = vmap(f, in_dims=(0, None))\n"
    for method in sorted(UNRULED_METHODS):
        assert ("PGR702", 5, "warning") in findings(text.format(f"y.{method}(1)"))
    assert findings(text.format("key, _, rest = name.partition('=')")) == []


@pytest.mark.parametrize("family", FAMILIES)
def test_programs_that_compile_have_none(family, tmp_path):
    found = {line for code, line in lint(family, tmp_path) if code == "PGR702"}
    marked = {v.line for program in bank(family) for v in program.violations if v.code == "PGR702"}
    assert found <= marked
