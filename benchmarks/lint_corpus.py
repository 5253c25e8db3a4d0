"""The linter over released packages and the standard library: crashes, map sites analysed, and every error.

    python benchmarks/lint_corpus.py            # downloads once into build/corpus, never imports what it downloads

An error on code that is shipped is presumed false: docs/lint-corpus.md has the reason of each that remains.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import sysconfig
import time
import zipfile
from pathlib import Path

from pergrad.compiler.lint.config import Settings
from pergrad.compiler.lint.files import collect
from pergrad.compiler.lint.run import lint_files

PACKAGES = {
    "evosax": "jax",
    "tinygp": "jax",
    "curvlinops-for-pytorch": "torch",
    "blackjax": "jax",
    "numpyro": "jax",
    "equinox": "jax",
    "distrax": "jax",
    "optax": "jax",
    "opacus": "torch",
    "mujoco-mjx": "jax",
    "scipy": "numpy",
}
CACHE = Path(__file__).resolve().parent.parent / "build" / "corpus"


def fetch(name: str, cache: Path) -> Path:
    """The unpacked wheel of a package; downloaded when it is not there."""
    target = cache / name
    if not target.exists():
        wheels = cache / "wheels" / name
        if not list(wheels.glob("*.whl")):
            command = [sys.executable, "-m", "pip", "download", "-q", "--no-deps", "--only-binary", ":all:", "-d", str(wheels), name]
            subprocess.run(command, check=True)
        with zipfile.ZipFile(next(wheels.glob("*.whl"))) as wheel:
            wheel.extractall(target, [n for n in wheel.namelist() if n.endswith(".py")])
    return target


def standard_library() -> Path:
    return Path(sysconfig.get_path("stdlib"))


def main() -> int:
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("names", nargs="*", help="packages, or 'stdlib' (default: all)")
    arguments.add_argument("--cache", type=Path, default=CACHE)
    arguments.add_argument("--warnings", action="store_true", help="list the warnings too")
    arguments.add_argument("--notes", action="store_true", help="list the sites that were not analysed")
    options = arguments.parse_args()
    settings = Settings(exclude=("site-packages",), respect_gitignore=False, strict=True, jobs=1, cache=False)
    print(f"{'package':<24}{'files':>6}{'sites':>7}{'analysed':>10}{'errors':>8}{'warnings':>10}{'seconds':>9}")
    listed: list[str] = []
    jax_sites = jax_analysed = 0
    for name in options.names or [*PACKAGES, "stdlib"]:
        folder = standard_library() if name == "stdlib" else fetch(name, options.cache)
        files = collect([str(folder)], settings)
        begun = time.perf_counter()
        report = lint_files(files, settings)
        seconds = time.perf_counter() - begun
        # The standard library ships broken files on purpose, for its own tests.
        found = [d for d in report.diagnostics if not (d.code == "PGR901" and name == "stdlib")]
        errors = [d for d in found if d.severity == "error"]
        warnings = [d for d in found if d.severity == "warning"]
        share = f"{report.analysed} ({report.analysed / report.sites:.0%})" if report.sites else "0"
        print(f"{name:<24}{report.files:>6}{report.sites:>7}{share:>10}{len(errors):>8}{len(warnings):>10}{seconds:>9.2f}", flush=True)
        if PACKAGES.get(name) == "jax":
            jax_sites, jax_analysed = jax_sites + report.sites, jax_analysed + report.analysed
        for d in found:
            wanted = d.severity == "error" or (options.warnings and d.severity == "warning") or (options.notes and d.severity == "note")
            if wanted:
                place = Path(d.file).resolve().relative_to(folder.resolve())
                listed.append(f"{place}:{d.line}: {d.code} {d.severity}: {d.message}")
    if jax_sites:
        print(f"jax packages: {jax_analysed} of {jax_sites} map sites analysed ({jax_analysed / jax_sites:.0%})")
    print("\n".join(listed) if listed else "no errors")
    return 0


if __name__ == "__main__":
    sys.exit(main())
