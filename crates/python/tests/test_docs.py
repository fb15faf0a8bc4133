"""The examples of the documentation."""

import doctest
import inspect
from types import ModuleType

import tamis
from tamis import foreign


def documented(module: ModuleType) -> dict[str, str]:
    """The documentation of all that a module exports, and of the methods of its classes."""
    found = {}
    for name in module.__all__:
        value = getattr(module, name)
        found[name] = value.__doc__
        if inspect.isclass(value):
            for method in dir(value):
                if not method.startswith("_") and not hasattr(Exception, method):
                    found[f"{name}.{method}"] = getattr(value, method).__doc__
    return found


def test_all_is_documented_and_the_examples_are_true() -> None:
    examples = 0
    for module in (tamis, foreign):
        for name, text in documented(module).items():
            assert text and text.strip(), f"{name} has no documentation"
            test = doctest.DocTestParser().get_doctest(text, {}, name, None, 0)
            runner = doctest.DocTestRunner(verbose=False)
            results = runner.run(test)
            assert results.failed == 0, f"{name}: see the output"
            examples += results.attempted
    assert examples > 100


def test_the_stub_has_the_first_line_of_each_documentation() -> None:
    import ast
    from pathlib import Path

    stub = ast.parse((Path(tamis.__file__).parent / "_tamis.pyi").read_text())
    classes = {node.name: node for node in stub.body if isinstance(node, ast.ClassDef)}

    def members(node: ast.ClassDef) -> list[ast.stmt]:
        """What a class has of its own, and of the bases that only the stub has."""
        bases = [base.id for base in node.bases if isinstance(base, ast.Name)]
        inherited = [members(classes[base]) for base in bases if base in classes]
        return sum(inherited, node.body)

    compared = 0
    for name in classes.keys() & set(tamis.__all__):
        for method in members(classes[name]):
            text = ast.get_docstring(method) if isinstance(method, ast.FunctionDef) else None
            if text and not method.name.startswith("__"):
                here = " ".join(getattr(getattr(tamis, name), method.name).__doc__.split())
                assert here.startswith(" ".join(text.split())), f"{name}.{method.name}"
                compared += 1
    assert compared > 80
