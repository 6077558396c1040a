// SPDX-License-Identifier: MIT
// A token of a model's first layers on the first device of a backend, twice: HIPSIM_STATS has its
// launches.
//     token_launches BACKEND MODEL LAYERS [last]
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "decoder.h"

int main(int count, char **values) {
    const Sizes *found = nullptr;
    for (const Sizes &one : models)
        if (count >= 4 && std::strcmp(one.name, values[2]) == 0)
            found = &one;
    ggml_backend_reg_t const reg = found ? ggml_backend_load(values[1]) : nullptr;
    if (!reg || ggml_backend_reg_dev_count(reg) == 0)
        return std::fprintf(stderr, "token_launches BACKEND MODEL LAYERS [last]\n"), 2;
    const ggml_backend_ptr backend(
        ggml_backend_dev_init(ggml_backend_reg_dev_get(reg, 0), nullptr));
    const Decoder decoder(backend.get(), *found, std::atoll(values[3]), count > 4);
    for (int i = 0; i < 2; i++)
        if (!decoder.ready ||
            ggml_backend_graph_compute(backend.get(), decoder.graph) != GGML_STATUS_SUCCESS)
            return 1;
    std::printf("%d nodes\n", decoder.count());
}
