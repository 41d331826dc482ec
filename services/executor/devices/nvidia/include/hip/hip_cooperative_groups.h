#pragma once
// CUDA's headers have names of their own that are macros of ours.
#pragma push_macro("__all")
#pragma push_macro("__any")
#pragma push_macro("__ballot")
#undef __all
#undef __any
#undef __ballot
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#pragma pop_macro("__all")
#pragma pop_macro("__any")
#pragma pop_macro("__ballot")
