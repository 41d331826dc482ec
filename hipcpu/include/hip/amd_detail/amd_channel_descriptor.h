#pragma once
#include "hip/channel_descriptor.h"
