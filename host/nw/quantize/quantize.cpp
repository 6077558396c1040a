// SPDX-License-Identifier: MIT
// nw quantize: a model's linear weights to 4 bits, with the error of each.
#include <csignal>
#include <fmt/format.h>
#include <memory>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/half.h"
#include "base/progress.h"
#include "formats/quantize/quantize_checkpoint.h"
#include "nw/commands.h"
#include "nw/inspect/gguf.h"
#include "nw/inspect/text.h"

namespace nw::cli {

namespace {

using Json = nlohmann::json;

struct Options {
    std::vector<std::filesystem::path> inputs;
    std::string output, to = "w4a16", clip = "mse", scales;
    bool json = false;
    QuantizeOptions quantize;
};

// Prints a row as each tensor is done, below a bar if stderr is a terminal.
class Table {
public:
    explicit Table(bool silent) : silent_(silent) {}

    void progress(u64 done, u64 total, const std::string &what) {
        if (!bar_)
            bar_ = std::make_unique<Progress>(total);
        bar_->advance(done - std::exchange(shown_, done));
        bar_->show(what);
    }
    void row(const QuantizedReport &r) {
        rows_.push_back(row_json(r));
        if (silent_)
            return;
        if (bar_)
            bar_->clear();
        if (rows_.size() == 1)
            print_heading(
                fmt::format("{:>14} {:>9} {:>11}  {}", "N x K", "NMSE", "max |error|", "weights"));
        fmt::print("{:>14} {:>9.3e} {:>11.3e}  {}\n", shape_of(r), r.error.nmse(), r.error.largest,
                   r.name);
        std::fflush(stdout);
    }
    void end() { bar_.reset(); }
    Json &rows() { return rows_; }

private:
    static std::string shape_of(const QuantizedReport &r) {
        return (r.experts ? fmt::format("{} x ", r.experts) : "") +
               fmt::format("{} x {}", r.n, r.k);
    }
    static Json row_json(const QuantizedReport &r) {
        Json row = {{"name", r.name},
                    {"dtype", r.dtype},
                    {"n", r.n},
                    {"k", r.k},
                    {"nmse", r.error.nmse()},
                    {"max_error", r.error.largest},
                    {"max_error_at", {r.error.largest_at / r.k, r.error.largest_at % r.k}}};
        if (r.experts)
            row["experts"] = r.experts;
        return row;
    }

    bool silent_;
    Json rows_ = Json::array();
    std::unique_ptr<Progress> bar_;
    u64 shown_ = 0;
};

void print_total(const Options &o, const QuantizeReport &r) {
    fmt::print("{}: {} to {}, NMSE {:.3e}; {} copied{}; {} in {:.2f} s\n", o.output,
               count_text(r.linears, "weight tensor"), o.to, r.error.nmse(),
               count_text(r.copies, "other tensor"),
               r.dequantized ? fmt::format(", {} dequantized", r.dequantized) : "",
               size_text(r.file_bytes), r.seconds);
    if (r.config)
        fmt::print("{}: the model's config, with the quantization_config of these weights\n",
                   r.config->string());
}

void print_json(const Options &o, const QuantizeReport &r, Json &rows) {
    Json out = {{"output", o.output},
                {"to", o.to},
                {"clip", o.clip},
                {"tensors", std::move(rows)},
                {"weights", r.weights},
                {"nmse", r.error.nmse()},
                {"copied_tensors", r.copies},
                {"copied_bytes", r.copied_bytes},
                {"dequantized_tensors", r.dequantized},
                {"file_bytes", r.file_bytes},
                {"seconds", r.seconds}};
    if (r.config)
        out["config"] = r.config->string();
    fmt::print("{}\n", out.dump(1, ' ', false, Json::error_handler_t::replace));
}

void run(Options o) {
    for (const auto &input : o.inputs)
        if (is_gguf(input))
            throw Error(fmt::format("{}: is a GGUF file; inputs are safetensors files, or folders "
                                    "of a model with these",
                                    input.string()));
    if (!o.scales.empty())
        o.quantize.scale_dtype = o.scales == "bf16" ? Dtype::bf16 : Dtype::f16;
    for (QuantizedType type : {QuantizedType::w4a16, QuantizedType::q4_K, QuantizedType::mxfp4})
        if (o.to == name(type))
            o.quantize.to = type;
    o.quantize.clip = o.clip == "mse" ? Clip::mse : Clip::none;
    std::signal(SIGXFSZ, SIG_IGN); // a file size limit is then an error of the write
    Table table(o.json);
    const QuantizeReport r = quantize_checkpoint(
        o.inputs, o.output, o.quantize,
        {[&](u64 done, u64 total, const std::string &what) { table.progress(done, total, what); },
         [&](const QuantizedReport &row) { table.row(row); }});
    table.end();
    if (o.json)
        print_json(o, r, table.rows());
    else
        print_total(o, r);
}

} // namespace

void add_quantize(Command &app) {
    auto options = std::make_shared<Options>();
    Command &command = app.add_subcommand(
        "quantize", "Quantize a model's linear weights to 4 bits, and print the error of each");
    command.add("inputs", &options->inputs,
                "Safetensors in bf16, f16 or f32, or quantized by bitsandbytes (nf4, fp4), HQQ "
                "or MLX (affine): files, or directories with one file or with shards and their "
                "index",
                {.required = true});
    command.add("-o,--output", &options->output,
                "NAME.safetensors or NAME.gguf: w4a16 is safetensors, for nw pack; q4_K is "
                "GGUF; mxfp4 is either",
                {.required = true});
    command.add("--to", &options->to, "The weights' new type",
                {.one_of = {"w4a16", "q4_K", "mxfp4"}, .show_default = true});
    command.add("--group", &options->quantize.group, "For w4a16: weights per scale",
                {.one_number_of = {32, 64, 128}, .show_default = true});
    command.add("--zero-points", &options->quantize.zero_points,
                "For w4a16: asymmetric, with one zero point per scale");
    command.add("--scales", &options->scales,
                "For w4a16: type of the scales (default: the weights' type, bf16 for f32)",
                {.one_of = {"f16", "bf16"}});
    command.add("--clip", &options->clip,
                "Range of a group. none: from its smallest to its largest weight; mse: the one "
                "of several clipped ranges with the least squared error",
                {.one_of = {"none", "mse"}, .show_default = true});
    command.add("--include", &options->quantize.include,
                "Also quantize tensors whose name matches this regular expression: [N, K], or "
                "[E, N, K] for E experts");
    command.add("--keep", &options->quantize.keep,
                "Copy tensors whose name matches this regular expression");
    command.add("--transposed", &options->quantize.transposed,
                "Weights whose name matches this regular expression are stored as [K, N], "
                "experts as [E, K, N]. Detected for GPT-2 (Conv1D), gpt-oss, Llama 4, Qwen3-VL, "
                "Aria, and for experts with hidden_size as one dimension");
    command.add("--not-transposed", &options->quantize.not_transposed,
                "Weights whose name matches this regular expression are stored as [N, K], "
                "experts as [E, N, K]");
    command.add("!--no-config", &options->quantize.config,
                "For w4a16: don't write the model folder's config.json, with a "
                "quantization_config, beside the output");
    command.add("--force", &options->quantize.replace, "Replace existing output");
    command.add("--json", &options->json, "Print the table as JSON, at the end");
    command.footer =
        "Tensors called NAME.weight are quantized, 2-D or for experts 3-D, except embeddings, "
        "norms, the head and routers.\nLayers of bitsandbytes, HQQ and MLX are dequantized first; "
        "the printed error is that of the second quantization\nalone. All other tensors are "
        "copied. NMSE is the sum of squared errors over the sum of squared weights.\nThe output "
        "is written to a temporary file and renamed on success.\n\n"
        "  nw quantize Qwen3-4B -o w4a16/model.safetensors --group 128\n"
        "  nw quantize Qwen3-4B -o Qwen3-4B.gguf --to q4_K";
    command.run = [options] { run(*options); };
}

} // namespace nw::cli
