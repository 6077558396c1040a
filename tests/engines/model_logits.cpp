// SPDX-License-Identifier: MIT
// Logits of a model by llama.cpp, with the weights where its loader puts them.
//     model_logits BACKENDS MODEL OUT [OPTION | PATTERN=DEVICE]...
// BACKENDS: paths of backend libraries, with ':' between. A prompt, then single tokens, all the
// same in every run; OUT gets a row of floats for each token. A PATTERN of tensors' names goes into
// the memory of a device (as --override-tensor). With MODEL+ the file is read, not mapped. Options:
//     --layers=N        as llama.cpp's -ngl
//     --both            of two devices the second has all layers but the first (-ts 1,4)
//     --sequences=N     tokens take turns
//     --unified         in one cache (--kv-unified)
//     --flash           flash attention, where llama.cpp would find out (-fa on)
//     --no-flash        none (-fa off)
//     --cpu-cache       --no-kv-offload
//     --quantized-cache of q8_0
//     --edit            after the prompt the state is saved and restored, a sequence copied, the
//                       cache shifted
// Prints for attention and for writes of the cache how many ran on tensors in whose memory.
#include <ggml-backend.h>
#include <llama.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <list>
#include <map>
#include <string>
#include <vector>

#include "host.h"

namespace {

constexpr int prompt = 24, single = 8, threads = 2;

ggml_backend_buffer_type_t memory_of(const std::string &name) {
    ggml_backend_dev_t const device = ggml_backend_dev_by_name(name.c_str());
    return device ? ggml_backend_dev_buffer_type(device) : nullptr;
}

struct Options {
    std::list<std::string> patterns; // of overrides
    std::vector<llama_model_tensor_buft_override> overrides;
    int layers = -1, sequences = 1;
    bool both = false, unified = false, flash = false, no_flash = false, cpu_cache = false,
         quantized_cache = false, edit = false;
};

bool read_option(const std::string &word, Options &out) {
    const std::map<std::string, bool *> flags = {{"--both", &out.both},
                                                 {"--unified", &out.unified},
                                                 {"--flash", &out.flash},
                                                 {"--no-flash", &out.no_flash},
                                                 {"--cpu-cache", &out.cpu_cache},
                                                 {"--quantized-cache", &out.quantized_cache},
                                                 {"--edit", &out.edit}};
    const std::map<std::string, int *> numbers = {{"--layers", &out.layers},
                                                  {"--sequences", &out.sequences}};
    if (const auto found = flags.find(word); found != flags.end())
        return *found->second = true;
    const auto found = numbers.find(word.substr(0, word.find('=')));
    if (found == numbers.end())
        return false;
    *found->second = std::atoi(word.c_str() + word.find('=') + 1);
    return true;
}

bool read_override(const std::string &word, Options &out) {
    const std::size_t sign = word.rfind('=');
    if (sign == std::string::npos)
        return false;
    ggml_backend_buffer_type_t const memory = memory_of(word.substr(sign + 1));
    out.patterns.push_back(word.substr(0, sign));
    out.overrides.push_back({out.patterns.back().c_str(), memory});
    return memory != nullptr;
}

// Nodes by op and memory: a backend's results are in its memory, a cache's in the cache's.
using Counts = std::map<std::string, int>;

bool count_node(ggml_tensor *node, bool asked, void *counts) {
    if (asked && (node->op == GGML_OP_FLASH_ATTN_EXT || node->op == GGML_OP_SET_ROWS))
        (*static_cast<Counts *>(counts))[std::string(ggml_op_name(node->op)) + " in memory of " +
                                         ggml_backend_buffer_name(node->buffer)]++;
    return !asked; // no call after the node has run
}

struct Run {
    llama_context *make() {
        llama_context_params parameters = llama_context_default_params();
        parameters.n_ctx = 64 * static_cast<uint32_t>(options.sequences);
        parameters.n_seq_max = static_cast<uint32_t>(options.sequences);
        parameters.n_threads = parameters.n_threads_batch = threads;
        parameters.kv_unified = options.unified;
        parameters.offload_kqv = !options.cpu_cache;
        if (options.flash)
            parameters.flash_attn_type = LLAMA_FLASH_ATTN_TYPE_ENABLED;
        if (options.no_flash)
            parameters.flash_attn_type = LLAMA_FLASH_ATTN_TYPE_DISABLED;
        if (options.quantized_cache)
            parameters.type_k = parameters.type_v = GGML_TYPE_Q8_0;
        parameters.cb_eval = count_node;
        parameters.cb_eval_user_data = &counts;
        return llama_init_from_model(model, parameters);
    }

    bool tokens(int from, int count);
    bool edit();
    bool all();

    llama_model *model;
    const Options &options;
    std::FILE *out;
    Counts counts{};
    llama_context *context = nullptr;
    int shift = 0; // how far positions were moved
};

// Tokens [from, from + count) of the run; their logits go to `out`.
bool Run::tokens(int from, int count) {
    const int vocabulary = llama_vocab_n_tokens(llama_model_get_vocab(model));
    llama_batch batch = llama_batch_init(count, 0, 1);
    for (int i = 0; i < count; i++) {
        batch.token[i] = (37 * (from + i) + 11) % vocabulary;
        batch.pos[i] = (from + i) / options.sequences - shift;
        batch.n_seq_id[i] = 1;
        batch.seq_id[i][0] = (from + i) % options.sequences;
        batch.logits[i] = 1;
    }
    batch.n_tokens = count;
    const int status = llama_decode(context, batch);
    for (int i = 0; status == 0 && i < count; i++)
        std::fwrite(llama_get_logits_ith(context, i), sizeof(float),
                    static_cast<std::size_t>(vocabulary), out);
    llama_batch_free(batch);
    if (status != 0)
        std::fprintf(stderr, "llama_decode: %d\n", status);
    return status == 0;
}

bool Run::edit() {
    std::vector<uint8_t> state(llama_state_get_size(context));
    state.resize(llama_state_get_data(context, state.data(), state.size()));
    llama_free(context);
    context = make();
    if (!context || llama_state_set_data(context, state.data(), state.size()) != state.size())
        return false;
    llama_memory_t const memory = llama_get_memory(context);
    shift = 2;
    for (int i = 1; i < options.sequences; i++) {
        llama_memory_seq_rm(memory, i, -1, -1);
        llama_memory_seq_cp(memory, 0, i, -1, -1);
    }
    for (int i = 0; i < options.sequences; i++) {
        if (!llama_memory_seq_rm(memory, i, 0, shift))
            return false;
        // cells of one cache that all sequences share now are moved once
        if (i == 0 || !options.unified)
            llama_memory_seq_add(memory, i, shift, -1, -shift);
    }
    return true;
}

bool Run::all() {
    context = make();
    bool good = context && tokens(0, prompt) && (!options.edit || edit());
    for (int i = 0; good && i < single; i++)
        good = tokens(prompt + i, 1);
    llama_free(context);
    for (const auto &[what, times] : counts)
        std::printf("%s: %d\n", what.c_str(), times);
    return good;
}

llama_model *load(std::string file, const Options &options) {
    llama_model_params parameters = llama_model_default_params();
    parameters.tensor_buft_overrides = options.overrides.data();
    parameters.n_gpu_layers = options.layers;
    static std::vector<float> split(llama_max_devices()); // as long as the model
    if (options.both)
        split.at(0) = 1, split.at(1) = 4, parameters.tensor_split = split.data();
    if (file.back() == '+') {
        file.pop_back();
        parameters.load_mode = LLAMA_LOAD_MODE_NONE;
    }
    return llama_model_load_from_file(file.c_str(), parameters);
}

} // namespace

int main(int arguments, char **values) {
    if (arguments < 4)
        return std::fprintf(stderr,
                            "model_logits BACKENDS MODEL OUT [OPTION | PATTERN=DEVICE]...\n"),
               2;
    if (!load_backends(values[1]))
        return 2;
    Options options;
    for (int i = 4; i < arguments; i++)
        if (!read_option(values[i], options) && !read_override(values[i], options))
            return std::fprintf(stderr, "%s: no option, and no device\n", values[i]), 2;
    options.overrides.push_back({nullptr, nullptr});
    llama_model *const model = load(values[2], options);
    if (!model)
        return std::fprintf(stderr, "the model is not loaded\n"), 1;
    std::FILE *const out = std::fopen(values[3], "wb");
    const bool good = out && Run{model, options, out}.all();
    if (out)
        std::fclose(out);
    llama_model_free(model);
    return good ? 0 : 1;
}
