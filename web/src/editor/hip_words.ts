// Words of HIP and of our interface that the editor completes, without asking anybody.

import { type Completion, snippetCompletion } from "@codemirror/autocomplete";

// By kind: names, and after `|` the text beside them.
const WORDS: Record<string, string> = {
  variable: `threadIdx|uint3 blockIdx|uint3 blockDim|dim3 gridDim|dim3 warpSize|int`,
  keyword: `__global__ __device__ __host__ __shared__ __constant__ __forceinline__ __noinline__ __launch_bounds__
    __restrict__ __align__ extern`,
  type: `dim3 uint3 float2 float3 float4 double2 double4 int2 int3 int4 uint2 uint4 half|__half half2|__half2 __half
    __half2 hip_bfloat16 __hip_bfloat16 __hip_bfloat162 hipError_t hipStream_t hipEvent_t hipDeviceProp_t
    hipMemcpyKind size_t int8_t uint8_t int16_t uint16_t int32_t uint32_t int64_t uint64_t`,
  function: `__syncthreads __syncwarp __threadfence __threadfence_block __threadfence_system
    __shfl|var,_lane __shfl_up|var,_delta __shfl_down|var,_delta __shfl_xor|var,_laneMask __ballot __any __all
    __activemask __popc __popcll __clz __clzll __ffs __ffsll __brev __lane_id
    atomicAdd atomicSub atomicExch atomicMin atomicMax atomicInc atomicDec atomicCAS atomicAnd atomicOr atomicXor
    unsafeAtomicAdd atomicAdd_block atomicAdd_system
    __float2half __half2float __float22half2_rn __half22float2 __floats2half2_rn __hadd __hadd2 __hmul __hmul2 __hfma
    __hfma2 __hmax __hmin __float2bfloat16 __bfloat162float __ldg
    fmaf fmaxf fminf expf exp2f __expf logf log2f __logf powf __powf sqrtf rsqrtf __frsqrt_rn tanhf erff sinf cosf
    __sinf __cosf fabsf floorf ceilf roundf truncf __fmaf_rn __fdividef __saturatef
    __builtin_amdgcn_readfirstlane __builtin_amdgcn_s_barrier __builtin_amdgcn_sched_barrier
    __builtin_amdgcn_ds_bpermute __builtin_amdgcn_update_dpp __builtin_amdgcn_mfma_f32_32x32x8f16
    __builtin_amdgcn_mfma_f32_16x16x16f16 __builtin_amdgcn_mfma_f32_32x32x2f32 __builtin_nontemporal_load
    __builtin_nontemporal_store
    hipMalloc hipFree hipMemcpy hipMemcpyAsync hipMemset hipMemsetAsync hipDeviceSynchronize hipStreamCreate
    hipStreamSynchronize hipStreamDestroy hipGetLastError hipPeekAtLastError hipGetErrorString hipGetDeviceProperties
    hipFuncSetAttribute hipLaunchKernelGGL hipEventCreate hipEventRecord hipEventElapsedTime`,
  constant: `hipSuccess hipErrorInvalidValue hipErrorOutOfMemory hipErrorLaunchFailure hipMemcpyHostToDevice
    hipMemcpyDeviceToHost hipMemcpyDeviceToDevice INFINITY FLT_MAX FLT_MIN`,
};

const SNIPPETS = [
  snippetCompletion("<<<dim3(#{blocks}), dim3(#{threads})>>>(#{arguments});", {
    label: "<<<",
    detail: "launch a kernel",
    type: "text",
  }),
  snippetCompletion(
    "__global__ void #{name}(#{parameters}) {\n    const size_t i = blockIdx.x * size_t(blockDim.x) + threadIdx.x;\n    #{}\n}",
    { label: "kernel", detail: "a kernel of one dimension", type: "text" },
  ),
];

export const HIP_WORDS: readonly Completion[] = [
  ...Object.entries(WORDS).flatMap(([type, words]) =>
    words.split(/\s+/).map((word): Completion => {
      const [label = "", detail] = word.split("|");
      return { label, type, ...(detail ? { detail: detail.replaceAll("_", " ").replace(/^ +/, "__") } : {}) };
    }),
  ),
  ...SNIPPETS,
];

export interface Parameter {
  name: string;
  type: string;
}

// The parameters of `const float* a, size_t n`; what is no parameter is left out.
export function parametersOf(signature: string): Parameter[] {
  return signature.split(",").flatMap((text) => {
    const [, type, name] = text.trim().match(/^(.*[\s*&])(\w+)$/) ?? [];
    return type && name ? [{ name, type: type.trim() }] : [];
  });
}

// What a problem adds: its parameters, and the function that it calls.
export function wordsOfProblem(signature: string): Completion[] {
  if (!signature) return [];
  const parameters = parametersOf(signature).map(
    ({ name, type }): Completion => ({ label: name, detail: type, type: "property", boost: 2 }),
  );
  const solution = snippetCompletion(`extern "C" void solution(${signature}) {\n    #{}\n}`, {
    label: "solution",
    detail: "what is called and timed",
    type: "function",
    boost: 3,
  });
  return [...parameters, solution];
}

// Each word once: that of the problem before HIP's, and HIP's before one that is only in the text.
export function distinct(...lists: (readonly Completion[])[]): Completion[] {
  const found = new Map<string, Completion>();
  for (const word of lists.flat()) if (!found.has(word.label)) found.set(word.label, word);
  return [...found.values()];
}
