// SPDX-License-Identifier: MIT
#include <algorithm>
#include <stdexcept>
#include <sys/mman.h>
#include <unistd.h>

#include "base/error.h"
#include "formats/layers/mlx.h"
#include "formats/layers/plain_values.h"
#include "formats/packed/packed_model.h"
#include "formats/packed/repack.h"
#include "formats/quantize/coded_layers.h"
#include "fuzz/targets.h"

using namespace nw;

namespace {

constexpr u64 most_weights = 1 << 16; // of one matrix: it would be slow, not new

// A file without a folder, which has a path all the same.
class MemoryFile {
public:
    explicit MemoryFile(fuzz::Input bytes) : file_(memfd_create("checkpoint", MFD_CLOEXEC)) {
        if (write(file_, bytes.data(), bytes.size()) != static_cast<ssize_t>(bytes.size()))
            throw std::runtime_error("memfd: can't be written");
    }
    ~MemoryFile() { close(file_); }
    MemoryFile(const MemoryFile &) = delete;
    std::string path() const { return "/proc/self/fd/" + std::to_string(file_); }

private:
    int file_;
};

// Dequantizes every row as nw quantize reads it.
void dequantize_all(const Checkpoint &checkpoint) {
    std::vector<f32> row;
    for (const CodedLayer &l : find_coded_layers(checkpoint, ModelClaims(checkpoint))) {
        if (u64{l.n} * l.k > most_weights)
            continue;
        row.resize(l.k);
        for (u32 n = 0; n < l.n; ++n)
            l.row(n, row);
    }
}

// Reads every code of MLX's layers, whose bits and groups a file without its config doesn't tell.
void read_mlx_codes(const Checkpoint &checkpoint) {
    for (const Tensor *t : checkpoint.tensors())
        for (u32 bits = 1; is_mlx(checkpoint, *t) && bits <= 8; ++bits)
            try {
                std::vector<const Tensor *> used;
                Claims claims;
                claims.bits = {bits, "input"};
                claims.group = {32, "input"};
                const MlxLayer l = read_mlx(checkpoint, claims, *t, used);
                const u64 rows = u64{std::max(l.experts, 1u)} * l.n;
                if (rows * l.k > most_weights)
                    continue;
                for (u64 row = 0; row < rows; ++row)
                    for (u32 k = 0; k < l.k; ++k)
                        if (l.code(row, k) >> bits)
                            throw std::logic_error("a code has more bits than its layer");
            } catch (const Error &) {
            }
}

// Converts every row with both implementations, which must agree.
void repack_all(const SourceLinear &l, Dtype dtype) {
    const std::vector<u32> order = l.act_order ? group_order(l) : std::vector<u32>();
    std::vector<u32> weights(u64{repack_rows} * l.k / 8), zeros(repack_rows / 8 * l.groups());
    std::vector<u16> scales(repack_rows * l.groups()), bias(l.n);
    std::vector<f64> want(l.k), got(l.k);
    if (!l.bias.empty())
        repack_bias(l, dtype, bias.data());
    for (u32 first = 0; first < l.n; first += repack_rows) {
        const u32 rows = std::min(repack_rows, l.n - first);
        repack_weights(l, first, rows, order, reinterpret_cast<std::byte *>(weights.data()),
                       l.k / 2);
        repack_scales(l, first, rows, dtype, scales.data());
        repack_zeros(l, first, rows, zeros.data());
        for (u32 r = 0; r < rows; ++r) {
            plain_row(l, first + r, dtype, want);
            plain_row({std::span(weights).subspan(u64{r} * (l.k / 8), l.k / 8),
                       std::span(scales).subspan(r * l.groups(), l.groups()),
                       std::span(zeros).subspan(r / 8 * l.groups(), l.groups()), r % 8, order},
                      dtype, got);
            if (want != got)
                throw std::logic_error("repacked weights differ from the checkpoint's");
        }
    }
}

} // namespace

void nw::fuzz::safetensors(Input file) {
    try {
        u64 bytes = 0;
        for (const Tensor &t : read_safetensors(file, "input").tensors) {
            bytes += t.bytes.size();
            if (t.bytes.data() < file.data() ||
                t.bytes.data() + t.bytes.size() > file.data() + file.size())
                throw std::logic_error("a tensor lies outside its file");
        }
        if (bytes > file.size())
            throw std::logic_error("tensors are larger than their file");
    } catch (const Error &) {
    }
}

void nw::fuzz::checkpoint(Input file) {
    const MemoryFile path(file);
    try {
        const Checkpoint checkpoint(path.path());
        const SourceLayers found =
            read_layers(checkpoint, {.gptq_v2 = true, .copies_others = true});
        for (const SourceFp4 &s : found.fp4)
            if (s.rows * s.row_bytes() <= most_weights) {
                std::vector<std::byte> rows(s.rows * s.row_bytes());
                ggml_rows(s, 0, s.rows, rows.data());
            }
        for (const SourceLinear &l : found.linears)
            if (u64{l.n} * l.k <= most_weights)
                repack_all(l, l.scale_dtype == "BF16" ? Dtype::bf16 : Dtype::f16);
        read_mlx_codes(checkpoint);
        dequantize_all(checkpoint);
        plan(found, {.all = true, .fuse = true});
    } catch (const Error &) {
    }
}
