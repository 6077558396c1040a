// SPDX-License-Identifier: MIT
// nw bench-model: tokens per second of a GGUF model, by its operations.
#include <algorithm>
#include <fmt/format.h>
#include <memory>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "measure/clock.h"
#include "measure/draws.h"
#include "measure/routes.h"
#include "nw/atlas/facts.h"
#include "nw/atlas/launches.h"
#include "nw/bench_model/model.h"
#include "nw/commands.h"
#include "nw/part.h"
#include "nw/text_table.h"

namespace nw::cli {

using Json = nlohmann::ordered_json;

namespace {

struct Options {
    std::string file, device, clock, power;
    u32 prompt = 512, gen = 128, depth = 0, repeats = 21;
    std::vector<u32> verify;
    bool uncertainty = false, json = false;
};

// Tokens of one pass through the model, and the depth of the cache after it.
struct Pass {
    std::string name; // as llama-bench names it
    u32 m, keys;
    u32 logits; // rows of them
};

std::vector<Pass> passes_of(const Options &o) {
    std::vector<Pass> out;
    const u32 before = o.depth + o.gen / 2; // on average
    if (o.prompt)
        out.push_back({fmt::format("pp{}", o.prompt), o.prompt, o.depth + o.prompt, 1});
    if (o.gen)
        out.push_back({fmt::format("tg{}", o.gen), 1, before + 1, 1});
    for (const u32 m : o.verify)
        out.push_back({fmt::format("verify {}", m), m, before + m, m});
    if (out.empty())
        throw Error("--prompt 0 --gen 0: nothing to time: give tokens of a prompt, tokens to "
                    "generate, or --verify");
    return out;
}

constexpr std::string_view by_bytes = "by bytes";

// A line of a pass.
struct OpTime {
    std::string name, type, kernel, shape;
    u32 count;
    DrawnTime each; // of one
    u64 bytes;      // of one: weights, or keys and values

    f64 us() const { return count * each.us; }
};

struct PassTime {
    Pass pass;
    std::vector<OpTime> ops;

    DrawnTime sum() const {
        u64 draws = 0;
        for (const OpTime &op : ops)
            draws = std::max<u64>(draws, op.each.draws.size());
        DrawnTime out{0, std::vector<f64>(draws)};
        for (const OpTime &op : ops) {
            out.us += op.us();
            for (u64 i = 0; i < draws; ++i) // a time by bytes has none
                out.draws[i] += op.count * (op.each.draws.empty() ? op.each.us : op.each.draws[i]);
        }
        return out;
    }
    f64 tokens_per_s(f64 us) const { return pass.m * 1e6 / us; }
    f64 us_by_bytes() const {
        f64 out = 0;
        for (const OpTime &op : ops)
            out += op.kernel == by_bytes ? op.us() : 0;
        return out;
    }
};

class Bench {
public:
    Bench(const Options &o, const ModelSummary &model)
        : o_(o), model_(model), on_(find_atlas_device(o.device)), part_(on_.gfx, on_.name) {}

    std::vector<PassTime> run() {
        const std::vector<Pass> passes = passes_of(o_);
        for (const Pass &pass : passes)
            plan(pass);
        const std::vector<AtlasTimed> timed = time_jobs(jobs_, on_, o_.repeats);
        const std::vector<std::vector<AttentionLaunch>> attention =
            time_attention(attention_, on_, o_.repeats);
        std::vector<PassTime> out;
        for (u64 i = 0; i < passes.size(); ++i) {
            out.push_back({passes[i], {}});
            std::vector<OpTime> &ops = out.back().ops;
            for (const Planned &p : planned_[i])
                ops.push_back(p.job ? product(*p.product, jobs_[*p.job], timed[*p.job])
                                    : bytes(*p.product, passes[i].m));
            const u64 kinds = model_.attention.size();
            for (u64 a = i * kinds; a < (i + 1) * kinds; ++a)
                ops.push_back(of_attention(attention_[a], windows_[a], attention[a]));
            add_others(ops, passes[i].m);
        }
        return out;
    }

    const hip::DeviceInfo &on() const { return on_; }
    const AtlasPart &part() const { return part_; }

private:
    struct Planned {
        const ModelProduct *product;
        std::optional<u64> job; // nothing: no kernel takes it
    };

    AtlasJob job_of(const ModelProduct &p, u32 m) const {
        const GgufShape shape{p.word, m, p.n, p.k};
        if (!p.experts)
            return {shape, choose_unsliced(on_.gfx, shape.op()), {}};
        const GgufMoeShape of{p.word, m, p.n, p.k, p.experts, p.top_k, p.own_rows};
        return {shape, &choose(on_.gfx, of.op()),
                AtlasExperts{of, random_routes(m, p.experts, p.top_k, Rng(1).fork(m))}};
    }

    // Dense products of one type and shape take as long: gate and up, for one, are timed once.
    u64 number_of(AtlasJob job) {
        const auto same = [&](const AtlasJob &other) {
            return !job.experts && !other.experts && job.kernel == other.kernel &&
                   job.shape.type == other.shape.type && job.shape.m == other.shape.m &&
                   job.shape.n == other.shape.n && job.shape.k == other.shape.k;
        };
        const auto found = std::ranges::find_if(jobs_, same);
        if (found != jobs_.end())
            return static_cast<u64>(found - jobs_.begin());
        jobs_.push_back(std::move(job));
        return jobs_.size() - 1;
    }

    void plan(const Pass &pass) {
        planned_.emplace_back();
        for (const ModelProduct &p : model_.products) {
            if (p.draft)
                continue;
            planned_.back().push_back({&p, {}});
            try {
                check_shape(GgufShape{p.word, pass.m, p.n, p.k}.op());
                if (AtlasJob job = job_of(p, p.last_row ? pass.logits : pass.m); job.kernel)
                    planned_.back().back().job = number_of(std::move(job));
            } catch (const Error &error) {
                fmt::print(stderr, "nw: {}: counted by its bytes: {}\n", printable(p.name),
                           error.what());
            }
        }
        for (const ModelAttention &a : model_.attention) {
            attention_.push_back(job_of(a, pass));
            windows_.push_back(a.window);
        }
    }

    // With a window queries see no key before it. More of them than the window are taken in pieces
    // of its length.
    static AttentionJob job_of(const ModelAttention &a, const Pass &pass) {
        if (a.window == 0 || a.window >= pass.keys)
            return {a.of, Dtype::f16, pass.m, pass.keys};
        const u32 pieces = ceil_div(pass.m, a.window), m = ceil_div(pass.m, pieces);
        AttentionJob job{a.of, Dtype::f16, m, std::min(pass.keys, a.window + m - 1)};
        job.of.layers *= pieces;
        return job;
    }

    OpTime product(const ModelProduct &p, const AtlasJob &job, const AtlasTimed &timed) const {
        std::vector<std::string> lines;
        for (const std::string &line : timed.stats)
            if (!line.empty())
                lines.push_back(line);
        DrawnTime each = drawn_time(lines);
        each.us = timed.sum();
        return {p.name, std::string(p.word),  std::string(job.kernel->symbol), shape_of(p), p.count,
                each,   atlas_work(job).bytes};
    }

    static std::string shape_of(const ModelProduct &p) {
        return fmt::format("{}x{}{}", p.n, p.k,
                           p.experts ? fmt::format(" {}/{}", p.top_k, p.experts) : "");
    }

    OpTime bytes(const ModelTensors &t, u32 tokens) const {
        const u64 bytes = t.read_by(tokens);
        return {t.name, type_name(t.type), std::string(by_bytes),
                "",     t.count,           {part_.dram_us(bytes), {}},
                bytes};
    }

    static OpTime of_attention(const AttentionJob &job, u32 window,
                               const std::vector<AttentionLaunch> &of) {
        std::vector<std::string> lines;
        f64 us = 0;
        for (const AttentionLaunch &launch : of) {
            us += launch.us;
            if (!launch.stats.empty())
                lines.push_back(launch.stats);
        }
        DrawnTime each = drawn_time(lines);
        each.us = us;
        return {window ? fmt::format("attention, window {}", window) : "attention",
                std::string(name(job.dtype)),
                std::string(of.back().kernel->symbol),
                fmt::format("{}/{} x {}, {} keys", job.of.h, job.of.hk, job.of.d, job.sk),
                job.of.layers,
                each,
                2 * job.k_bytes()};
    }

    // Tensors that no kernel reads: large ones each, the others together.
    void add_others(std::vector<OpTime> &ops, u32 m) const {
        constexpr u64 small = 200; // a part of a model's bytes is small below 1 / this
        ModelTensors rest{"other tensors", GgmlType::f32, 1};
        for (const ModelTensors &t : model_.others)
            if (t.draft)
                continue;
            else if (t.count * t.bytes > model_.bytes / small)
                ops.push_back(bytes(t, m));
            else
                rest.bytes += t.count * t.read_by(m);
        rest.bytes += m * model_.embedding_bytes;
        ops.push_back(bytes(rest, m));
        ops.back().type = "any";
    }

    const Options &o_;
    const ModelSummary &model_;
    const hip::DeviceInfo on_;
    const AtlasPart part_;
    std::vector<AtlasJob> jobs_;
    std::vector<AttentionJob> attention_;       // by pass, of each a job for each kind of layer
    std::vector<u32> windows_;                  // of these
    std::vector<std::vector<Planned>> planned_; // by pass
};

TextTable table_of(const PassTime &t) {
    const DrawnTime sum = t.sum();
    TextTable out{fmt::format("{}: {} token{} at once, {} in the cache after it", t.pass.name,
                              t.pass.m, t.pass.m == 1 ? "" : "s", t.pass.keys),
                  fmt::format("{:.2f} ms, {:.1f} tokens/s", sum.us / 1e3, t.tokens_per_s(sum.us)),
                  {"tensor", "type", "kernel", "N x K", "times", "us", "ms", "share", "GB/s"},
                  4,
                  {}};
    if (!sum.draws.empty())
        out.below += fmt::format(" ({:.1f} to {:.1f})", t.tokens_per_s(sum.high()),
                                 t.tokens_per_s(sum.low()));
    out.below += fmt::format("; {:.1f} % of the time is by bytes", 100 * t.us_by_bytes() / sum.us);
    for (const OpTime &op : t.ops)
        out.rows.push_back({printable(op.name), printable(op.type), op.kernel, op.shape,
                            fmt::format("{}", op.count), fmt::format("{:.2f}", op.each.us),
                            fmt::format("{:.3f}", op.us() / 1e3),
                            fmt::format("{:.1f} %", 100 * op.us() / sum.us),
                            fmt::format("{:.0f}", static_cast<f64>(op.bytes) / op.each.us / 1e3)});
    return out;
}

Json json_of(const PassTime &t) {
    const DrawnTime sum = t.sum();
    Json out = {{"pass", t.pass.name},
                {"tokens", t.pass.m},
                {"keys", t.pass.keys},
                {"time_us", sum.us},
                {"tokens_per_s", t.tokens_per_s(sum.us)},
                {"by_bytes_us", t.us_by_bytes()}};
    if (!sum.draws.empty())
        out.update({{"time_low_us", sum.low()}, {"time_high_us", sum.high()}});
    out["ops"] = Json::array();
    for (const OpTime &op : t.ops) {
        out["ops"].push_back({{"name", op.name},
                              {"type", op.type},
                              {"kernel", op.kernel == by_bytes ? Json() : Json(op.kernel)},
                              {"shape", op.shape},
                              {"count", op.count},
                              {"us", op.each.us},
                              {"bytes", op.bytes}});
    }
    return out;
}

u64 draft_bytes(const ModelSummary &model) {
    u64 out = 0;
    for (const ModelTensors &t : model.products)
        out += t.draft ? t.count * t.bytes : 0;
    for (const ModelTensors &t : model.others)
        out += t.draft ? t.count * t.bytes : 0;
    return out;
}

std::string clock_of(const sim::timing::Part &part) {
    return clock_text(part.shader_mhz, part.wmma_mhz);
}

void run(const Options &o) {
    set_simulated_clock(o.clock, o.power);
    const GgufModel model{o.file};
    const ModelSummary summary = summarize_products(model);
    for (const std::string &note : summary.notes)
        fmt::print(stderr, "nw: {}: {}\n", o.file, note);
    if (const u64 bytes = draft_bytes(summary))
        fmt::print(stderr,
                   "nw: {}: its draft layers (nextn_predict_layers), {:.2f} GB, are in no pass\n",
                   o.file, static_cast<f64>(bytes) / 1e9);
    if (o.uncertainty)
        draw_constants();
    Bench bench(o, summary);
    const std::vector<PassTime> passes = bench.run();
    if (o.json) {
        Json out = {{"file", o.file},
                    {"architecture", summary.architecture},
                    {"device", bench.on().simulated ? "sim" : "card"},
                    {"device_name", bench.on().label},
                    {"part", bench.part().part.name},
                    {"gfx", bench.on().gfx},
                    {"clock", bench.on().simulated ? Json(clock_of(bench.part().part)) : Json()},
                    {"bytes", summary.bytes},
                    {"passes", Json::array()}};
        for (const PassTime &pass : passes)
            out["passes"].push_back(json_of(pass));
        fmt::print("{}\n", out.dump(1, ' ', false, Json::error_handler_t::replace));
        return;
    }
    fmt::print("{}: {}, {:.2f} GB, on {} ({})\n", o.file, printable(summary.architecture),
               static_cast<f64>(summary.bytes) / 1e9, bench.on().label, bench.part().part.name);
    if (bench.on().simulated)
        fmt::print("Times are modelled (sim), at {}.\n", clock_of(bench.part().part));
    for (const PassTime &pass : passes)
        fmt::print("\n{}", text(table_of(pass)));
}

constexpr const char *footer = R"(
  nw bench-model qwen3-8b-q4_k_m.gguf --device sim:gfx1100
  nw bench-model qwen3-8b-q4_k_m.gguf --device sim:gfx1151 --prompt 0 --depth 32768 --verify 9,23

A pass is the sum of a model's products (with the conversion of activations and the lists of experts before each),
its attention, and tensors that no kernel reads. pp512: a prompt of 512 tokens in one pass, with logits of the last
token. tg128: one token, at the average depth of 128 generated tokens. verify 9: a draft of 9 tokens in one pass.
times: number of layers; us: time of one; GB/s: bytes of the weights, or of keys and values, over that time.
by bytes: a tensor's bytes at sustained DRAM bandwidth: norms, a router, rows of an embedding, and tensors
of types or shapes without a kernel, which nw lists. Attention is causal, with an f16 cache.
Input: each layer's tensors, and these metadata keys, a number or an array with one entry per layer:
attention.head_count, head_count_kv (0: no attention), key_length, key_length_swa, sliding_window, sliding_window_pattern
(an array: which layers have the window; a number n: each n-th layer has none), nextn_predict_layers (that number of last
layers is for drafts and in no pass), expert_used_count, embedding_length. Without an array, layer_types or
sliding_window_pattern of a config.json in the file's folder selects the layers with the window, if its number of layers
and its window agree with the file's. Without either, llama.cpp's period is used, for afmoe, cohere2, cohere2moe, exaone4,
gemma2, gemma3, gemma3n, gemma-embedding, gpt-oss, modern-bert, olmo2, plamo3, smallthinker. Layers without attn_k, attn_q
or attn_qkv, or with ssm_*, are linear attention.
Not counted: rope, residual additions, scans of linear attention, sampling, and host time.
On a simulated device times are modelled; tensor data is not read.)";

} // namespace

void add_bench_model(Command &app) {
    auto o = std::make_shared<Options>();
    Command &command = app.add_subcommand(
        "bench-model", "Tokens per second of a GGUF model, and the time of each part");
    command.footer = footer;
    command.add("file", &o->file, "A GGUF file, or any file of a split model",
                {.required = true, .existing_file = true});
    command.add("--device", &o->device, "hip:N, sim:gfx1100, ...; default: NIBBLEWAVE_DEVICE");
    add_clock_options(command, o->clock, o->power);
    constexpr OptionRules::Range tokens{0, 8192};
    command.add("--prompt", &o->prompt, "Tokens in the prompt; 0: none",
                {.range = tokens, .show_default = true});
    command.add("--gen", &o->gen, "Tokens to generate, one at a time; 0: none",
                {.range = tokens, .show_default = true});
    command.add("--depth", &o->depth, "Tokens in the cache at the start",
                {.range = {0, 1 << 20}, .show_default = true});
    command.add("--verify", &o->verify, "Draft tokens that one pass verifies",
                {.comma_separated = true, .range = {2, 64}});
    command.add("--repeats", &o->repeats, "Runs on a card; the median is reported",
                {.range = {2, 1001}, .show_default = true});
    command.add(
        "--uncertainty", &o->uncertainty,
        fmt::format("On a simulated device: tokens/s with low and high, by {}", draws_help));
    command.add("--json", &o->json, "Print JSON");
    command.run = [o] { run(*o); };
}

} // namespace nw::cli
