from __future__ import annotations

import pytest

from services.executor.core.launching.program import Launch, LaunchProgram
from services.executor.core.launching.recording import NotRecordableError
from services.executor.core.launching.symbol_names import named_as_in

# As nvcc 13.0 names what the recording has on the left.
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


def test_a_kernel_with_arguments_of_16_bits_is_found_by_its_own_name() -> None:
    symbols = ["_Z4gemmPK16wavepool_float16S1_PS_i", "_Z4gemmPKfS0_Pfi"]
    assert named_as_in(symbols, program("_Z4gemmPKDF16_S0_PDF16_i")) == program(symbols[0])


@pytest.mark.parametrize(
    "symbols",
    [
        ["_Z4gemmPK16wavepool_float16i", "_Z4gemmPK16wavepool_float16f"],
        ["_Z4gemmI16wavepool_float16EvPT_i"],
        ["_Z5gemm2PK16wavepool_float16i"],
        ["_Z4gemmPKfi"],
    ],
)
def test_a_name_that_could_be_several_kernels_or_none_is_not_guessed(symbols: list[str]) -> None:
    with pytest.raises(NotRecordableError, match="has another name in the device code"):
        named_as_in(symbols, program("_Z4gemmPKDF16_i"))
