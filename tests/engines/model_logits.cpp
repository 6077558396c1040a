// SPDX-License-Identifier: MIT
// Logits of a model by llama.cpp, with the weights where its loader puts them.
//     model_logits BACKENDS MODEL OUT [PATTERN=DEVICE]...
// BACKENDS: paths of backend libraries, with ':' between. A prompt, then single tokens, all the
// same in every run; OUT gets a row of floats for each token. A PATTERN of tensors' names goes into
// the memory of a device (as --override-tensor). With MODEL+ the file is read, not mapped.
#include <ggml-backend.h>
#include <llama.h>

#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

namespace {

constexpr int prompt = 24, single = 8, threads = 2;

void load_backends(std::string paths) {
    for (std::size_t end; !paths.empty(); paths.erase(0, end + (end < paths.size()))) {
        end = std::min(paths.find(':'), paths.size());
        ggml_backend_load(paths.substr(0, end).c_str());
    }
}

ggml_backend_buffer_type_t memory_of(const std::string &name) {
    ggml_backend_dev_t const device = ggml_backend_dev_by_name(name.c_str());
    return device ? ggml_backend_dev_buffer_type(device) : nullptr;
}

// Tokens [from, from + count) of the run; their logits go to `out`.
bool run(llama_context *context, int from, int count, int vocabulary, std::FILE *out) {
    llama_batch batch = llama_batch_init(count, 0, 1);
    for (int i = 0; i < count; i++) {
        batch.token[i] = (37 * (from + i) + 11) % vocabulary;
        batch.pos[i] = from + i;
        batch.n_seq_id[i] = 1;
        batch.seq_id[i][0] = 0;
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

bool run_all(llama_model *model, const char *path) {
    llama_context_params parameters = llama_context_default_params();
    parameters.n_ctx = 64;
    parameters.n_threads = parameters.n_threads_batch = threads;
    llama_context *const context = llama_init_from_model(model, parameters);
    std::FILE *const out = std::fopen(path, "wb");
    if (!context || !out)
        return false;
    const int vocabulary = llama_vocab_n_tokens(llama_model_get_vocab(model));
    bool good = run(context, 0, prompt, vocabulary, out);
    for (int i = 0; good && i < single; i++)
        good = run(context, prompt + i, 1, vocabulary, out);
    std::fclose(out);
    llama_free(context);
    return good;
}

} // namespace

int main(int arguments, char **values) {
    if (arguments < 4)
        return std::fprintf(stderr, "model_logits BACKENDS MODEL OUT [PATTERN=DEVICE]...\n"), 2;
    load_backends(values[1]);
    std::vector<std::string> patterns;
    std::vector<llama_model_tensor_buft_override> overrides;
    for (int i = 4; i < arguments; i++)
        patterns.emplace_back(values[i], std::strrchr(values[i], '='));
    for (int i = 4; i < arguments; i++) {
        ggml_backend_buffer_type_t const memory = memory_of(std::strrchr(values[i], '=') + 1);
        if (!memory)
            return std::fprintf(stderr, "%s: no such device\n", values[i]), 2;
        overrides.push_back({patterns[static_cast<std::size_t>(i - 4)].c_str(), memory});
    }
    overrides.push_back({nullptr, nullptr});
    llama_model_params parameters = llama_model_default_params();
    parameters.tensor_buft_overrides = overrides.data();
    std::string file = values[2];
    if (file.back() == '+') {
        file.pop_back();
        parameters.load_mode = LLAMA_LOAD_MODE_NONE;
    }
    llama_model *const model = llama_model_load_from_file(file.c_str(), parameters);
    if (!model)
        return std::fprintf(stderr, "the model is not loaded\n"), 1;
    const bool good = run_all(model, values[3]);
    llama_model_free(model);
    return good ? 0 : 1;
}
