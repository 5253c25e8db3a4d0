"""Programs by careful hands, what the compiler emits for the same functions, and a counter of NumPy calls for comparing them."""

import ast


def count_numpy_calls(source: str) -> int:
    """How many operations on arrays a function's text performs: calls of `np.*`, array methods, operators, augmented assignments.

    Indexing with None, slices and `.T` are views and count nothing; neither do operators between literals or on shapes.
    """
    return _Counter().count(ast.parse(source))


VIEWS = {"reshape", "transpose", "swapaxes", "moveaxis", "expand_dims", "ravel", "squeeze", "view", "broadcast_to", "copy"}


class _Counter(ast.NodeVisitor):
    def count(self, tree: ast.AST) -> int:
        self.total = 0
        self.visit(tree)
        return self.total

    def visit_Call(self, node: ast.Call) -> None:
        if isinstance(node.func, ast.Attribute) and node.func.attr not in VIEWS:
            self.total += 1
        self.generic_visit(node)

    def visit_BinOp(self, node: ast.BinOp) -> None:
        self.total += not _is_number(node)
        self.generic_visit(node)

    def visit_UnaryOp(self, node: ast.UnaryOp) -> None:
        self.total += not _is_number(node)
        self.generic_visit(node)

    def visit_Compare(self, node: ast.Compare) -> None:
        self.total += not _is_number(node)
        self.generic_visit(node)

    def visit_AugAssign(self, node: ast.AugAssign) -> None:
        self.total += 1
        self.generic_visit(node)


def _is_number(node: ast.AST) -> bool:
    """Whether an expression is made of literals and shapes only."""
    if isinstance(node, ast.Subscript) and isinstance(node.value, ast.Attribute) and node.value.attr == "shape":
        return True
    if isinstance(node, ast.Call):
        return isinstance(node.func, ast.Name) and node.func.id == "len"
    if isinstance(node, (ast.BinOp, ast.UnaryOp, ast.Compare)):
        operands = [child for child in ast.iter_child_nodes(node) if isinstance(child, ast.expr)]
        return all(map(_is_number, operands))
    return isinstance(node, ast.Constant)
