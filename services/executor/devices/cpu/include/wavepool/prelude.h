// Precompiled into both passes: the C++ library, callable from kernels, then HIP.
#pragma once

// clang declares these for the host by itself, so they must come before the pragma.
#include <__new/global_new_delete.h>

#pragma clang force_cuda_host_device begin
#include <algorithm>
#include <array>
#include <cassert>
#include <cctype>
#include <cerrno>
#include <cfloat>
#include <chrono>
#include <climits>
#include <cmath>
#include <complex>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <functional>
#include <initializer_list>
#include <iomanip>
#include <iostream>
#include <iterator>
#include <limits>
#include <map>
#include <memory>
#include <numeric>
#include <random>
#include <sstream>
#include <stdexcept>
#include <string>
#include <tuple>
#include <type_traits>
#include <unordered_map>
#include <utility>
#include <vector>
#pragma clang force_cuda_host_device end

#include "hip/hip_runtime.h"
