"""Compiler messages: parses clang's text, and adds hints for common mistakes."""

from __future__ import annotations

import re
from dataclasses import dataclass

from hipcpu.front.amd_builtins import why_not

_LINE = re.compile(
    r"^(?P<file>[^\s:]+):(?P<line>\d+):(?P<column>\d+): (?P<severity>fatal error|error|warning|note): (?P<message>.*)$",
    re.MULTILINE,
)
SOURCE = "solution.hip"
_BUILTIN = re.compile(r"__builtin_amdgcn_\w+")

# Words in a source that have no meaning on the host processor, each with the reason and an alternative.
_NO_MEANING = (
    (
        re.compile(
            r"\b(?:tex1D\w*|tex2D\w*|tex3D\w*|texture|(?:hip|cuda)(?:TextureObject_t|ResourceDesc|TextureDesc|Array_t|CreateChannelDesc|ReadMode\w+)|surf[123]D\w*)\b"
        ),
        "there are no textures, as the MI300X has none either: read global memory, with __ldg or plain pointers",
    ),
    (
        re.compile(r"\b(?:hip|cuda)(?:Graph\w*(?:MemAlloc|MemFree)\w*|DeviceGraphMem\w*)\b"),
        "graphs on the cpu device allocate and free no memory: call hipMalloc before the graph is made",
    ),
    (
        re.compile(r"\b(?:hip|cuda)(?:Drv)?Graph\w*\b"),
        "of graphs the cpu device has all but memory nodes, semaphores, operation batches and the calls of the driver",
    ),
    (
        re.compile(r"\b(?:nvcuda|wmma)(?:::\w+)*\b"),
        "these are NVIDIA's matrix units: compute the tile with plain fused multiply-adds, or with MFMA for the MI300X",
    ),
    (
        re.compile(r"\bdevice-side kernel call/launch\b"),
        "HIP has no dynamic parallelism: launch from `solution`, or loop in the kernel",
    ),
    (
        re.compile(r"(?<=')(?:curand|hiprand|rocrand)\w*(?:/[\w./]*|\.h)|\b(?:cu|hip|roc)rand\w+"),
        "random number libraries are not available: no problem needs them; write a counter-based generator",
    ),
    (re.compile(r"module '\w+' not found"), "this is Python: a submission is a source in HIP or CUDA C++"),
    (
        re.compile(r"(?<=')(?:torch|ATen|c10|pybind11)/[\w./]*"),
        'a submission is no extension of torch: drop this header, and define `extern "C" void solution(...)`',
    ),
    (
        re.compile(r"(?<=')hip_\w+\.h(?=' file not found)"),
        "HIP's headers are in the folder `hip`: include it as <hip/...>",
    ),
    (
        re.compile(r"no (?:member|template) named '\w+' in (?:'at::Tensor'|namespace '(?:at|torch|c10)')"),
        "of torch's C++ there are tensors, with sizes, strides and memory, and nothing that computes: write a kernel",
    ),
    (
        re.compile(r"(?<=')(?:rccl/[\w.]+|nccl\.h|rocshmem/[\w./]+|nvshmem\w*\.h|mpi\.h)(?=' file not found)"),
        "this joins several GPUs, and a submission runs in one process on one GPU",
    ),
    (
        re.compile(r"(?<=')ck/config\.h(?=' file not found)"),
        "Composable Kernel's build makes this header, from ck/config.h.in: put its lines into the source",
    ),
    (
        re.compile(r"(?<=')hip/hiprtc\.h(?=' file not found)"),
        "nothing is compiled while a submission runs: put the kernel into the source",
    ),
    (re.compile(r"(?<=')omp\.h(?=' file not found)"), "host code has no OpenMP: use std::thread, or a plain loop"),
    (
        re.compile(r"(?<=')(?:helper_\w+|nvtx3/\w+|nvToolsExt|roctracer/\w+|cuda/ptx)(?:\.h\w*)?(?=')"),
        "this header is no part of HIP: drop it, with what it was for",
    ),
    (
        re.compile(r"\bcu(?:Init|Mem|Ctx|Device|Launch|Stream|Event|Module|Func|TensorMap)\w*\b"),
        "the CUDA driver API is not there: call the runtime's functions, hipMalloc and <<<>>>",
    ),
    (
        re.compile(r"(?:input|output) constraint '[^']*' in asm"),
        "PTX is NVIDIA's assembly, and HIP has none of it: write the instruction as C++, or call its intrinsic",
    ),
    (re.compile(r"\b__CUDA_ARCH__\b"), "the device is not NVIDIA's: test it with #ifdef, or remove the code for it"),
    (re.compile(r"\b__cluster_dims__\b"), "clusters of blocks exist only on NVIDIA's GPUs: launch a plain grid"),
    (
        re.compile(
            r"\b(?:rocblas|hipblas|hipblaslt|miopen|hipfft|rocfft|rocsolver|rocsparse|hipsparse|cublas|cudnn|cutlass)\b[\w/.]*"
            r"|(?<=')ck(?:_tile)?/(?!config\.h')[\w/.]+(?=' file not found)"
            r"|(?<=')(?:cu|hip|roc)(?:blas|dnn|fft|solver|sparse)\w*\.h(?=')"
        ),
        "vendor libraries are not available on the cpu device",
    ),
    (
        re.compile(r"(?<=')rocwmma/[\w/.]*(?=' file not found)|(?<=undeclared identifier ')rocwmma(?=')"),
        (
            "rocWMMA's headers are not here, as Debian's package lacks `rocwmma/internal`: put them into the source, "
            "or multiply tiles with the matrix builtins, __builtin_amdgcn_mfma_*, which run here too"
        ),
    ),
)
_MISSING = re.compile(r"(?<=')[^'\n]+(?=' file not found)")
_ONE_FILE = "this header is not on the cpu device: drop it, or put what you need of it into the source"
_ROCM_LIBRARY = re.compile(r"(?<=')(?:cub|hipcub|rocprim|thrust)/[\w./]*|\b(?:cub|hipcub|rocprim|thrust)::\w+")
_NO_ROCM = (
    "{}; without them the cpu device has, of hipCUB, Block-, Warp- and DeviceReduce, Block-, Warp- and DeviceScan, "
    "DeviceSegmentedReduce and DeviceHistogram, in <hipcub/hipcub.hpp>: write the rest as kernels of your own"
)


@dataclass(frozen=True)
class Diagnostic:
    """One message; line and column count from 1, and are 0 if the message has no place."""

    line: int
    column: int
    severity: str
    message: str


def diagnostics_from_text(text: str) -> list[Diagnostic]:
    """Return the messages in clang's output about the submission's source."""
    found: list[Diagnostic] = []
    for match in _LINE.finditer(text):
        if match["file"].endswith(SOURCE):
            severity = "error" if match["severity"] == "fatal error" else match["severity"]
            found.append(Diagnostic(int(match["line"]), int(match["column"]), severity, match["message"]))
    return found


def hints(text: str, why_no_rocm: str = "") -> list[str]:
    """Explain, once each, the words in the compiler's errors or their source lines that have no meaning here.

    `why_no_rocm` says why this machine lacks ROCm's libraries of headers, if it does.
    """
    found = {f"{name}: {reason}": None for name in _BUILTIN.findall(text) if (reason := why_not(name))}
    rocm = ((_ROCM_LIBRARY, _NO_ROCM.format(why_no_rocm)),) if why_no_rocm else ()
    for pattern, reason in (*_NO_MEANING, *rocm):
        for match in pattern.finditer(text):
            found.setdefault(f"{match[0]}: {reason}")
    return list(found) or [f"{name}: {_ONE_FILE}" for name in dict.fromkeys(_MISSING.findall(text))]


def assembly_error(source: str, code: str) -> str:
    """Return the error message for inline assembly, at its first place in the source."""
    place = _place(source, re.search(r"\b(?:__asm|asm|__asm__)\b", source))
    return f"{place}: error: inline assembly {code!r} is for a GPU; the cpu device cannot run it\n"


def intrinsic_error(source: str, name: str) -> str:
    """Return the error message for an intrinsic of AMD's back end that is called by its label."""
    # Matrix instructions' dots have become underscores.
    found = re.search(re.sub(r"\\\.|_", "[._]", re.escape(name)), source)
    advice = "call the builtin of clang that does the same, or write it as C++"
    return (
        f"{_place(source, found)}: error: the cpu device has no intrinsic `{found[0] if found else name}`: {advice}\n"
    )


def _place(source: str, found: re.Match[str] | None) -> str:
    before = source[: found.start()] if found else ""
    return f"{SOURCE}:{before.count(chr(10)) + 1}:{len(before) - before.rfind(chr(10))}"
