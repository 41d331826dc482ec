// HIP for the `cpu` device: what people include. It is read each time: the prelude has all of it, but was compiled before
// a source could define anything.
#include "wavepool/hip_runtime.h"

#if defined(HIP_TEMPLATE_KERNEL_LAUNCH)
#include "wavepool/host/template_launch.h"
#endif
