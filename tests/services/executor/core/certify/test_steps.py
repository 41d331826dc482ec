from __future__ import annotations

from services.executor.core.certify.results import ExitStatus, Outcome, StepResult, exit_status
from services.executor.core.certify.sources import Sources, sources_for
from services.executor.core.certify.steps import OPEN_DEVICE, Choice, Section, Step, all_steps, step_named
from tests.attacks.manifest import PARTS_OF_STAGED, attempts
from tests.attacks.staged import STAGED

SOURCES = Sources(["relu", "softmax"], [f"kernel_{at}" for at in range(9)], ["01_x/y"])


def _ids(steps: list[Step]) -> list[str]:
    return [step.id for step in steps]


def test_every_reference_honest_kernel_and_attack_is_a_step() -> None:
    found = sources_for("rocm", simulated=False)
    ids = _ids(all_steps(found, at_gpu_sizes=True))
    assert len(set(ids)) == len(ids)
    assert not found.missing
    assert {f"references/{slug}/{size}" for slug in found.references for size in ("cpu", "gpu")} <= set(ids)
    named = {one.name for one in attempts()} - PARTS_OF_STAGED | set(STAGED)
    assert {step.removeprefix("attacks/") for step in ids if step.startswith("attacks/")} == named
    assert len(found.references) == 83
    assert len(found.honest) >= 83


def test_the_sizes_of_gpus_are_for_real_ones() -> None:
    ids = _ids(all_steps(SOURCES, at_gpu_sizes=False))
    assert "references/relu/cpu" in ids
    assert not [step for step in ids if step.endswith("/gpu")]


def test_a_simulated_device_has_the_attacks_on_times() -> None:
    names = sources_for("sim", simulated=True).attacks
    timed = {one.name for one in attempts() if one.mode == "benchmark"}
    assert set(names) == timed - PARTS_OF_STAGED


def test_a_device_of_somebody_elses_has_no_documented_verdicts() -> None:
    assert sources_for("abacus", simulated=False).attacks == [*sorted(STAGED)]


def test_a_sample_is_spread_over_a_section_and_short_sections_stay_whole() -> None:
    steps = all_steps(SOURCES, at_gpu_sizes=False)
    picked = _ids(Choice(sample=3).picked(steps))
    assert [step for step in picked if step.startswith("honest/")] == [
        "honest/kernel_1",
        "honest/kernel_4",
        "honest/kernel_7",
    ]
    assert "environment/disk" in picked
    assert "overhead/next-submission" in picked
    assert _ids(Choice().picked(steps)) == _ids(steps)


def test_a_section_comes_with_the_opening_of_the_device() -> None:
    steps = all_steps(SOURCES, at_gpu_sizes=False)
    assert _ids(Choice(only={Section.ATTACKS}).picked(steps)) == [OPEN_DEVICE, "attacks/01_x/y"]


def test_what_ended_so_and_what_did_not_run_decide_the_exit_status() -> None:
    opened = StepResult(OPEN_DEVICE, Outcome.PASSED, "")
    ending = {outcome: StepResult("honest/x", outcome, "") for outcome in Outcome}
    good = [opened, ending[Outcome.PASSED], ending[Outcome.MEASURED], ending[Outcome.NOT_POSSIBLE]]
    assert exit_status(good, []) == ExitStatus.PASSED
    assert exit_status(good, [step_named("honest/y")]) == ExitStatus.FAILED
    assert exit_status([opened, ending[Outcome.FAILED]], []) == ExitStatus.FAILED
    assert exit_status([StepResult(OPEN_DEVICE, Outcome.NOT_POSSIBLE, "")], []) == ExitStatus.NO_DEVICE
