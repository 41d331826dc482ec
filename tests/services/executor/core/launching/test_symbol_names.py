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
