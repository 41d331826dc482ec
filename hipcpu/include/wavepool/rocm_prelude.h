// What hipCUB, rocPRIM and Thrust must know before they are read, and what they ask of hipcc and of HIP that only they
// need.
#pragma once

#include "hip/hip_bf16.h"
#include "hip/hip_bfloat16.h"
#include "hip/hip_fp16.h"
#include "hip/hip_runtime.h"

// Kernels take the way of gfx942, and device-wide ones their sizes for an unknown GPU. What a source itself sees of
// these names stays as it is without the libraries.
#pragma push_macro("__gfx942__")
#pragma push_macro("__GFX9__")
#define __gfx942__ 1
#define __GFX9__ 1
// Shuffles instead of moves between neighbours, and plain memory accesses instead of assembly.
#define ROCPRIM_DISABLE_DPP 1
#define ROCPRIM_THREAD_LOAD_USE_CACHE_MODIFIERS 0
#define ROCPRIM_THREAD_STORE_USE_CACHE_MODIFIERS 0
// There are no textures: the headers that read them count as read.
#define ROCPRIM_ITERATOR_TEXTURE_CACHE_ITERATOR_HPP_
#define HIPCUB_ROCPRIM_ITERATOR_TEX_OBJ_INPUT_ITERATOR_HPP_
#define HIPCUB_ROCPRIM_DEVICE_DEVICE_SPMV_HPP_

#define __hip_assert(CONDITION)
// Thrust takes its own words for kernels back unless HIP's are there, by this macro.
#define HIP_INCLUDE_HIP_AMD_DETAIL_HOST_DEFINES_H
// Thrust names libc++'s namespace by a macro that libc++ has no more.
#define _VSTD std

#include <hipcub/hipcub.hpp>
#include <rocprim/rocprim.hpp>
#include <thrust/adjacent_difference.h>
#include <thrust/binary_search.h>
#include <thrust/copy.h>
#include <thrust/count.h>
#include <thrust/device_ptr.h>
#include <thrust/device_vector.h>
#include <thrust/execution_policy.h>
#include <thrust/extrema.h>
#include <thrust/fill.h>
#include <thrust/for_each.h>
#include <thrust/functional.h>
#include <thrust/gather.h>
#include <thrust/generate.h>
#include <thrust/host_vector.h>
#include <thrust/inner_product.h>
#include <thrust/iterator/constant_iterator.h>
#include <thrust/iterator/counting_iterator.h>
#include <thrust/iterator/discard_iterator.h>
#include <thrust/iterator/permutation_iterator.h>
#include <thrust/iterator/reverse_iterator.h>
#include <thrust/iterator/transform_iterator.h>
#include <thrust/iterator/zip_iterator.h>
#include <thrust/logical.h>
#include <thrust/partition.h>
#include <thrust/reduce.h>
#include <thrust/remove.h>
#include <thrust/replace.h>
#include <thrust/reverse.h>
#include <thrust/scan.h>
#include <thrust/scatter.h>
#include <thrust/sequence.h>
#include <thrust/sort.h>
#include <thrust/tabulate.h>
#include <thrust/transform.h>
#include <thrust/transform_reduce.h>
#include <thrust/transform_scan.h>
#include <thrust/tuple.h>
#include <thrust/unique.h>

static_assert(std::size(rocprim::detail::target_architectures) == 1, "prepare.py left other GPUs in rocPRIM's list");

#pragma pop_macro("__gfx942__")
#pragma pop_macro("__GFX9__")
