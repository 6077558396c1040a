// SPDX-License-Identifier: MIT
#include "sim/isa/code.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <fmt/format.h>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <utility>

#include "base/targets.h"
#include "sim/isa/gfx10_names.h"
#include "sim/isa/hazards/unused_fields.h"
#include "sim/isa/image/program.h"
#include "sim/isa/llvm_c.h"

namespace nw::sim {

namespace {

using Disassembler = std::unique_ptr<void, decltype(&LLVMDisasmDispose)>;

Disassembler make_disassembler(std::string_view cpu, u32 wave_size) {
    static std::once_flag once;
    std::call_once(once, [] {
        LLVMInitializeAMDGPUTargetInfo();
        LLVMInitializeAMDGPUTargetMC();
        LLVMInitializeAMDGPUDisassembler();
    });
    // real-true16 is not gfx12's default, and without it high halves print as illegal registers.
    std::string features = fmt::format("+real-true16,+wavefrontsize{}", wave_size);
    void *d = LLVMCreateDisasmCPUFeatures("amdgcn-amd-amdhsa", std::string(cpu).c_str(),
                                          features.c_str(), nullptr, 0, nullptr, nullptr);
    if (!d)
        throw BadImage(fmt::format("LLVM has no AMDGPU disassembler for {}", cpu));
    return {d, &LLVMDisasmDispose};
}

constexpr u32 longest = 20; // bytes of an instruction, gfx11 and gfx12

// gfx12's s_barrier_signal and the following four (SOP1 opcodes 0x4e to 0x52) take no literal, but
// LLVM up to 22 looks for one (llvm-project issue 214910) and then runs off its own code.
bool is_barrier_of_literal(u32 word0) {
    const u32 op = word0 >> 8 & 0xff;
    return word0 >> 23 == 0x17d && op >= 0x4e && op <= 0x52 && (word0 & 0xff) == 0xff;
}

// gfx10's SDWA with a selector that is reserved: LLVM up to 22 crashes when it prints it.
bool is_reserved_sdwa(u32 word0, u32 word1) {
    constexpr u32 sdwa = 0xf9, vopc = 0x3e, vop1 = 0x3f, reserved = 7, reserved_rest = 3;
    if (word0 >> 31 || (word0 & 0x1ff) != sdwa)
        return false;
    const u32 encoding = word0 >> 25;
    const bool places = encoding != vopc, two = encoding != vop1;
    return (word1 >> 16 & 7) == reserved || (two && (word1 >> 24 & 7) == reserved) ||
           (places && ((word1 >> 8 & 7) == reserved || (word1 >> 11 & 3) == reserved_rest));
}

// v_fmamk_f16 or v_fmaak_f16 with the literal 0xff: LLVM up to 22 takes it for the selector of a
// following literal, and crashes.
bool is_f16_literal_of_255(u32 word0, u32 word1) {
    const u32 op = word0 >> 25;
    return (op == 0x37 || op == 0x38) && word1 == 0xff;
}

// LLVM's text of the instruction, decoded with 0xfe instead.
std::string with_255(std::string_view text) {
    constexpr std::string_view stand_in = "0xfe";
    std::string result(text);
    for (size_t at = 0; (at = result.find(stand_in, at)) != result.npos; ++at)
        result.replace(at, stand_in.size(), "0xff");
    return result;
}

// gfx12's temporal hint of an atomic. LLVM's text says whether the old value is returned, but not
// of hints that its assembler has no name for: TH_ATOMIC_0x5, and 5 as TH_ATOMIC_CASCADE_RT,
// like 4.
std::string with_return(std::string_view text, u32 word1) {
    constexpr std::string_view hint = "th:TH_ATOMIC_", returned = "_RETURN";
    std::string result(text);
    const size_t at = result.find(hint);
    if (at == result.npos || !(word1 >> 20 & 1))
        return result;
    const size_t end = std::min(result.find(' ', at), result.size());
    if (result.find(returned.substr(1), at) == result.npos)
        result.insert(end, returned);
    return result;
}

// A field of an instruction, in bits from its first one on.
struct Field {
    u8 first, bits;
};

// Fields that an encoding has and some of its instructions don't use (S-061). LLVM wants 0 there.
std::span<const Field> unused_fields(u32 word0, Generation generation) {
    static constexpr Field ds[] = {{56, 8}, {48, 8}, {40, 8}, {32, 8}}; // vdst, data1, data0, addr
    static constexpr Field vopd[] = {{9, 8}, {41, 8}};                  // vsrcx1, vsrcy1
    static constexpr Field sopp[] = {{0, 16}};                          // simm16
    static constexpr Field v_nop[] = {{0, 9}, {17, 8}};                 // src0, vdst
    if (word0 >> 26 == 0x36)
        return ds;
    if (word0 >> 26 == 0x32 && generation != Generation::gfx10)
        return vopd;
    if (word0 >> 23 == 0x17f)
        return sopp;
    if (word0 >> 25 == 0x3f && (word0 >> 9 & 0xff) == 0)
        return v_nop;
    return {};
}

// LLVM's disassembler for one target, with a cache of its texts. Kernels repeat the same few
// thousand instructions, and a lookup takes a small part of the time.
class Decoder {
public:
    Decoder(std::string_view cpu, u32 wave_size)
        : llvm_(make_disassembler(cpu, wave_size)), generation_(target_of(cpu).generation) {}

    // Fills `inst` from bytes of which `available` are code. LLVM up to 22 crashes on a missing
    // literal (issue 214909), so it always gets the longest instruction's size, padded with zeros.
    void decode(const std::byte *code, u32 available, Instruction &inst) {
        u8 bytes[longest + 4] = {};
        std::memcpy(bytes, code, std::min(available, longest));
        std::memcpy(&inst.word0, bytes, 4);
        std::memcpy(&inst.word1, bytes + 4, 4);
        inst.size = 4;
        const bool reserved =
            generation_ == Generation::gfx10 && is_reserved_sdwa(inst.word0, inst.word1);
        if (reserved || is_barrier_of_literal(inst.word0) || recall(available, inst))
            return;
        const bool is_255 = is_f16_literal_of_255(inst.word0, inst.word1);
        if (is_255)
            bytes[4] = 0xfe;
        char text[512];
        size_t size = print(bytes, inst.offset, text);
        const bool plain = size != 0;
        if (!plain)
            size = print_without_unused_fields(bytes, inst, text);
        if (size == 0 || size > available)
            return;
        inst.size = static_cast<u32>(size);
        inst.text = text + (text[0] == '\t'); // LLVM indents
        if (is_255)
            inst.text = with_255(inst.text);
        if (generation_ == Generation::gfx12)
            inst.text = with_return(inst.text, inst.word1);
        if (plain)
            remember(inst);
    }

    // Whether LLVM takes it only without the bits of its unused fields. It is one that decode() has
    // decoded, with at most two words.
    bool sets_unused_field(const Instruction &inst) {
        if (unused_fields(inst.word0, generation_).empty())
            return false;
        Instruction again = inst;
        if (recall(longest, again))
            return false;
        u8 bytes[longest + 4] = {};
        std::memcpy(bytes, &inst.word0, 4);
        std::memcpy(bytes + 4, &inst.word1, 4);
        char text[512];
        return print(bytes, inst.offset, text) == 0;
    }

private:
    template <size_t N> size_t print(u8 (&bytes)[longest + 4], u64 at, char (&text)[N]) {
        return LLVMDisasmInstruction(llvm_.get(), bytes, sizeof bytes, at, text, sizeof text);
    }

    // Tries with the fewest fields set to 0: a field in use does not keep LLVM from decoding, so
    // those are the unused ones.
    template <size_t N>
    size_t print_without_unused_fields(u8 (&bytes)[longest + 4], const Instruction &inst,
                                       char (&text)[N]) {
        const auto fields = unused_fields(inst.word0, generation_);
        const u64 words = u64{inst.word1} << 32 | inst.word0;
        for (int count = 1; count <= static_cast<int>(fields.size()); ++count)
            for (u32 set = 1; set < 1u << fields.size(); ++set) {
                u64 cleared = words;
                for (size_t f = 0; f < fields.size(); ++f)
                    if (set >> f & 1)
                        cleared &= ~(((u64{1} << fields[f].bits) - 1) << fields[f].first);
                if (std::popcount(set) != count || cleared == words)
                    continue;
                std::memcpy(bytes, &cleared, sizeof cleared);
                if (const size_t size = print(bytes, inst.offset, text))
                    return size;
            }
        return 0;
    }

    static constexpr size_t most = 1 << 16; // cached texts per instruction size: some 10 MB

    // The first word determines whether there is a second one, and those two whether a third:
    // three-word instructions aren't cached.
    bool recall(u32 available, Instruction &inst) const {
        if (const auto one = one_word_.find(inst.word0); one != one_word_.end()) {
            inst.text = one->second;
            return true;
        }
        const auto two = two_words_.find(u64{inst.word1} << 32 | inst.word0);
        if (available < 8 || two == two_words_.end())
            return false;
        inst.size = 8;
        inst.text = two->second;
        return true;
    }
    void remember(const Instruction &inst) {
        if (inst.size == 4 && one_word_.size() < most)
            one_word_.emplace(inst.word0, inst.text);
        else if (inst.size == 8 && two_words_.size() < most)
            two_words_.emplace(u64{inst.word1} << 32 | inst.word0, inst.text);
    }

    Disassembler llvm_;
    Generation generation_;
    std::unordered_map<u32, std::string> one_word_;
    std::unordered_map<u64, std::string> two_words_;
};

// A decoder for this thread's use, and back to those that wait for the next one.
class Lent {
public:
    Lent(std::string_view cpu, u32 wave_size) : key_(cpu, wave_size) {
        const std::lock_guard lock(mutex());
        auto &free = waiting()[key_];
        if (!free.empty()) {
            decoder_ = std::move(free.back());
            free.pop_back();
        }
    }
    ~Lent() {
        if (!decoder_)
            return;
        const std::lock_guard lock(mutex());
        waiting()[key_].push_back(std::move(decoder_));
    }
    Lent(const Lent &) = delete;
    Decoder &operator*() {
        if (!decoder_)
            decoder_ = std::make_unique<Decoder>(key_.first, key_.second);
        return *decoder_;
    }

private:
    using Key = std::pair<std::string, u32>;
    static std::mutex &mutex() {
        static auto *const made = new std::mutex;
        return *made;
    }
    static std::map<Key, std::vector<std::unique_ptr<Decoder>>> &waiting() {
        static auto *const made = new std::map<Key, std::vector<std::unique_ptr<Decoder>>>;
        return *made;
    }
    const Key key_;
    std::unique_ptr<Decoder> decoder_;
};

bool has_old_names(std::string_view cpu) { return target_of(cpu).generation == Generation::gfx10; }

// Parses; `old_names`: and gives the operation the name that gfx11 has for it.
void parse_named(Instruction &inst, bool old_names) {
    parse(inst);
    if (old_names)
        inst.x.mnemonic = name_since_gfx11(inst.x.mnemonic);
}

} // namespace

u32 Code::find(u64 pc) const {
    auto it = std::lower_bound(instructions.begin(), instructions.end(), pc - base,
                               [](const Instruction &i, u64 offset) { return i.offset < offset; });
    if (it == instructions.end() || it->offset != pc - base)
        return none;
    return static_cast<u32>(it - instructions.begin());
}

void disassemble(std::span<const std::byte> image, u32 begin, u32 end, std::string_view cpu,
                 Code &code) {
    Lent lent(cpu, code.wave_size);
    Decoder &decoder = *lent;
    size_t first = code.instructions.size();
    const size_t room = code.instructions.capacity();
    for (u32 at = begin; at + 4 <= end;) {
        Instruction inst;
        inst.offset = at;
        decoder.decode(image.data() + at, end - at, inst);
        at += inst.size;
        code.instructions.push_back(std::move(inst));
    }
    // Operands point into `text`. Growing has moved the short ones of earlier sections, too.
    if (code.instructions.capacity() != room)
        first = 0;
    const bool old_names = has_old_names(cpu);
    for (size_t i = first; i < code.instructions.size(); ++i)
        parse_named(code.instructions[i], old_names);
}

bool sets_unused_field(const Instruction &inst, std::string_view cpu, u32 wave_size) {
    if (inst.text.empty())
        return false;
    Lent lent(cpu, wave_size);
    return (*lent).sets_unused_field(inst);
}

std::vector<Instruction> disassemble_each(std::span<const std::array<u32, 5>> encodings,
                                          std::string_view cpu, u32 wave_size) {
    Lent lent(cpu, wave_size);
    Decoder &decoder = *lent;
    const bool old_names = has_old_names(cpu);
    std::vector<Instruction> decoded(encodings.size());
    for (size_t n = 0; n < encodings.size(); ++n) {
        auto bytes = std::as_bytes(std::span(encodings[n]));
        decoder.decode(bytes.data(), static_cast<u32>(bytes.size()), decoded[n]);
        parse_named(decoded[n], old_names);
    }
    return decoded;
}

} // namespace nw::sim
