"""Loads the class that a definition's source defines."""

# pyright: basic
# Types are checked without torch, and nearly all types here are torch's.

from __future__ import annotations

import inspect
from typing import Any

from kernelbot import files_in, kernelbot_problem
from problem import Problem
from signature import DefinitionError

FILE_NAME = "problem_def.py"


def loaded(source: str) -> Any:  # noqa: ANN401
    """An instance of the last class in the source that derives from Problem; raises DefinitionError.

    If the source has files of KernelBot, they are the problem.
    """
    if files := files_in(source):
        return kernelbot_problem(files, FILE_NAME)
    scope: dict[str, Any] = {"__name__": "problem_def"}
    exec(compile(source, FILE_NAME, "exec"), scope)  # noqa: S102 - in a sandbox, which is there for it
    classes = [
        kind
        for kind in scope.values()
        if inspect.isclass(kind) and issubclass(kind, Problem) and kind.__module__ == "problem_def"
    ]
    if not classes and "ref_kernel" in scope:
        raise DefinitionError(
            "this is a reference.py of KernelBot: send it after a line `# file: reference.py`, and its task.yml after "
            "a line `# file: task.yml`; `--problem-def FOLDER` does so"
        )
    if not classes:
        raise DefinitionError("no class derives from Problem: begin with `from problem import Problem`")
    definition = classes[-1]()
    for name in ("reference_solution", "generate_test_cases"):
        if not callable(getattr(definition, name, None)):
            raise DefinitionError(f"the class {classes[-1].__name__} has no method {name}")
    return definition
