// SPDX-License-Identifier: MIT
#include "formats/packed/pack.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/parallel.h"
#include "base/rng.h"
#include "formats/files/output_path.h"
#include "formats/layers/plain_values.h"
#include "formats/packed/repack.h"
#include "formats/safetensors/checkpoint.h"
#include "formats/safetensors/safetensors_writer.h"

namespace nw {

namespace fs = std::filesystem;

namespace {

using Clock = std::chrono::steady_clock;

constexpr u64 copy_bytes = 4 << 20;

// Rows of one part of a linear, or a range of bytes of a copied tensor.
struct Item {
    const PackedLinear *linear;
    size_t part; // or of the model's copies
    u64 first, count;
    size_t source; // of `Sources`

    const PackedPart &packed_part() const { return linear->parts[part]; }
    const SourceLinear &from() const { return *packed_part().source; }
};

std::vector<Item> items_of(const PackedModel &m) {
    std::vector<Item> items;
    size_t source = 0;
    for (const PackedLinear &p : m.linears)
        for (size_t part = 0; part < p.parts.size(); ++part, ++source)
            for (u64 row = 0, n = p.parts[part].source->n; row < n; row += repack_rows)
                items.push_back({&p, part, row, std::min<u64>(repack_rows, n - row), source});
    for (size_t i = 0; i < m.copies.size(); ++i, ++source)
        for (u64 at = 0, size = m.copies[i].from->bytes.size(); at < size; at += copy_bytes)
            items.push_back({nullptr, i, at, std::min(copy_bytes, size - at), source});
    return items;
}

// The mapped ranges that items read: prefetched one item ahead and released afterwards, so that
// resident memory doesn't grow with the checkpoint.
class Sources {
public:
    Sources(const PackedModel &m, const std::vector<Item> &items) {
        for (const PackedLinear &p : m.linears)
            for (const PackedPart &part : p.parts)
                parts_.push_back({part.source->weights, part.source->scales, part.source->zeros});
        for (const PackedCopy &copy : m.copies)
            parts_.push_back({copy.from->bytes, {}, {}});
        left_ = std::vector<std::atomic<u64>>(parts_.size());
        for (const Item &item : items)
            ++left_[item.source];
    }

    void begin(const Item &item) const {
        if (item.first == 0 && item.source + 1 < parts_.size())
            MappedFile::prefetch(parts_[item.source + 1][0]);
    }
    void end(const Item &item) {
        MappedFile::release(own_part(item));
        if (--left_[item.source] == 0)
            for (std::span<const std::byte> part : parts_[item.source])
                MappedFile::release(part);
    }

private:
    // Bytes that no other item reads: contiguous rows.
    std::span<const std::byte> own_part(const Item &item) const {
        const std::span<const std::byte> all = parts_[item.source][0];
        if (!item.linear)
            return all.subspan(item.first, item.count);
        if (item.from().format != SourceFormat::compressed_tensors)
            return {};
        const u64 row_bytes = item.linear->k / 2;
        return all.subspan(item.first * row_bytes, item.count * row_bytes);
    }

    std::vector<std::array<std::span<const std::byte>, 3>> parts_;
    std::vector<std::atomic<u64>> left_;
};

// One thread's worker, with reusable buffers.
class Worker {
public:
    Worker(const PackedModel &m, TensorWriter &file) : model_(m), file_(file) {}

    // Returns the number of checked rows.
    u64 run(const Item &item) {
        if (!item.linear) {
            const auto &[tensor, from] = model_.copies[item.part];
            file_.write(tensor, item.first, from->bytes.subspan(item.first, item.count));
            return 0;
        }
        repack(item);
        // Checks one row of each part's first and last block, and of every fourth block between.
        const bool checked =
            item.first / repack_rows % 4 == 0 || item.first + item.count == item.from().n;
        if (checked)
            check(item, item.first + Rng(item.source).at(item.first) % item.count);
        return checked;
    }

private:
    void repack(const Item &item) {
        const PackedLinear &p = *item.linear;
        const SourceLinear &l = item.from();
        const u32 first = static_cast<u32>(item.first), rows = static_cast<u32>(item.count);
        const u64 row = p.row(item.packed_part()) + first;
        order_ = l.act_order ? group_order(l) : std::vector<u32>();

        weights_.resize(rows * p.w_stride);
        for (u32 r = 0; r < rows; ++r)
            std::memset(weights_.data() + r * p.w_stride + p.k / 2, 0, p.w_stride - p.k / 2);
        repack_weights(l, first, rows, order_, weights_.data(), p.w_stride);
        file_.write(p.w, row * p.w_stride, weights_);

        halves_.resize(u64{rows} * p.groups());
        repack_scales(l, first, rows, p.dtype, halves_.data());
        file_.write(p.s, row * p.groups() * sizeof(u16), std::as_bytes(std::span(halves_)));
        if (p.zp != PackedLinear::none) {
            zeros_.resize(u64{ceil_div(rows, 8u)} * p.groups());
            repack_zeros(l, first, rows, zeros_.data());
            file_.write(p.zp, zeros_at(item, first), std::as_bytes(std::span(zeros_)));
        }
        if (first == 0)
            whole_part(item);
    }

    void whole_part(const Item &item) {
        const PackedLinear &p = *item.linear;
        const SourceLinear &l = item.from();
        if (p.perm != PackedLinear::none) {
            std::vector<u32> perm = order_;
            for (u32 k = 0; perm.size() < p.k; ++k) // an expert in its own order among others
                perm.push_back(k);
            file_.write(p.perm, u64{item.packed_part().expert} * p.k * sizeof(u32),
                        std::as_bytes(std::span(perm)));
        }
        if (p.bias != PackedLinear::none) {
            halves_.resize(l.n);
            repack_bias(l, p.dtype, halves_.data());
            file_.write(p.bias, p.row(item.packed_part()) * sizeof(u16),
                        std::as_bytes(std::span(halves_)));
        }
    }

    // Index of row n within its dword of eight rows. Joined parts have whole dwords.
    static u64 zeros_at(const Item &item, u64 n) {
        const PackedLinear &p = *item.linear;
        const PackedPart &part = item.packed_part();
        return (u64{part.expert} * ceil_div(p.n, 8u) + (part.row + n) / 8) * p.groups() *
               sizeof(u32);
    }

    // Compares row n of the file with the checkpoint, weight by weight.
    void check(const Item &item, u64 n) {
        const PackedLinear &p = *item.linear;
        const SourceLinear &l = item.from();
        const u64 row = p.row(item.packed_part()) + n;
        std::vector<u32> weights(p.k / 8), zeros(p.zp == PackedLinear::none ? 0 : p.groups());
        std::vector<u16> scales(p.groups());
        file_.read(p.w, row * p.w_stride, std::as_writable_bytes(std::span(weights)));
        file_.read(p.s, row * p.groups() * sizeof(u16), std::as_writable_bytes(std::span(scales)));
        if (!zeros.empty())
            file_.read(p.zp, zeros_at(item, n), std::as_writable_bytes(std::span(zeros)));
        want_.resize(p.k);
        got_.resize(p.k);
        plain_row(l, static_cast<u32>(n), p.dtype, want_);
        plain_row({weights, scales, zeros, static_cast<u32>(n % 8), order_}, p.dtype, got_);
        const auto [w, g] = std::ranges::mismatch(want_, got_);
        if (w != want_.end())
            throw Error(fmt::format("{}: row {}, column {} of {} is {} but {} after packing: a "
                                    "defect of this program or the disk; no output is written",
                                    p.name, n, w - want_.begin(), l.tensor, *w, *g));
    }

    const PackedModel &model_;
    TensorWriter &file_;
    std::vector<std::byte> weights_;
    std::vector<u16> halves_;
    std::vector<u32> zeros_, order_;
    std::vector<f64> want_, got_;
};

// Number i of a row's blocks of ggml's type, and of its tensor.
u32 code_of_block(const SourceFp4 &s, const std::vector<std::byte> &row, u64 i) {
    const GgmlTypeInfo &info = *find_ggml_type(s.type);
    const u64 group = s.type == GgmlType::mxfp4 ? 32 : 16, in = i % info.elements;
    const u64 codes = info.bytes - info.elements / 2; // behind the scales
    const u64 at = i / info.elements * info.bytes + codes + in / group * group / 2;
    return std::to_integer<u32>(row[at + in % (group / 2)]) >> in % group / (group / 2) * 4 & 15;
}
u32 code_of_tensor(const SourceFp4 &s, u64 row, u64 i) {
    return u32{s.code_byte(row, i / 2)} >> i % 2 * 4 & 15;
}

void check_fp4(const PackedFp4 &p, u64 row, const TensorWriter &file) {
    const SourceFp4 &s = *p.source;
    std::vector<std::byte> got(s.row_bytes());
    file.read(p.w, row * got.size(), got);
    for (u64 i = 0; i < s.k; ++i)
        if (code_of_block(s, got, i) != code_of_tensor(s, row, i))
            throw Error(fmt::format("{}: row {}, column {} differs after packing: a defect of this "
                                    "program or the disk; no output is written",
                                    s.name, row, i));
}

// Blocks of many rows at a time, of which the first is checked. Returns how many are.
u64 convert_fp4(const PackedFp4 &p, TensorWriter &file, WorkShown &shown) {
    const SourceFp4 &s = *p.source;
    const u64 at_a_time = std::max<u64>(1, copy_bytes / s.row_bytes());
    const u64 chunks = ceil_div(s.rows, at_a_time);
    parallel_each(chunks, [&] {
        return [&, blocks = std::vector<std::byte>()](u64 i) mutable {
            const u64 first = i * at_a_time, count = std::min(at_a_time, s.rows - first);
            blocks.resize(count * s.row_bytes());
            ggml_rows(s, first, count, blocks.data());
            file.write(p.w, first * s.row_bytes(), blocks);
            check_fp4(p, first, file);
            if (!s.columns_first) // else rows share pages
                MappedFile::release(s.codes->bytes.subspan(first * s.k / 2, count * s.k / 2));
            shown.advance(count * s.k / 2, s.name);
        };
    });
    return chunks;
}

u64 convert(const PackedModel &m, TensorWriter &file, const WorkProgress &progress) {
    const std::vector<Item> items = items_of(m);
    Sources sources(m, items);
    WorkShown shown(progress, m.weight_bytes);
    std::atomic<u64> checked{0};
    parallel_each(items.size(), [&] {
        return [&, worker = Worker(m, file)](u64 i) mutable {
            const Item &item = items[i];
            sources.begin(item);
            checked += worker.run(item);
            sources.end(item);
            if (item.linear)
                shown.advance(item.count * (item.linear->k / 2), item.linear->name);
        };
    });
    for (const PackedFp4 &p : m.fp4)
        checked += convert_fp4(p, file, shown);
    return checked;
}

fs::path layout_path(fs::path out) { return out.replace_extension(".json"); }

void check_paths(const fs::path &checkpoint, const fs::path &out, const PackOptions &o) {
    if (out.extension() != ".safetensors")
        throw Error(fmt::format(
            "{}: the output must be called NAME.safetensors; NAME.json is written next to it",
            out.string()));
    for (const fs::path &path : {out, layout_path(out)})
        check_output(checkpoint, path, o.replace);
}

} // namespace

PackReport pack(const fs::path &input, const fs::path &out, const PackOptions &o,
                const WorkProgress &progress) {
    const auto start = Clock::now();
    check_paths(input, out, o);
    const Checkpoint checkpoint(input);
    const SourceLayers sources =
        read_layers(checkpoint, {.gptq_v2 = o.gptq_v2, .copies_others = o.all});
    const PackedModel model = plan(sources, o);
    const fs::path layout = layout_path(out);
    const std::string text = layout_json(model, o, out.filename().string()).dump(1) + "\n";

    TensorWriter file =
        safetensors_writer(out, model.tensors, {{"format", "nibblewave"}, {"gfx", o.gfx}});
    OutputFile json(layout, text.size());
    json.write(0, std::as_bytes(std::span(text)));
    PackReport report;
    report.checked_rows = convert(model, file, progress);
    file.commit();
    try {
        json.commit();
    } catch (...) {
        fs::remove(out);
        throw;
    }
    report.linears = model.linears.size() + model.fp4.size();
    report.matrices = sources.linears.size() + model.fp4.size();
    report.notes = sources.notes;
    report.weight_bytes = model.weight_bytes;
    report.file_bytes = file.size();
    report.seconds = std::chrono::duration<f64>(Clock::now() - start).count();
    return report;
}

} // namespace nw
