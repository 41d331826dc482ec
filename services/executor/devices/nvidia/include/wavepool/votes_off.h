// CUDA's own headers use names that are macros of ours: they come between this and votes_on.h. May be included again.
#pragma push_macro("__all")
#pragma push_macro("__any")
#pragma push_macro("__ballot")
#undef __all
#undef __any
#undef __ballot
