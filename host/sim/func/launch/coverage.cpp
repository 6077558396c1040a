// SPDX-License-Identifier: MIT
#include "sim/func/launch/coverage.h"

#include <fmt/format.h>

#include "sim/func/executable/build.h"
#include "sim/isa/mnemonics.h"
#include "sim/isa/scope.h"

namespace nw::sim {

namespace {

// Why the sample can't run in a wave of this size; "" if it can.
std::vector<std::string> refusals(const std::vector<Sample> &samples, std::string_view gfx,
                                  u32 wave_size) {
    std::vector<Encoding> encodings;
    for (const Sample &s : samples)
        encodings.push_back(s.encoding);
    Code code;
    code.wave_size = wave_size;
    code.instructions = disassemble_each(encodings, gfx, wave_size);
    u32 count = static_cast<u32>(code.instructions.size());
    Executable e;
    e.code = &code;
    e.insts.resize(count + 1);
    Builder builder(e, target_of(gfx));
    std::vector<std::string> why(count);
    for (u32 n = 0; n < count; ++n) {
        builder.build(n);
        if (auto it = e.unsupported.find(n); it != e.unsupported.end())
            why[n] = fmt::format("wave{}: {}", wave_size, it->second);
    }
    return why;
}

Coverage judge(const std::string &mnemonic, const std::string &why32, const std::string &why64,
               Generation generation) {
    if (generation == Generation::gfx10 && mnemonic.starts_with("image_"))
        return {mnemonic, Coverage::State::out_of_scope, "image"};
    if (std::string_view other = other_purpose(mnemonic); !other.empty())
        return {mnemonic, Coverage::State::out_of_scope, std::string(other)};
    if (!why32.empty() || !why64.empty())
        return {mnemonic, Coverage::State::missing, why32.empty() ? why64 : why32};
    const FidelityNote note = fidelity_of(mnemonic, generation);
    switch (note.fidelity) {
    case Fidelity::approximate:
        return {mnemonic, Coverage::State::approximate,
                fmt::format("{}, within {}", note.note, note.bound)};
    case Fidelity::open:
        return {mnemonic, Coverage::State::open, std::string(note.note)};
    default:
        return {mnemonic, Coverage::State::exact, std::string(note.note)};
    }
}

} // namespace

std::vector<Coverage> coverage(std::string_view gfx) {
    std::vector<Sample> samples = known_mnemonics(gfx);
    std::vector<std::string> why32 = refusals(samples, gfx, 32), why64 = refusals(samples, gfx, 64);
    const Generation generation = target_of(gfx).generation;
    std::vector<Coverage> result;
    for (size_t n = 0; n < samples.size(); ++n)
        result.push_back(judge(samples[n].mnemonic, why32[n], why64[n], generation));
    return result;
}

const char *name_of(Coverage::State s) {
    constexpr const char *names[] = {"exact", "approximate", "open", "missing", "out of scope"};
    return names[static_cast<size_t>(s)];
}

} // namespace nw::sim
