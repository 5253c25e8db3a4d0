"""Settings for every test: reproducible hypothesis profiles, the nightly option, golden files."""

import os
import signal
from collections.abc import Iterator
from types import FrameType

import hypothesis
import numpy as np
import pytest

hypothesis.settings.register_profile("ci", derandomize=True, deadline=None, max_examples=150, print_blob=True, database=None)
hypothesis.settings.register_profile("nightly", deadline=None, max_examples=1250, print_blob=True)
hypothesis.settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "ci"))


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--nightly", action="store_true", help="also run the long tests, with hypothesis' nightly profile")
    parser.addoption("--update-golden", action="store_true", help="rewrite the stored emitted sources, and those in the documents")


def pytest_configure(config: pytest.Config) -> None:
    if config.getoption("--nightly"):
        hypothesis.settings.load_profile("nightly")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if not config.getoption("--nightly"):
        for item in items:
            if "nightly" in item.keywords:
                item.add_marker(pytest.mark.skip(reason="runs with --nightly"))


@pytest.fixture
def rng() -> np.random.Generator:
    """Random numbers that are the same in every run."""
    return np.random.default_rng(20240607)


@pytest.fixture
def update_golden(request: pytest.FixtureRequest) -> bool:
    return bool(request.config.getoption("--update-golden"))


SECONDS_FOR_ONE_TEST = 180


@pytest.fixture(autouse=True)
def time_limit(request: pytest.FixtureRequest) -> Iterator[None]:
    """A test that hangs fails, where the system has alarms; nightly tests may take their time."""
    if not hasattr(signal, "SIGALRM") or "nightly" in request.keywords or request.config.getoption("--nightly"):
        yield
        return

    def ring(number: int, frame: FrameType | None) -> None:
        raise TimeoutError(f"not done after {SECONDS_FOR_ONE_TEST} s")

    before = signal.signal(signal.SIGALRM, ring)
    signal.alarm(SECONDS_FOR_ONE_TEST)
    yield
    signal.alarm(0)
    signal.signal(signal.SIGALRM, before)


@pytest.fixture(autouse=True)
def verified(monkeypatch):
    """Every program that the tests compile is verified: what the transforms recorded, and what the optimizer made of it."""
    from pergrad.compiler.core.verify import verify
    from pergrad.compiler.specialize import Compilation

    run = Compilation.run

    def verified_run(self):
        found = run(self)
        with found.decisions.deciding():
            for name, program in found.stages:
                if name in ("combined", "simplified"):
                    verify(program)
        return found

    monkeypatch.setattr(Compilation, "run", verified_run)
