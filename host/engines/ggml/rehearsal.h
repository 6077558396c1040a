// SPDX-License-Identifier: MIT
// Whether libnibblewave takes a launch: it is queued on a stream that is being captured, and the
// captured graph is thrown away. So its own checks decide, and no rule of them stands here.
#pragma once
#include <functional>
#include <string>

#include "engines/ggml/device.h"
#include "engines/ggml/node.h"

namespace nw::engine {

// Why libnibblewave refuses what launch() queues; "" if it does not. load() loads the kernels.
// Addresses may be imagined, as nothing runs.
std::string rehearse(Device &, const std::function<nw_status()> &load,
                     const std::function<nw_status(void *stream)> &launch);

// The answer of a map for a node, remembered for nodes with the same op, parameters, types, shapes,
// strides and alignments.
std::string remembered(Device &, const ggml_tensor *node, const void *map,
                       const std::function<std::string()> &answer);

// Logs why a node is left to others: once for each op and reason.
void say_refused(Device &, const ggml_tensor *node, const std::string &why);

} // namespace nw::engine
