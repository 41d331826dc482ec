from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from problems.kit.signature import DTYPES, Initial, Parameter, SignatureError, parse_signature

NAMES = st.from_regex(r"[A-Za-z_][A-Za-z0-9_]{0,8}", fullmatch=True).filter(
    lambda name: name not in {"const", "__restrict__", *DTYPES}
)
PARAMETERS = st.builds(
    Parameter, name=NAMES, ctype=st.sampled_from(sorted(DTYPES)), pointer=st.booleans(), const=st.booleans()
)
SPACE = st.sampled_from(("", " ", "  ", "\n    "))


def parse(
    signature: str, outputs: Mapping[str, Initial] | None = None, host_readable: frozenset[str] = frozenset()
) -> tuple[Parameter, ...]:
    return parse_signature(signature, outputs or {}, host_readable)


@settings(deadline=None)
@given(st.lists(PARAMETERS, min_size=1, max_size=8, unique_by=lambda parameter: parameter.name))
def test_declarations_parse_back_to_their_parameters(parameters: list[Parameter]) -> None:
    assert parse(", ".join(parameter.declaration for parameter in parameters)) == tuple(parameters)


@settings(deadline=None)
@given(PARAMETERS, SPACE, SPACE, SPACE)
def test_spacing_around_star_and_comma_makes_no_difference(
    parameter: Parameter, before: str, around: str, after: str
) -> None:
    text = parameter.declaration.replace("* ", f"{around}*{after}")
    assert parse(f"{before}{text}{around}") == (parameter,)


@settings(deadline=None)
@given(st.text(max_size=40))
def test_any_text_parses_or_is_refused_with_a_signature_error(text: str) -> None:
    try:
        parameters = parse(text)
    except SignatureError:
        return
    assert all(parameter.name.isidentifier() for parameter in parameters)


def test_const_may_stand_on_either_side_of_the_type() -> None:
    assert parse("float const * x") == parse("const float *x")


def test_restrict_and_a_const_pointer_are_allowed_and_forgotten() -> None:
    assert parse("const float* const __restrict__ x") == parse("const float* x")


@pytest.mark.parametrize(
    ("ctype", "dtype"),
    [
        ("float", np.float32),
        ("double", np.float64),
        ("half", np.float16),
        ("float16", np.float16),
        ("int", np.int32),
        ("uint8_t", np.uint8),
        ("uint32_t", np.uint32),
        ("uint64_t", np.uint64),
        ("size_t", np.uint64),
    ],
)
def test_every_c_type_has_its_numpy_type(ctype: str, dtype: type[np.generic]) -> None:
    assert parse(f"const {ctype}* x")[0].dtype == np.dtype(dtype)


def test_outputs_and_host_readable_pointers_are_marked() -> None:
    signature = "const float* input, float* output, const size_t* shape"
    given_input, output, shape = parse(signature, {"output": Initial.ZERO}, frozenset({"shape"}))
    assert (given_input.output, given_input.valid_on_host) == (False, False)
    assert (output.output, output.initial) == (True, Initial.ZERO)
    assert shape.valid_on_host


@pytest.mark.parametrize(
    ("signature", "message"),
    [
        ("", "write `[const] type[*] name`"),
        ("int", "write `[const] type[*] name`"),
        ("const", "write `[const] type[*] name`"),
        ("float** x", "write `[const] type[*] name`"),
        ("float* const", "write `[const] type[*] name`"),
        ("float x[3]", "write `[const] type[*] name`"),
        ("float* x,", "write `[const] type[*] name`"),
        ("unsigned int", "write `[const] type[*] name`"),
        ("complex64* x", "unknown type `complex64`; known are float, double"),
        ("float* x, int x", "`x` appears twice"),
    ],
)
def test_a_bad_parameter_is_named_with_the_fix(signature: str, message: str) -> None:
    with pytest.raises(SignatureError) as caught:
        parse(signature)
    assert message in str(caught.value)


def test_an_output_must_be_a_parameter() -> None:
    with pytest.raises(SignatureError, match="`result` is not a parameter"):
        parse("float* output", {"result": Initial.POISON})


@pytest.mark.parametrize("signature", ["const float* y", "float y"])
def test_an_output_must_be_writable(signature: str) -> None:
    with pytest.raises(SignatureError, match="cannot be written"):
        parse(signature, {"y": Initial.POISON})


def test_a_host_readable_parameter_must_be_a_known_pointer() -> None:
    with pytest.raises(SignatureError, match="only pointers"):
        parse("size_t ndim", host_readable=frozenset({"ndim"}))
    with pytest.raises(SignatureError, match="`shape` is not a parameter"):
        parse("size_t ndim", host_readable=frozenset({"shape"}))
