"""Generates object files from IR, through llvmlite's LLVM (the same release as clang's)."""

from __future__ import annotations

from functools import cache
from typing import Any, TypeAlias

import llvmlite.binding as _untyped

from hipcpu.toolchain import TRIPLE

# llvmlite has no types.
llvm: Any = _untyped
LlvmModule: TypeAlias = Any
Machine: TypeAlias = Any
PassBuilder: TypeAlias = Any

# A loop inside a kernel that is not unrolled keeps the loop over threads from being vectorised; LLVM's default of 300
# does not unroll the inner product of a register-tiled matmul, which is three times slower then.
_UNROLL_THRESHOLD = 1000

_INTERNAL = llvm.Linkage.internal
_LOCAL = frozenset({llvm.Linkage.internal, llvm.Linkage.private, llvm.Linkage.appending})


@cache
def initialise() -> None:
    """Register the x86 target; safe to call more than once."""
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    llvm.initialize_native_asmparser()


@cache
def unroll_more() -> None:
    """Unroll larger loops from now on, in the whole process. Safe to call more than once."""
    llvm.set_option("wavepool", f"-unroll-threshold={_UNROLL_THRESHOLD}")


@cache
def leave_addresses() -> None:
    """Skip loop strength reduction from now on, in the whole process. Safe to call more than once.

    It took most of the code generator's time for hundreds of loops; x86 computes their addresses anyway.
    """
    llvm.set_option("wavepool", "-disable-lsr")


def processor() -> tuple[str, str]:
    """Return the name and features of the processor that code is compiled for: this machine's."""
    initialise()
    return llvm.get_host_cpu_name(), llvm.get_host_cpu_features().flatten()


def target_machine() -> Machine:
    """Return a code generator for this machine's processor and a static executable."""
    name, features = processor()
    target = llvm.Target.from_triple(TRIPLE)
    return target.create_target_machine(cpu=name, features=features, opt=3, reloc="static", codemodel="small")


def parse(text: str) -> LlvmModule:
    """Parse and verify a module in a context of its own, so that modules can be compiled in parallel."""
    module = llvm.parse_assembly(text, llvm.create_context())
    module.verify()
    return module


def internalise(module: LlvmModule, public: frozenset[str]) -> None:
    """Make every definition internal except those in `public`."""
    for value in [*module.functions, *module.global_variables]:
        if not value.is_declaration and value.name not in public and value.linkage not in _LOCAL:
            value.linkage = _INTERNAL


def hide(module: LlvmModule, names: frozenset[str]) -> None:
    """Make the functions in `names` internal."""
    for function in module.functions:
        if not function.is_declaration and function.name in names:
            function.linkage = _INTERNAL


def inline_everything(module: LlvmModule, public: frozenset[str]) -> None:
    """Ask LLVM to inline every function except those in `public` at all of its calls."""
    for function in module.functions:
        if not function.is_declaration and function.name not in public:
            function.add_function_attribute("alwaysinline")


def values_in_registers(module: LlvmModule) -> None:
    """Inline the functions marked by `inline_everything` and put private variables into registers."""
    passes = llvm.create_new_module_pass_manager()
    passes.add_always_inliner_pass()
    passes.add_sroa_pass()
    passes.add_global_dead_code_eliminate_pass()
    passes.run(module, _pass_builder(target_machine(), level=0))


def values_in_memory(text: str) -> str:
    """Return the module with every value that crosses basic blocks in a private variable."""
    module = parse(text)
    passes = llvm.create_new_module_pass_manager()
    passes.add_register_to_memory_pass()
    passes.run(module, _pass_builder(target_machine(), level=0))
    return str(module)


def name_everything(module: LlvmModule, machine: Machine) -> None:
    """Give every value and block a name, and turn switches into branches."""
    passes = llvm.create_new_module_pass_manager()
    passes.add_lower_switch_pass()
    passes.add_instruction_namer_pass()
    passes.run(module, _pass_builder(machine, level=0))


def _pass_builder(machine: Machine, level: int) -> PassBuilder:
    return llvm.create_pass_builder(machine, llvm.create_pipeline_tuning_options(speed_level=level))


def optimise(module: LlvmModule, machine: Machine, level: int, *, vectorise: bool = True) -> None:
    """Run LLVM's standard pipeline at `level`, with or without vectorisation."""
    options = llvm.create_pipeline_tuning_options(speed_level=level)
    options.loop_vectorization = options.slp_vectorization = options.loop_interleaving = vectorise
    options.loop_unrolling = True
    builder = llvm.create_pass_builder(machine, options)
    builder.getModulePassManager().run(module, builder)


def object_file(module: LlvmModule, machine: Machine) -> bytes:
    """Generate code and return the object file."""
    return machine.emit_object(module)
