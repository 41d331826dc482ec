#pragma once
#include "wavepool/vector_types.h"
