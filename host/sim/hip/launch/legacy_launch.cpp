// SPDX-License-Identifier: MIT
// The launch sequence of compilers before hipLaunchKernel: configure, push arguments, launch by
// name.
#include <algorithm>

#include "sim/hip/copy/host_copy.h"
#include "sim/hip/launch/kernel_call.h"
#include "sim/hip/module/fatbin.h"
#include "sim/hip/runtime.h"

namespace nw::hipsim {

constexpr size_t most_argument_bytes = 1 << 20;

} // namespace nw::hipsim

using namespace nw::hipsim;

extern "C" {

hipError_t hipConfigureCall(dim3 grid, dim3 block, size_t dynamic_lds, hipStream_t stream) {
    return api(__func__, [&] {
        runtime();
        pending_launches().push_back({{grid, block, dynamic_lds}, stream, {}});
    });
}

hipError_t hipSetupArgument(const void *argument, size_t bytes, size_t offset) {
    return api(__func__, [&] {
        runtime();
        require(!pending_launches().empty(), hipErrorMissingConfiguration);
        require(argument && offset <= most_argument_bytes && bytes <= most_argument_bytes - offset,
                hipErrorInvalidValue);
        auto &all = pending_launches().back().arguments;
        std::vector<std::byte> value(bytes);
        require(copy_from_caller(value.data(), argument, bytes), hipErrorInvalidValue);
        all.resize(std::max(all.size(), offset + bytes));
        std::ranges::copy(value, all.begin() + static_cast<std::ptrdiff_t>(offset));
    });
}

hipError_t hipLaunchByPtr(const void *host_function) {
    return api(__func__, [&] {
        runtime();
        require(!pending_launches().empty(), hipErrorMissingConfiguration);
        PendingLaunch last = std::move(pending_launches().back());
        pending_launches().pop_back();
        size_t bytes = last.arguments.size();
        void *extra[] = {HIP_LAUNCH_PARAM_BUFFER_POINTER, last.arguments.data(),
                         HIP_LAUNCH_PARAM_BUFFER_SIZE, &bytes, HIP_LAUNCH_PARAM_END};
        return launch(make_call(function_named(host_function), last.shape, nullptr, extra),
                      last.stream);
    });
}
}
