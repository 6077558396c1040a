// SPDX-License-Identifier: MIT
#include "formats/quantize/quantize_checkpoint.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <deque>
#include <fmt/format.h>
#include <iterator>
#include <map>
#include <unordered_set>

#include "base/error.h"
#include "base/half.h"
#include "base/parallel.h"
#include "formats/files/output_file.h"
#include "formats/files/output_path.h"
#include "formats/gguf/gguf_writer.h"
#include "formats/layers/source_layers.h"
#include "formats/layers/source_problem.h"
#include "formats/quantize/quantize_rows.h"
#include "formats/quantize/quantized_config.h"
#include "formats/safetensors/checkpoint.h"
#include "formats/safetensors/json.h"
#include "formats/safetensors/safetensors_writer.h"

namespace nw {

namespace fs = std::filesystem;

namespace {

constexpr u64 copied_part = 4 << 20;
constexpr u64 weights_of_item = 1 << 18;

// Rows of a linear or of a layer that is only dequantized, or a range of bytes of a copied tensor.
struct QuantizeItem {
    const QuantizedLinear *linear; // or null
    size_t index;                  // of the plan's linears, copies or dequantized
    u64 first, count;
    size_t block;   // among the linear's items
    u64 matrix = 0; // that the rows are of
    const CodedLayer *dequantized = nullptr;
};

std::vector<QuantizeItem> items_of(const QuantizePlan &plan) {
    std::vector<QuantizeItem> items;
    for (size_t i = 0; i < plan.linears.size(); ++i) {
        const QuantizedLinear &l = plan.linears[i];
        const u64 rows = round_up(ceil_div<u64>(weights_of_item, l.k), quantized_rows_step);
        size_t block = 0;
        for (u64 matrix = 0; matrix < l.matrices(); ++matrix)
            for (u64 row = 0; row < l.n; row += rows)
                items.push_back({&l, i, row, std::min(rows, l.n - row), block++, matrix});
    }
    for (size_t i = 0; i < plan.copies.size(); ++i)
        for (u64 at = 0, size = plan.copies[i].second->bytes.size(); at < size; at += copied_part)
            items.push_back({nullptr, i, at, std::min(copied_part, size - at), 0});
    for (size_t i = 0; i < plan.dequantized.size(); ++i) {
        const CodedLayer &c = *plan.dequantized[i].second;
        const u64 all = u64{std::max(c.experts, 1u)} * c.n,
                  rows = ceil_div<u64>(weights_of_item, c.k);
        for (u64 row = 0; row < all; row += rows)
            items.push_back({nullptr, i, row, std::min(rows, all - row), 0, 0, &c});
    }
    return items;
}

// Collects the errors of items. The sums are in the order of rows, whatever the threads do, and so
// are the reports.
class Reports {
public:
    Reports(const QuantizePlan &plan, const std::vector<QuantizeItem> &items,
            const QuantizeWatch &watch)
        : plan_(plan), watch_(watch), errors_(plan.linears.size()), left_(plan.linears.size()) {
        for (const QuantizeItem &item : items)
            if (item.linear)
                ++left_[item.index];
        for (size_t i = 0; i < errors_.size(); ++i)
            errors_[i].resize(left_[i]);
    }

    void add(const QuantizeItem &item, const QuantizationError &error) {
        const std::lock_guard lock(mutex_);
        errors_[item.index][item.block] = error;
        --left_[item.index];
        for (; next_ < left_.size() && left_[next_] == 0; ++next_)
            report(plan_.linears[next_]);
    }
    const QuantizationError &total() const { return total_; }

private:
    void report(const QuantizedLinear &l) {
        QuantizedReport row{l.name, l.coded ? l.coded->format : l.dtype, l.experts, l.n, l.k, {}};
        for (const QuantizationError &part : errors_[next_])
            row.error.add(part);
        total_.add(row.error);
        if (watch_.finished)
            watch_.finished(row);
    }

    const QuantizePlan &plan_;
    const QuantizeWatch &watch_;
    std::mutex mutex_;
    std::vector<std::vector<QuantizationError>> errors_;
    std::vector<u64> left_; // items of each linear
    size_t next_ = 0;       // linear to report
    QuantizationError total_;
};

// Rows of the layer in its dtype, rounded to nearest even.
void write_dequantized(const CodedLayer &c, size_t tensor, u64 first, u64 count,
                       TensorWriter &file) {
    std::vector<f32> row(c.k);
    std::vector<u16> halves(c.k);
    const bool whole = c.dtype == "F32";
    const Dtype dtype = c.dtype == "BF16" ? Dtype::bf16 : Dtype::f16;
    for (u64 n = first; n < first + count; ++n) {
        c.row(n, row);
        std::ranges::transform(row, halves.begin(), [&](f32 w) { return round_to(dtype, w); });
        const auto bytes = whole ? std::as_bytes(std::span(row)) : std::as_bytes(std::span(halves));
        file.write(tensor, n * bytes.size(), bytes);
    }
}

void run_items(const QuantizePlan &plan, const QuantizeOptions &o, TensorWriter &file,
               Reports &reports, const std::vector<QuantizeItem> &items, const WorkProgress &show) {
    u64 weights = 0;
    for (const QuantizedLinear &l : plan.linears)
        weights += l.rows() * l.k;
    WorkShown shown(show, weights);
    parallel_each(items.size(), [&] {
        return [&, worker = RowQuantizer(o, file)](u64 i) mutable {
            const QuantizeItem &item = items[i];
            if (item.dequantized)
                return write_dequantized(*item.dequantized, plan.dequantized[item.index].first,
                                         item.first, item.count, file);
            if (!item.linear) {
                const auto &[tensor, from] = plan.copies[item.index];
                const auto part = from->bytes.subspan(item.first, item.count);
                file.write(tensor, item.first, part);
                MappedFile::release(part);
                return;
            }
            reports.add(item, worker.run(*item.linear, item.matrix, item.first, item.count));
            shown.advance(item.count * item.linear->k, item.linear->name);
        };
    });
}

// The tensors of all inputs that are not of coded layers, in their order.
std::vector<const Tensor *> tensors_of(const std::deque<Checkpoint> &inputs,
                                       std::span<const CodedLayer> coded) {
    std::unordered_set<const Tensor *> used;
    for (const CodedLayer &layer : coded)
        used.insert(layer.used.begin(), layer.used.end());
    std::vector<const Tensor *> out;
    std::map<std::string_view, const Checkpoint *> owner;
    for (const Checkpoint &input : inputs)
        for (const Tensor *t : input.tensors()) {
            const auto [found, fresh] = owner.try_emplace(t->name, &input);
            if (!fresh)
                throw Error(fmt::format("{} is in {} and in {}: names of all inputs go to one "
                                        "file and must differ",
                                        in_quotes(t->name), found->second->path().string(),
                                        input.path().string()));
            if (!used.contains(t))
                out.push_back(t);
        }
    return out;
}

// The config of the model that inputs are of, also beside a file; null if there is none.
const nlohmann::json &config_of_model(const std::deque<Checkpoint> &inputs) {
    for (const Checkpoint &input : inputs)
        if (input.config().is_object())
            return input.config();
    return inputs.front().config();
}

// Throws Error for weights that are quantized already: nothing describes them beside the new ones.
void check_plain(const std::deque<Checkpoint> &inputs, std::span<const CodedLayer> coded,
                 const QuantizeOptions &o) {
    if (!o.config && !o.gguf)
        return; // the caller keeps a config
    std::unordered_set<const Tensor *> used;
    for (const CodedLayer &layer : coded)
        used.insert(layer.used.begin(), layer.used.end());
    for (const Checkpoint &input : inputs) {
        const QuantizedTensors quantized(input);
        for (const Tensor *t : input.tensors())
            if (!used.contains(t) && quantized.contains(*t))
                refuse_tensor(*t, fmt::format("is of quantized weights already, which would be "
                                              "copied: {}. Quantize the original model{}",
                                              o.gguf ? "GGUF has no such weights"
                                                     : "the new config.json would not describe "
                                                       "them, as gptq_v2 for one",
                                              o.gguf ? ""
                                                     : ", or say --no-config and keep a config "
                                                       "that says what both are"));
    }
}

// Whether the output is a GGUF file: its name says it.
bool wants_gguf(const fs::path &out, QuantizedType to) {
    const bool gguf = out.extension() == ".gguf", tensors = out.extension() == ".safetensors";
    if ((gguf && to != QuantizedType::w4a16) || (tensors && to != QuantizedType::q4_K))
        return gguf;
    constexpr std::array names = {"NAME.safetensors", "NAME.gguf", "NAME.gguf or NAME.safetensors"};
    throw Error(fmt::format("{}: the output of {} must be called {}", out.string(), name(to),
                            names[static_cast<size_t>(to)]));
}

TensorWriter writer_of(const fs::path &out, const QuantizePlan &plan, const QuantizeOptions &o) {
    if (!o.gguf)
        return safetensors_writer(out, plan.tensors, {{"format", "pt"}});
    // llama_ftype of a file that is mostly q4_K (as q4_K_S) or mxfp4 (as MXFP4_MOE)
    const u32 file_type = o.to == QuantizedType::q4_K ? 14 : 38;
    return gguf_writer(out, plan.tensors,
                       {{"general.file_type", file_type}, {"general.quantization_version", 2}});
}

// Where config.json goes: next to the output, of a model that has one, for types that readers know.
std::optional<fs::path> config_of(const std::deque<Checkpoint> &inputs, const fs::path &out,
                                  const QuantizeOptions &o) {
    const bool described = std::ranges::any_of(inputs, [](const Checkpoint &input) {
        return fs::is_directory(input.path()) && input.config().is_object();
    });
    if (!o.config || o.to != QuantizedType::w4a16 || !described)
        return std::nullopt;
    fs::path path = out;
    path.replace_filename("config.json");
    for (const Checkpoint &input : inputs)
        check_output(input.path(), path, o.replace);
    return path;
}

} // namespace

QuantizeReport quantize_checkpoint(std::span<const fs::path> inputs, const fs::path &out,
                                   QuantizeOptions o, const QuantizeWatch &watch) {
    const auto start = std::chrono::steady_clock::now();
    o.gguf = wants_gguf(out, o.to);
    for (const fs::path &input : inputs)
        check_output(input, out, o.replace);
    std::deque<Checkpoint> checkpoints;
    for (const fs::path &input : inputs)
        checkpoints.emplace_back(input);
    std::vector<CodedLayer> coded;
    for (const Checkpoint &checkpoint : checkpoints) {
        const ModelClaims claims(checkpoint);
        std::ranges::move(find_coded_layers(checkpoint, claims), std::back_inserter(coded));
        if (const auto problems = claims.problems(); !problems.empty())
            throw Error(problems.front());
    }
    check_plain(checkpoints, coded, o);
    const nlohmann::json &model = config_of_model(checkpoints);
    o.model = named_model(model);
    o.shape = model_shape(model);
    const QuantizePlan plan = plan_quantization(tensors_of(checkpoints, coded), coded, o);
    TensorWriter file = writer_of(out, plan, o);
    const std::optional<fs::path> config_path = config_of(checkpoints, out, o);
    std::optional<OutputFile> config;
    if (config_path) {
        const std::string text = quantized_config(model, plan, o);
        config.emplace(*config_path, text.size());
        config->write(0, std::as_bytes(std::span(text)));
    }
    const std::vector<QuantizeItem> items = items_of(plan);
    Reports reports(plan, items, watch);
    run_items(plan, o, file, reports, items, watch.progress);
    file.commit();
    if (config)
        config->commit();

    QuantizeReport report;
    report.config = config_path;
    report.linears = plan.linears.size();
    report.copies = plan.copies.size();
    report.dequantized = plan.dequantized.size();
    for (const QuantizedLinear &l : plan.linears)
        report.weights += l.rows() * l.k;
    for (const auto &[index, t] : plan.copies)
        report.copied_bytes += t->bytes.size();
    report.error = reports.total();
    report.file_bytes = file.size();
    report.seconds = std::chrono::duration<f64>(std::chrono::steady_clock::now() - start).count();
    return report;
}

} // namespace nw
