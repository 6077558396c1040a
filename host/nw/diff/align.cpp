// SPDX-License-Identifier: MIT
#include "nw/diff/align.h"

#include <algorithm>
#include <map>
#include <string_view>

#include "sim/isa/code.h"

namespace nw::cli {

using lint::Block, lint::Survey;

namespace {

constexpr f64 alike = 0.4;          // minimum similarity of matched blocks
constexpr f64 of_depth = 0.05;      // bonus for equal loop depth
constexpr u64 most_cells = 1 << 24; // table size; beyond it, all blocks count as changed

using Words = std::map<std::string_view, u32>;

Words words_of(const Survey &s, const Block &block) {
    Words words;
    for (u32 i = block.first; i < block.end; ++i) {
        const sim::Instruction &inst = s.code.instructions[i];
        ++words[inst.x.mnemonic];
        if (inst.y)
            ++words[inst.y->mnemonic];
    }
    return words;
}

f64 similarity(const Words &a, const Words &b) {
    u64 all = 0, common = 0;
    for (const auto &[word, count] : a)
        all += count;
    for (const auto &[word, count] : b) {
        all += count;
        if (const auto found = a.find(word); found != a.end())
            common += 2 * std::min(count, found->second);
    }
    return all ? static_cast<f64>(common) / static_cast<f64>(all) : 1;
}

u32 depth(const Survey &s, u32 block) {
    const u32 loop = s.loops.of_block(block);
    return loop == lint::Flow::none ? 0 : s.loops.all()[loop].depth + 1;
}

// Needleman-Wunsch table and traceback.
class Table {
public:
    Table(size_t rows, size_t columns) : columns_(columns + 1), best_((rows + 1) * columns_) {}
    f64 &at(size_t row, size_t column) { return best_[row * columns_ + column]; }

private:
    const size_t columns_;
    std::vector<f64> best_;
};

} // namespace

std::vector<AlignedBlock> align(const Survey &a, const Survey &b) {
    std::vector<Words> of_a, of_b;
    for (const Block &block : a.flow.blocks())
        of_a.push_back(words_of(a, block));
    for (const Block &block : b.flow.blocks())
        of_b.push_back(words_of(b, block));
    const auto rows = static_cast<u32>(of_a.size()), columns = static_cast<u32>(of_b.size());
    std::vector<AlignedBlock> out;
    if (u64{rows} * columns > most_cells) { // by number
        for (u32 n = 0; n < std::max(rows, columns); ++n)
            out.push_back({n < rows ? std::optional(n) : std::nullopt,
                           n < columns ? std::optional(n) : std::nullopt,
                           n < rows && n < columns ? similarity(of_a[n], of_b[n]) : 0});
        return out;
    }
    const auto score = [&](u32 i, u32 j) {
        return similarity(of_a[i], of_b[j]) - alike +
               (depth(a, i) == depth(b, j) ? of_depth : -of_depth);
    };
    Table table(rows, columns), scores(rows, columns);
    for (u32 i = rows; i-- > 0;)
        for (u32 j = columns; j-- > 0;) {
            scores.at(i, j) = score(i, j);
            table.at(i, j) = std::max(
                {table.at(i + 1, j), table.at(i, j + 1), table.at(i + 1, j + 1) + scores.at(i, j)});
        }
    for (u32 i = 0, j = 0; i < rows || j < columns;) {
        if (i < rows && j < columns && table.at(i, j) == table.at(i + 1, j + 1) + scores.at(i, j)) {
            out.push_back({i, j, similarity(of_a[i], of_b[j])});
            ++i, ++j;
        } else if (i < rows && (j == columns || table.at(i, j) == table.at(i + 1, j))) {
            out.push_back({i++, {}, 0});
        } else {
            out.push_back({{}, j++, 0});
        }
    }
    return out;
}

std::vector<DiffLine> diff(const std::vector<std::string> &a, const std::vector<std::string> &b) {
    u32 begin = 0, end_a = static_cast<u32>(a.size()), end_b = static_cast<u32>(b.size());
    while (begin < end_a && begin < end_b && a[begin] == b[begin])
        ++begin;
    while (end_a > begin && end_b > begin && a[end_a - 1] == b[end_b - 1])
        --end_a, --end_b;
    const u32 rows = end_a - begin, columns = end_b - begin;
    const bool fits = u64{rows} * columns <= most_cells;
    std::vector<u32> common(fits ? (rows + 1) * size_t{columns + 1} : 0); // of what is left
    const auto at = [&](u32 i, u32 j) -> u32 & {
        return common[(i - begin) * size_t{columns + 1} + (j - begin)];
    };
    for (u32 i = end_a; fits && i-- > begin;)
        for (u32 j = end_b; j-- > begin;)
            at(i, j) = a[i] == b[j] ? at(i + 1, j + 1) + 1 : std::max(at(i + 1, j), at(i, j + 1));
    std::vector<DiffLine> out;
    for (u32 n = 0; n < begin; ++n)
        out.push_back({' ', n, n});
    for (u32 i = begin, j = begin; i < end_a || j < end_b;) {
        if (fits && i < end_a && j < end_b && a[i] == b[j])
            out.push_back({' ', i++, j++});
        else if (i < end_a && (j == end_b || !fits || at(i + 1, j) >= at(i, j + 1)))
            out.push_back({'-', i++, j});
        else
            out.push_back({'+', i, j++});
    }
    for (u32 n = 0; end_a + n < a.size(); ++n)
        out.push_back({' ', end_a + n, end_b + n});
    return out;
}

std::vector<std::string> lines_of(const Survey &s, u32 block) {
    const Block &b = s.flow.blocks()[block];
    std::vector<std::string> out;
    for (u32 i = b.first; i < b.end; ++i) {
        const sim::Instruction &inst = s.code.instructions[i];
        const std::string_view n = inst.x.mnemonic;
        const bool branch = n == "s_branch" || n.starts_with("s_cbranch_") || n == "s_call_b64";
        out.push_back(branch ? std::string(n) : inst.text);
    }
    return out;
}

} // namespace nw::cli
