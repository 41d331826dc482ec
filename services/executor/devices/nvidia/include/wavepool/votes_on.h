// Ends what votes_off.h began.
#pragma pop_macro("__all")
#pragma pop_macro("__any")
#pragma pop_macro("__ballot")
