#pragma once
// In this order.
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
