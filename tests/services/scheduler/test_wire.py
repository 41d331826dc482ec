from __future__ import annotations

from problems.library.catalogue import Catalogue
from services.scheduler.wire.messages import problem_to_proto


def test_a_problem_comes_in_the_element_type_that_is_asked_for() -> None:
    answer = problem_to_proto(Catalogue.load().get("relu"), "float16")
    assert answer.problem.signature.startswith("const __half* input, __half* output")
    assert "void solution(const __half* input" in answer.starter
    assert list(answer.problem.dtypes) == ["float32", "float16", "bfloat16"]
