"""One step, performed in a process of its own, which may crash or hang."""

from __future__ import annotations

import time
import traceback
from dataclasses import dataclass, replace

from hipcpu.build_folder import ToolchainError
from services.executor.core.certify import independent, judgements, kernel_runs, probes
from services.executor.core.certify.results import Outcome, StepResult
from services.executor.core.certify.steps import RECORDER, Section, step_named
from services.executor.core.model.failure import Failure
from services.executor.core.run.context import RunContext
from services.executor.core.run.installation import Options, open_context
from services.executor.devices.plugins import device_named
from services.executor.sandboxes.choice import choose_sandbox
from services.executor.sandboxes.sandbox import SandboxError


@dataclass(frozen=True)
class Performance:
    """The settings of all steps; `runs` is the number of submissions of a kernel whose spread is measured."""

    options: Options
    runs: int


async def perform(step: str, how: Performance) -> StepResult:
    """Performs a step; anything that breaks on the way is the step's failure, with its message."""
    began, begin = time.time(), time.perf_counter()
    section, _, rest = step.partition("/")
    try:
        result = await _perform(step, Section(section), rest, how)
    except SandboxError as error:
        result = StepResult(step, Outcome.FAILED, str(error))
    except ToolchainError as error:
        # A step that needs the device runs only after it was opened, so the device is gone now.
        outcome = Outcome.FAILED if step_named(step).needs_device else Outcome.NOT_POSSIBLE
        result = StepResult(step, outcome, str(error))
    except Failure as failure:
        result = StepResult(step, Outcome.FAILED, f"{failure.verdict}: {failure.message}", details=failure.details)
    except Exception as error:  # noqa: BLE001 - a fault of ours is what certify looks for
        result = StepResult(step, Outcome.FAILED, f"certify itself failed: {error}", details=traceback.format_exc())
    return replace(result, began=began, seconds=time.perf_counter() - begin)


async def _perform(step: str, section: Section, rest: str, how: Performance) -> StepResult:
    if step == RECORDER:
        return await kernel_runs.recorder(step, await open_context(replace(how.options, device="cpu")))
    if section is Section.ENVIRONMENT:
        return _environment(step, rest, how.options)
    if section is Section.SANDBOX and rest == "choice":
        sandbox = await choose_sandbox(how.options.sandbox)
        return judgements.of_sandbox(step, sandbox.name, sandbox.gaps)
    context = await open_context(how.options)
    if section is Section.SPREAD:
        return await kernel_runs.spread(step, float(rest.removesuffix("us")), how.runs, context)
    if section in {Section.DEVICE, Section.SANDBOX}:
        return await _device(step, rest, context)
    of_section = {
        Section.REFERENCES: kernel_runs.reference,
        Section.HONEST: kernel_runs.honest,
        Section.ATTACKS: kernel_runs.attack,
        Section.INDEPENDENT: independent.compared,
        Section.OVERHEAD: kernel_runs.submission,
    }
    return await of_section[section](step, rest, context)


def _environment(step: str, name: str, options: Options) -> StepResult:
    if name == "driver":
        return probes.driver(step, device_named(options.device))
    of_name = {
        "machine": lambda: probes.machine(step),
        "processor": lambda: probes.processor(step),
        "memory": lambda: probes.memory(step, options.device),
        "disk": lambda: probes.disk(step, options.cache_folder),
        "compiler": lambda: probes.device_compiler(step, options.device),
    }
    return of_name[name]()


async def _device(step: str, name: str, context: RunContext) -> StepResult:
    if name in {"open", "instruments"}:
        probe = probes.opened if name == "open" else probes.instruments
        return probe(step, context.device)
    of_name = {"canary": kernel_runs.canary, "devices": kernel_runs.devices_seen, "sweep": kernel_runs.sweep}
    return await of_name[name](step, context)
