// The back end of launches: notes them instead of running them (../kernels/workers.cpp, ../kernels/cooperative.cpp).
#include <cstring>
#include <string>

#include "../kernels/cooperative.h"
#include "../calls/kernel_name.h"
#include "../kernels/workers.h"
#include "record.h"

namespace wavepool {
namespace {
using recorder::Kind;
using recorder::Record;

void note(const KernelEntry& kernel, void** arguments, const BlockIndex& shape, const LaunchOrder& order,
          bool is_cooperative) {
    if (!arguments && kernel.argument_count > 0)
        recorder::refuse("kernel %s is launched without arguments", name_in_source(kernel));
    Record record(Kind::kLaunch);
    record.number(reinterpret_cast<uint64_t>(order.stream));
    for (uint32_t length : {shape.grid_dim_x, shape.grid_dim_y, shape.grid_dim_z, shape.block_dim_x, shape.block_dim_y,
                            shape.block_dim_z})
        record.number(length);
    record.number(order.shared_bytes).number(is_cooperative).bytes(kernel.name, std::strlen(kernel.name));
    record.number(kernel.argument_count);
    for (uint64_t at = 0; at < kernel.argument_count; ++at) {
        const ArgumentLayout& argument = kernel.arguments[at];
        std::string value(static_cast<const char*>(arguments[at]), argument.bytes);
        for (uint64_t byte = 0; byte < argument.bytes; ++byte)
            if (!argument.mask[byte]) value[byte] = 0;
        record.bytes(value.data(), value.size());
    }
}
}  // namespace

void run_grid(const KernelEntry& kernel, void** arguments, const BlockIndex& shape, const LaunchOrder& order) {
    note(kernel, arguments, shape, order, false);
}

bool run_cooperative_grid(const KernelEntry& kernel, void** arguments, const BlockIndex& shape,
                          const LaunchOrder& order) {
    note(kernel, arguments, shape, order, true);
    return true;
}
}  // namespace wavepool
