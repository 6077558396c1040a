// SPDX-License-Identifier: MIT
// Layers of decoders at one token and at a few on each device of libggml-nibblewave beside ggml's
// CPU: again and again, as a token after the other, with other inputs.
//     decoder_host BACKENDS [MODEL]   paths of backend libraries, with ':' between; models whose
//                                     names begin so, of the small ones
// Prints a line for each case, and last `N passed, N failed`.
#include "decoder.h"

#include <random>

#include "host.h"

namespace {

std::vector<float> normal(int64_t count, unsigned seed, float around, float size) {
    std::mt19937 bits(seed);
    std::normal_distribution<float> values(around, size);
    std::vector<float> out(static_cast<std::size_t>(count));
    for (float &value : out)
        value = values(bits);
    return out;
}

void fill(ggml_tensor *t, unsigned seed) {
    const int64_t rows = ggml_nrows(t);
    if (t->type == GGML_TYPE_F16) // caches
        return;
    if (t->type == GGML_TYPE_F32 && rows == 1) { // norms; decays of states
        const float around = std::string(t->name) == "decay" ? -1 : 1;
        const auto values = normal(ggml_nelements(t), seed, around, 0.1f);
        return ggml_backend_tensor_set(t, values.data(), 0, ggml_nbytes(t));
    }
    const auto values =
        normal(ggml_nelements(t), seed, 0, 1 / std::sqrt(static_cast<float>(t->ne[0])));
    if (t->type == GGML_TYPE_F32)
        return ggml_backend_tensor_set(t, values.data(), 0, ggml_nbytes(t));
    std::vector<char> blocks(ggml_nbytes(t));
    ggml_quantize_chunk(t->type, values.data(), blocks.data(), 0, rows, t->ne[0], nullptr);
    ggml_backend_tensor_set(t, blocks.data(), 0, blocks.size());
}

struct Model {
    Model(ggml_backend_dev_t device, const Sizes &s, int64_t tokens)
        : backend(ggml_backend_dev_init(device, nullptr)),
          decoder(backend.get(), s, 2, true, tokens) {
        unsigned seed = 1;
        for (ggml_tensor *t = ggml_get_first_tensor(decoder.weights()); t;
             t = ggml_get_next_tensor(decoder.weights(), t))
            fill(t, seed++);
    }
    struct Result {
        std::vector<float> logits, states;

        bool operator==(const Result &o) const { return logits == o.logits && states == o.states; }
    };
    // Tokens from this place of the cache on; those behind each are masked. States are new ones.
    Result from(int32_t place) {
        auto seed = static_cast<unsigned>(200 + place);
        for (ggml_tensor *state : decoder.kept) {
            const auto values = normal(ggml_nelements(state), seed++, 0, 1);
            ggml_backend_tensor_set(state, values.data(), 0, ggml_nbytes(state));
        }
        decoder.place(place);
        const auto x = normal(ggml_nelements(decoder.x), 100u + static_cast<unsigned>(place), 0, 1);
        ggml_backend_tensor_set(decoder.x, x.data(), 0, ggml_nbytes(decoder.x));
        const auto tokens = decoder.x->ne[1];
        std::vector<ggml_fp16_t> mask(static_cast<std::size_t>(Decoder::cells * tokens),
                                      ggml_fp32_to_fp16(-INFINITY));
        for (int64_t i = 0; i < tokens; i++)
            std::fill_n(mask.begin() + i * Decoder::cells, place + i + 1, ggml_fp32_to_fp16(0));
        if (decoder.mask->buffer)
            ggml_backend_tensor_set(decoder.mask, mask.data(), 0, ggml_nbytes(decoder.mask));
        if (ggml_backend_graph_compute(backend.get(), decoder.graph) != GGML_STATUS_SUCCESS)
            return {};
        Result out{values_of(decoder.y), {}};
        for (const ggml_tensor *state : decoder.kept) {
            const auto values = values_of(state);
            out.states.insert(out.states.end(), values.begin(), values.end());
        }
        return out;
    }
    static std::vector<float> values_of(const ggml_tensor *t) {
        std::vector<float> out(static_cast<std::size_t>(ggml_nelements(t)));
        ggml_backend_tensor_get(t, out.data(), 0, ggml_nbytes(t));
        return out;
    }

    ggml_backend_ptr backend;
    Decoder decoder;
};

void tokens(ggml_backend_dev_t device, ggml_backend_dev_t cpu, const Sizes &s, int32_t at_once) {
    Model mine(device, s, at_once), theirs(cpu, s, at_once);
    double most = 0;
    bool same = true;
    for (int32_t place = 0; place < (at_once > 1 ? 2 : 3) * at_once; place += at_once) {
        const auto got = mine.from(place), want = theirs.from(place);
        most = std::max(most, got.logits.empty() ? INFINITY : nmse(got.logits, want.logits));
        if (!want.states.empty())
            most = std::max(most, nmse(got.states, want.states));
        same = same && mine.from(place) == got; // once more, and recorded
    }
    count(std::string(ggml_backend_dev_name(device)) + " tokens of " + s.name + ", " +
              std::to_string(at_once) + " at once",
          most <= most_nmse && same, "NMSE " + std::to_string(most));
}

} // namespace

int main(int argc, char **argv) {
    if (argc != 2 && argc != 3)
        return std::fprintf(stderr, "usage: decoder_host BACKENDS [MODEL]\n"), 2;
    const std::string asked = argc > 2 ? argv[2] : "small";
    if (!load_backends(argv[1]))
        return 2;
    ggml_backend_dev_t const cpu = ggml_backend_dev_by_type(GGML_BACKEND_DEVICE_TYPE_CPU);
    for (std::size_t i = 0; cpu && i < ggml_backend_dev_count(); i++)
        for (const Sizes &s : models)
            if (ggml_backend_dev_get(i) != cpu && std::string(s.name).rfind("small", 0) == 0 &&
                std::string(s.name).rfind(asked, 0) == 0)
                for (const int32_t at_once : {1, 5}) {
                    Sizes here = s;
                    if (s.experts && at_once > 1) // int8 would turn a choice of experts near a tie
                        here.type = GGML_TYPE_F16;
                    tokens(ggml_backend_dev_get(i), cpu, here, at_once);
                }
    return end_of_cases();
}
