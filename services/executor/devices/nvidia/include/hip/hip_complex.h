#pragma once
#include <cuComplex.h>

using hipFloatComplex = cuFloatComplex;
using hipDoubleComplex = cuDoubleComplex;
using hipComplex = cuComplex;
#define make_hipFloatComplex make_cuFloatComplex
#define make_hipDoubleComplex make_cuDoubleComplex
#define hipCadd cuCadd
#define hipCsub cuCsub
#define hipCmul cuCmul
#define hipCdiv cuCdiv
#define hipCabs cuCabs
#define hipConj cuConj
#define hipCreal cuCreal
#define hipCimag cuCimag
