"""docs/ops.md says what the table says."""

from pathlib import Path

from pergrad.compiler.ops import document

_PAGE = Path(__file__).parents[3] / "docs" / "ops.md"


def test_the_page_is_up_to_date():
    assert _PAGE.read_text() == document.text(), "python -m pergrad.compiler.ops.document > docs/ops.md"
