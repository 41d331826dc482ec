// CUDA's names of the complex numbers.
#pragma once
#include <cuda_runtime.h>
#include <hip/hip_complex.h>
typedef hipFloatComplex cuFloatComplex;
typedef hipComplex cuComplex;
typedef hipDoubleComplex cuDoubleComplex;
#define cuCrealf hipCrealf
#define cuCreal hipCreal
#define cuCimagf hipCimagf
#define cuCimag hipCimag
#define cuConjf hipConjf
#define cuConj hipConj
#define cuCaddf hipCaddf
#define cuCadd hipCadd
#define cuCsubf hipCsubf
#define cuCsub hipCsub
#define cuCmulf hipCmulf
#define cuCmul hipCmul
#define cuCdivf hipCdivf
#define cuCdiv hipCdiv
#define cuCabsf hipCabsf
#define cuCabs hipCabs
#define make_cuFloatComplex make_hipFloatComplex
#define make_cuComplex make_hipComplex
#define make_cuDoubleComplex make_hipDoubleComplex
