// SPDX-License-Identifier: MIT
// A model's first layers, several times, on the first device of a backend: HIPSIM_STATS has their
// launches. Inputs are set before each, as ggml's scheduler does.
//     token_launches BACKEND MODEL LAYERS TIMES ROWS [last] [more]
// ROWS: tokens at once.
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "decoder.h"

namespace {

bool has(int count, char **values, const char *word) {
    for (int i = 6; i < count; i++)
        if (std::strcmp(values[i], word) == 0)
            return true;
    return false;
}

} // namespace

int main(int count, char **values) {
    const Sizes *found = nullptr;
    for (const Sizes &one : models)
        if (count >= 6 && std::strcmp(one.name, values[2]) == 0)
            found = &one;
    ggml_backend_reg_t const reg = found ? ggml_backend_load(values[1]) : nullptr;
    if (!reg || ggml_backend_reg_dev_count(reg) == 0)
        return std::fprintf(stderr,
                            "token_launches BACKEND MODEL LAYERS TIMES ROWS [last] [more]\n"),
               2;
    const ggml_backend_ptr backend(
        ggml_backend_dev_init(ggml_backend_reg_dev_get(reg, 0), nullptr));
    const auto rows = static_cast<int32_t>(std::atoi(values[5]));
    const Decoder decoder(backend.get(), *found, std::atoll(values[3]), has(count, values, "last"),
                          rows, has(count, values, "more"));
    for (int i = 0; decoder.ready && i < std::atoi(values[4]); i++) {
        decoder.next(backend.get(), 7 + i * rows);
        if (ggml_backend_graph_compute(backend.get(), decoder.graph) != GGML_STATUS_SUCCESS)
            return 1;
    }
    std::printf("%d nodes\n", decoder.count());
    return decoder.ready ? 0 : 1;
}
