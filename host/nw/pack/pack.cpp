// SPDX-License-Identifier: MIT
// nw pack: a checkpoint's 4-bit layers in the layout of the kernels.
#include <csignal>
#include <fmt/format.h>
#include <memory>

#include "base/error.h"
#include "base/progress.h"
#include "formats/packed/pack.h"
#include "nw/commands.h"
#include "nw/gfx.h"
#include "nw/inspect/gguf.h"

namespace nw::cli {

namespace {

struct Options {
    std::string input, output, dtype, checkpoint_format;
    PackOptions pack;
};

void run(Options o) {
    check_gfx(o.pack.gfx);
    if (is_gguf(o.input))
        throw Error(fmt::format(
            "{}: is a GGUF file, which needs no packing: its quantized tensors are used in the "
            "file's layout (nw_gguf_linear); `nw inspect {}` lists them",
            o.input, o.input));
    if (!o.dtype.empty())
        o.pack.dtype = o.dtype == "bf16" ? Dtype::bf16 : Dtype::f16;
    if (!o.checkpoint_format.empty())
        o.pack.gptq_v2 = o.checkpoint_format == "gptq_v2";
    std::signal(SIGXFSZ, SIG_IGN); // a file size limit is then an error of the write
    std::unique_ptr<Progress> bar;
    u64 shown = 0;
    const PackReport r =
        pack(o.input, o.output, o.pack, [&](u64 done, u64 total, const std::string &what) {
            if (!bar)
                bar = std::make_unique<Progress>(total);
            bar->advance(done - std::exchange(shown, done));
            bar->show(what);
        });
    bar.reset();
    const f64 gigabytes = static_cast<f64>(r.weight_bytes) / 1e9;
    fmt::print("{}: {} linear layers", o.output, r.linears);
    if (r.matrices != r.linears)
        fmt::print(" ({} matrices)", r.matrices);
    fmt::print(", {:.3f} GB of weights in {:.2f} s ({:.2f} GB/s), {} rows checked\n", gigabytes,
               r.seconds, gigabytes / r.seconds, r.checked_rows);
    for (const std::string &note : r.notes)
        fmt::print(stderr, "nw: note: {}\n", note);
}

} // namespace

void add_pack(Command &app) {
    auto options = std::make_shared<Options>();
    Command &command = app.add_subcommand(
        "pack", "Pack a checkpoint's 4-bit layers into the layout of the kernels");
    command.add(
        "input", &options->input,
        "A directory with safetensors files (one, or shards with their index), or one file: "
        "GPTQ, AWQ GEMM, AutoRound in either layout, compressed-tensors pack-quantized, HQQ "
        "with whole zero points; mxfp4 as gpt-oss or of single layers, nvfp4. GGUF needs no "
        "packing",
        {.required = true});
    command.add("output", &options->output,
                "NAME.safetensors; its index NAME.json is written next to it. Not inside the "
                "input directory",
                {.required = true});
    command.add("--gfx", &options->pack.gfx, "The target, which determines the row stride",
                {.show_default = true});
    command.add("--dtype", &options->dtype,
                "Type of the activations; scales and biases are rounded to it (default: that "
                "of the scales)",
                {.one_of = {"f16", "bf16"}});
    command.add("--checkpoint-format", &options->checkpoint_format,
                "How GPTQ's zero points are stored: gptq, minus 1, as in AutoGPTQ; gptq_v2, "
                "unchanged. Needed for asymmetric layers if the config has no such entry; "
                "overrides the config",
                {.one_of = {"gptq", "gptq_v2"}});
    command.add(
        "--fuse", &options->pack.fuse,
        "Concatenate the rows of layers with the same input, if their formats agree: q_proj, "
        "k_proj, v_proj to qkv_proj; gate_proj, up_proj to gate_up_proj; w1, w3 to w13");
    command.add("--all", &options->pack.all, "Also copy all other tensors unchanged");
    command.add("--force", &options->pack.replace, "Replace existing output");
    command.footer =
        "For each layer NAME the output has NAME.w (u32 [N, stride/4], nibbles of a dword k = 0 2 "
        "4 6 1 3 5 7),\nNAME.s [N, K/G], NAME.zp if it is asymmetric (u32 [N/8, K/G], row n in "
        "bits 4*(n%8)), NAME.bias, and\nNAME.perm if its columns were reordered for quantization "
        "(act-order): column j of NAME.w belongs to activation\nNAME.perm[j]. Experts of a layer "
        "are one tensor, [E, ...]. For mxfp4 and nvfp4 NAME.w is U8 [..., N, row bytes], ggml's "
        "blocks.\nScales of activations (input_scale, pre_quant_scale) are copied and listed in "
        "the index. Features of the config that\npacked layers can't represent are errors: "
        "rotations at run time, low-rank matrices, layers that are not 4 bits (--all\ncopies "
        "those). Some rows of every layer are checked against a plain dequantization. The output "
        "is written to a\ntemporary file and renamed on success.\n\n"
        "  nw pack Qwen3-4B-AWQ packed.safetensors --gfx gfx1151 --fuse\n"
        "  nw pack model.safetensors packed.safetensors --gfx gfx1201 --dtype bf16";
    command.run = [options] { run(*options); };
}

} // namespace nw::cli
