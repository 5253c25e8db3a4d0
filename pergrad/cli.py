"""The command line: ``pergrad lint``, ``explain``, ``rules`` and ``show``.

Only ``show`` imports NumPy, or anything that it is pointed at.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .compiler.lint.config import Settings
    from .compiler.lint.run import Report

FORMATS = ("full", "concise", "json", "sarif", "github")


def formatter(prog: str) -> argparse.HelpFormatter:
    # A width that is given spares argparse the import of shutil.
    return argparse.HelpFormatter(prog, width=int(os.environ.get("COLUMNS") or 100))


def parser(word: str = "") -> argparse.ArgumentParser:
    """The command line's parser; when the first word is known to be a command, with that command alone: each takes its time to make."""
    top = argparse.ArgumentParser(
        prog="pergrad", description="Per-sample gradients for NumPy, and a linter for mapped functions.", formatter_class=formatter
    )
    top.add_argument("--version", action="store_true", help="print the version and exit")
    commands = top.add_subparsers(prog="pergrad", dest="command", metavar="COMMAND")
    for name, (help, add_arguments) in COMMANDS.items():
        if name == word or word not in COMMANDS:
            add_arguments(commands.add_parser(name, help=help, formatter_class=formatter))
    return top


def add_lint(lint: argparse.ArgumentParser) -> None:
    lint.add_argument("paths", nargs="*", metavar="PATH", help="files and folders; - reads standard input (default: the current folder)")
    lint.add_argument("--output-format", choices=FORMATS, default="full", metavar="FORMAT", help="full, concise, json, sarif or github")
    lint.add_argument("--output-file", metavar="FILE", help="write the report to a file")
    lint.add_argument("--select", metavar="CODES", help="only these codes or families, separated by commas")
    lint.add_argument("--ignore", metavar="CODES", help="not these codes or families")
    lint.add_argument("--exclude", metavar="PATTERNS", action="append", default=[], help="leave out files and folders")
    lint.add_argument("--statistics", action="store_true", help="count the findings of each rule instead of listing them")
    lint.add_argument("--exit-zero", action="store_true", help="exit with 0 even when there are errors")
    lint.add_argument("--strict", action="store_true", help="also print notes, such as map sites that were not analysed")
    lint.add_argument("--assume-batched", choices=("all",), help="take the arguments of every function as mapped")
    lint.add_argument("--trail", choices=("short", "full"), default="short", help="how much of the path to a violation is shown")
    lint.add_argument("--jobs", type=int, metavar="N", help="processes (default: by the number of files)")
    lint.add_argument("--no-cache", action="store_true", help="neither read nor write .pergrad_cache")
    lint.add_argument("--config", metavar="FILE", help="a pyproject.toml")
    lint.add_argument("--isolated", action="store_true", help="read no configuration")
    lint.add_argument("--stdin-filename", metavar="FILE", default="<stdin>", help="the name of what is read from standard input")
    lint.add_argument("--color", choices=("auto", "always", "never"), default="auto", help="colours of the full format")


def add_explain(explain: argparse.ArgumentParser) -> None:
    explain.add_argument("rule", metavar="RULE", help="a code or a name, such as PGR101")


def add_rules(rules: argparse.ArgumentParser) -> None:
    rules.add_argument("--markdown", action="store_true", help="as a page of documentation")


def add_show(show: argparse.ArgumentParser) -> None:
    show.add_argument("target", metavar="MODULE:FUNC")
    show.add_argument("--arg", action="append", default=[], metavar="SPEC", help="an argument, such as 'f8[64,10]' or 'f4[]'")


COMMANDS: dict[str, tuple[str, Callable[[argparse.ArgumentParser], None]]] = {
    "lint": ("find what mapped functions may not do, without running anything", add_lint),
    "explain": ("what a rule means, why, a bad and a good example", add_explain),
    "rules": ("the table of rules", add_rules),
    "show": ("the emitted source of a function (imports its module)", add_show),
}


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line; the exit status: 0 no errors, 1 at least one error found, 2 a fault of use, configuration or the tool."""
    words = sys.argv[1:] if argv is None else list(argv)
    arguments = parser(words[0] if words else "").parse_args(words)
    try:
        if arguments.version:
            return print_version()
        if arguments.command == "lint":
            return run_lint(arguments)
        if arguments.command == "explain":
            return run_explain(arguments)
        if arguments.command == "rules":
            return run_rules(arguments)
        if arguments.command == "show":
            from .show import run_show

            return run_show(arguments.target, arguments.arg)
    except BrokenPipeError:
        # The reader has gone; what is left has no reader.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except KeyboardInterrupt:
        return 130
    parser().print_help()
    return 2


def print_version() -> int:
    from importlib.metadata import PackageNotFoundError, version

    try:
        print(f"pergrad {version('pergrad')}")
    except PackageNotFoundError:
        print("pergrad (not installed)")
    return 0


def fault(message: str) -> int:
    print(f"pergrad: {message}", file=sys.stderr)
    return 2


def run_lint(arguments: argparse.Namespace) -> int:
    from .compiler.lint.config import ConfigError

    try:
        return lint(arguments)
    except ConfigError as error:
        return fault(str(error))
    except RecursionError:
        return fault("internal error: a program nests too deeply")
    except Exception as error:
        # Whatever it is, it is ours: exit status 2, never 1, which means findings.
        if os.environ.get("PERGRAD_TRACEBACK"):
            raise
        return fault(f"internal error: {type(error).__name__}: {error} (PERGRAD_TRACEBACK=1 shows where)")


def lint(arguments: argparse.Namespace) -> int:
    from .compiler.lint.config import ConfigError, find_pyproject, load

    paths = arguments.paths or ["."]
    if arguments.jobs is not None and arguments.jobs < 0:
        raise ConfigError("--jobs must be 0 or more")
    config: Path | None
    if arguments.config is not None:
        config = Path(arguments.config)
        if not config.is_file():
            raise ConfigError(f"no such file: {config}")
    else:
        first = Path(paths[0] if paths[0] != "-" else ".").resolve()
        config = None if arguments.isolated else find_pyproject(first if first.is_dir() else first.parent)
    settings = with_arguments(load(config), arguments)
    if "-" in paths:
        if len(paths) > 1:
            raise ConfigError("- stands alone: standard input cannot be linted together with files")
        return finish(*from_stdin(arguments, settings), arguments)
    from .compiler.lint.files import collect
    from .compiler.lint.run import lint_files

    return finish(lint_files(collect(paths, settings), settings), {}, arguments)


def with_arguments(settings: Settings, arguments: argparse.Namespace) -> Settings:
    from .compiler.lint.config import codes

    changes: dict[str, object] = {}
    if arguments.select:
        changes["select"] = codes(arguments.select, "--select")
    if arguments.ignore:
        changes["ignore"] = settings.ignore + codes(arguments.ignore, "--ignore")
    if arguments.exclude:
        changes["exclude"] = settings.exclude + tuple(p for given in arguments.exclude for p in given.split(",") if p)
    if arguments.strict:
        changes["strict"] = True
    if arguments.assume_batched:
        changes["assume_batched"] = arguments.assume_batched
    if arguments.jobs is not None:
        changes["jobs"] = arguments.jobs
    if arguments.no_cache:
        changes["cache"] = False
    return settings._replace(**changes)  # type: ignore[arg-type]


def from_stdin(arguments: argparse.Namespace, settings: Settings) -> tuple[Report, dict[str, str]]:
    from .compiler.lint.project import Project
    from .compiler.lint.run import lint_file, merge

    data = sys.stdin.buffer.read()
    name = arguments.stdin_filename
    result = lint_file(name, data, Project(), settings.assume_batched == "all")
    return merge([(name, "", result)], settings), {name: data.decode("utf-8", errors="replace")}


def finish(report: Report, texts: dict[str, str], arguments: argparse.Namespace) -> int:
    errors = sum(d.severity == "error" for d in report.diagnostics)
    if arguments.statistics and arguments.output_format in ("full", "concise"):
        text = statistics(report)
    elif not report.diagnostics and arguments.output_format in ("full", "concise", "github"):
        text = ""
    else:
        from .compiler.lint.formats import Options, render

        wants = arguments.color == "always" or (arguments.color == "auto" and sys.stdout.isatty() and "NO_COLOR" not in os.environ)
        color = wants and not arguments.output_file
        text = render(arguments.output_format, report.diagnostics, Options(color, arguments.trail == "full", texts))
    if arguments.output_format == "full":
        text += ("\n\n" if text else "") + summary(report)
    if arguments.output_file:
        from .compiler.lint.config import ConfigError

        try:
            Path(arguments.output_file).write_text(text + "\n", encoding="utf-8")
        except OSError as error:
            raise ConfigError(f"--output-file {arguments.output_file}: {error.strerror}") from None
    elif text:
        print(text)
    if arguments.output_format == "concise":
        print(summary(report), file=sys.stderr)
    return 1 if errors and not arguments.exit_zero else 0


def statistics(report: Report) -> str:
    counts: dict[tuple[str, str], int] = {}
    for d in report.diagnostics:
        counts[(d.code, d.name)] = counts.get((d.code, d.name), 0) + 1
    rows = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    return "\n".join(f"{count:>5}  {code}  {name}" for (code, name), count in rows)


def summary(report: Report) -> str:
    """The last line: what was found, and what was looked at."""
    counts = {s: sum(d.severity == s for d in report.diagnostics) for s in ("error", "warning", "note")}
    parts = [f"{n} {s}{'' if n == 1 else 's'}" for s, n in counts.items() if n or s == "error"]
    files = f"{report.files} file{'' if report.files == 1 else 's'}"
    text = f"{', '.join(parts)} in {files}; analysed {report.analysed} of {report.sites} map site{'' if report.sites == 1 else 's'}"
    if report.analysed < report.sites:
        text += " (--strict names the others)"
    return text


def run_explain(arguments: argparse.Namespace) -> int:
    from .compiler.lint.explain import explain, find

    rule = find(arguments.rule)
    if rule is None:
        return fault(f"no rule {arguments.rule!r}; `pergrad rules` lists them")
    print(explain(rule), end="")
    return 0


def run_rules(arguments: argparse.Namespace) -> int:
    from .compiler.lint.explain import rules_page, rules_table

    print(rules_page() if arguments.markdown else rules_table(), end="" if arguments.markdown else "\n")
    return 0
