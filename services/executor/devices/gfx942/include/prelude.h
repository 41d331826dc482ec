// The header that nearly every source includes first, for its precompiled form.
#include <hip/hip_runtime.h>
