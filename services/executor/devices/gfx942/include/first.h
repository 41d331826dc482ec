// What HIP's headers expect of the C++ library that hipcc has, and that libc++ lacks.
#pragma once

#include <cmath>

// Thrust names libc++'s namespace by a macro that libc++ has no more.
#define _VSTD std

namespace std {
inline namespace __1 {
// HIP 6 specialises this template of libstdc++'s own.
template <class>
struct __numeric_type;
}  // namespace __1
}  // namespace std
