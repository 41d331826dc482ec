from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.executor.core.launching.program import Launch, LaunchProgram
from services.executor.core.launching.recording import NotRecordableError
from services.executor.core.launching.symbol_names import named_as_in

# nvcc 13.0's names for the recording's names on the left.
OF_CUDA = {
    "plain": "plain",
    "_Z5plainPf": "_Z5plainPf",
    "_ZL4statPf": "_Z4statPf",
    "_ZN12_GLOBAL__N_14anonEPf": "_ZN37_GLOBAL__N__de15342f_5_t_hip_acc5a52f4anonEPf",
    "_Z4tempIfLi3EEvPT_": "_Z4tempIfLi3EEvPT_",
    "_ZL4tempILi256EN12_GLOBAL__N_12OpEEvT0_": "_Z4tempILi256EN37_GLOBAL__N__de15342f_5_t_hip_acc5a52f2OpEEvT0_",
}
VARIABLES = {
    "table": "table",
    "_ZL10hidden_var": "hidden_var",
    "_ZN12_GLOBAL__N_18anon_varE": (
        "_ZN35_INTERNAL_de15342f_5_t_hip_acc5a52f37_GLOBAL__N__de15342f_5_t_hip_acc5a52f8anon_varE"
    ),
}


def program(kernel: str, variables: tuple[str, ...] = ()) -> LaunchProgram:
    launch = Launch(0, kernel, (1, 1, 1), (1, 1, 1), 0, False, ())
    return LaunchProgram((), variables, (), 0, (), (launch,))


@pytest.mark.parametrize("recorded", OF_CUDA)
def test_a_kernel_gets_the_name_that_it_has_in_the_code_object(recorded: str) -> None:
    symbols = [*OF_CUDA.values(), *VARIABLES.values()]
    found = named_as_in(symbols, program(recorded, tuple(VARIABLES)))
    assert found == program(OF_CUDA[recorded], tuple(VARIABLES.values()))


@pytest.mark.parametrize("recorded", [*OF_CUDA, *VARIABLES])
def test_names_that_the_code_object_has_stay_as_they_are(recorded: str) -> None:
    recordings = [*OF_CUDA, *VARIABLES]
    assert named_as_in(recordings, program(recorded)) == program(recorded)


@pytest.mark.parametrize("missing", ["plan", "_Z5plainPd", "_Z4tempIfLi4EEvPT_", "_ZN12_GLOBAL__N_15anon2EPf", "_Z9"])
def test_what_has_no_name_there_cannot_be_launched(missing: str) -> None:
    with pytest.raises(NotRecordableError, match="has another name in the device code"):
        named_as_in(OF_CUDA.values(), program(missing))


# Seen with hipcc of HIP 6.4.3; the last are nvcc's.
OF_TYPES_WITH_OTHER_NAMES = {
    "_Z6negatePKmS0_mP10ulonglong2m": "_Z6negatePKmS0_mP15HIP_vector_typeIyLj2EEm",
    "_ZL3addPK6float4S1_PS_": "_ZL3addPK15HIP_vector_typeIfLj4EES2_PS0_",
    "_Z4tempILi4E5uint2EvPT0_S2_": "_Z4tempILi4E15HIP_vector_typeIjLj2EEEvPT0_S3_",
    "_Z4gemmPKDF16_S0_PDF16_i": "_Z4gemmPK16wavepool_float16S1_PS_i",
    "_Z4gemmIDF16_EvPT_i": "_Z4gemmI16wavepool_float16EvPT_i",
}


def test_what_a_librarys_own_kernels_would_need_is_reported() -> None:
    with pytest.raises(NotRecordableError, match="device-wide functions of hipCUB"):
        named_as_in(OF_CUDA.values(), program("_ZN14wp_collectives11scan_kernelIfPKfPfNS_3SumEEEvT0_T1_lT2_T_bb"))


@pytest.mark.parametrize("recorded", OF_TYPES_WITH_OTHER_NAMES)
def test_a_kernel_is_found_where_a_type_has_another_name(recorded: str) -> None:
    symbols = [*OF_TYPES_WITH_OTHER_NAMES.values(), "_Z4gemmPKfS0_Pfi", "_Z3addPK15HIP_vector_typeIfLj2EES2_PS0_"]
    assert named_as_in(symbols, program(recorded)) == program(OF_TYPES_WITH_OTHER_NAMES[recorded])


@given(st.text(alphabet="_ZNEILSPKTFDJAv0123abc", max_size=60))
def test_any_symbol_is_read_or_left_alone(symbol: str) -> None:
    assert named_as_in(["plain", f"_Z{symbol}"], program("plain")) == program("plain")


@pytest.mark.parametrize("symbol", ["_Z1k" + "P" * 900 + "f", "_Z1kP1a" + "PFvS_S_E" * 80])
def test_a_name_that_would_grow_without_end_is_left_alone(symbol: str) -> None:
    with pytest.raises(NotRecordableError):
        named_as_in([symbol], program("_Z1kPf"))


@pytest.mark.parametrize(
    "symbols",
    [
        ["_Z4gemmPK16wavepool_float16i", "_ZL4gemmPK16wavepool_float16i"],
        ["_Z4gemmPK16wavepool_float16f"],
        ["_Z4gemmI16wavepool_float16EvPT_i"],
        ["_Z5gemm2PK16wavepool_float16i"],
        ["_Z4gemmPKfi"],
    ],
)
def test_a_name_that_could_be_several_kernels_or_none_is_not_guessed(symbols: list[str]) -> None:
    with pytest.raises(NotRecordableError, match="has another name in the device code"):
        named_as_in(symbols, program("_Z4gemmPKDF16_i"))
