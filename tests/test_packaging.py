"""What pyproject.toml, the README and CI say about each other and about the folders."""

import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
PYPROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
FOLDERS = PYPROJECT["tool"]["setuptools"]["package-dir"]


def packages_on_disk():
    for name, folder in FOLDERS.items():
        for init in sorted((ROOT / folder).rglob("__init__.py")):
            yield ".".join([name, *init.parent.relative_to(ROOT / folder).parts])


def test_every_folder_with_code_is_a_listed_package():
    assert sorted(packages_on_disk()) == sorted(PYPROJECT["tool"]["setuptools"]["packages"])


def test_no_module_lies_in_a_folder_without_init():
    for folder in FOLDERS.values():
        for module in (ROOT / folder).rglob("*.py"):
            assert (module.parent / "__init__.py").exists(), module


def test_the_package_says_that_it_is_typed():
    assert (ROOT / "pergrad" / "py.typed").exists()
    assert PYPROJECT["tool"]["setuptools"]["package-data"]["pergrad"] == ["py.typed"]


def test_ci_sets_up_the_tests_by_the_readmes_own_command():
    commands = [line for line in (ROOT / ".ci" / "run").read_text().splitlines() if line.endswith("-m pytest")]
    assert len(commands) == 1
    assert commands[0] in (ROOT / "README.md").read_text().splitlines()


@pytest.mark.parametrize("folder", ["pergrad", "compiler", "runtime"])
def test_installed_code_never_imports_tests_or_bare_folders(folder):
    for module in (ROOT / folder).rglob("*.py"):
        for line in module.read_text().splitlines():
            words = line.split()
            if words[:1] in (["from"], ["import"]):
                assert words[1].split(".")[0] not in {"compiler", "runtime", "tests"}, f"{module}: {line}"
