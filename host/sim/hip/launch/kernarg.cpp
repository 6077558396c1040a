// SPDX-License-Identifier: MIT
#include "sim/hip/launch/kernarg.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <span>
#include <string_view>

#include "sim/func/launch/hidden_args.h"
#include "sim/hip/copy/host_copy.h"
#include "sim/hip/error.h"

namespace nw::hipsim {

namespace {

// Source of the explicit arguments' bytes.
class Arguments {
public:
    Arguments(void **params, void **extra) : params_(params) {
        if (extra)
            read_extra(extra);
    }

    // From where each explicit argument is copied, in order: null where the block ends before it.
    std::vector<FromCaller> copies(std::span<const sim::Arg *const> args, std::byte *block) const {
        std::vector<const void *> pointers(packed_ ? 0 : args.size());
        require(pointers.empty() ||
                    copy_from_caller(pointers.data(), params_, pointers.size() * sizeof(void *)),
                hipErrorInvalidValue);
        std::vector<FromCaller> all;
        for (size_t n = 0; n < args.size(); ++n) {
            const sim::Arg &arg = *args[n];
            const u64 there = arg.offset < packed_bytes_ ? packed_bytes_ - arg.offset : 0;
            const void *const from = packed_ ? packed_ + arg.offset : pointers[n];
            require(from != nullptr, hipErrorInvalidValue);
            all.push_back({block + arg.offset, from,
                           packed_ ? std::min<u64>(arg.size, there) : u64{arg.size}});
        }
        return all;
    }

    bool packed() const { return packed_ != nullptr; }
    u64 packed_bytes() const { return packed_bytes_; }

private:
    void read_extra(void **extra) {
        void *words[5];
        u64 bytes = 0;
        require(copy_from_caller(words, extra, sizeof words) &&
                    words[0] == HIP_LAUNCH_PARAM_BUFFER_POINTER &&
                    words[2] == HIP_LAUNCH_PARAM_BUFFER_SIZE && words[4] == HIP_LAUNCH_PARAM_END &&
                    words[1] && words[3] && copy_from_caller(&bytes, words[3], sizeof bytes),
                hipErrorInvalidValue);
        packed_ = static_cast<const std::byte *>(words[1]);
        packed_bytes_ = bytes;
    }

    void **params_;
    const std::byte *packed_ = nullptr;
    u64 packed_bytes_ = 0;
};

} // namespace

static void warn_once(Function &function, std::string_view text) {
    if (!function.warned.exchange(true))
        say(fmt::format("{}: {}", function.kernel->name, text));
}

static u64 explicit_end(const sim::KernelInfo &kernel) {
    u64 end = 0;
    for (const sim::Arg &arg : kernel.args)
        if (!sim::is_hidden(arg))
            end = std::max<u64>(end, u64{arg.offset} + arg.size);
    return end;
}

static void check_forms(Function &function, void **params, void **extra) {
    const sim::KernelInfo &kernel = *function.kernel;
    require(!params || !extra, hipErrorInvalidValue);
    require(params || extra || explicit_end(kernel) == 0, hipErrorInvalidValue);
    if (kernel.args.empty() && kernel.kernarg_bytes > 0 && (params || extra))
        warn_once(function, "its metadata has no .args, so it gets no arguments (real ROCm copies "
                            "them per .args entry, too)");
}

[[noreturn]] static void fail_at_unreadable(std::span<const sim::Arg *const> args,
                                            std::span<const FromCaller> copies) {
    for (size_t n = 0; n < copies.size(); ++n)
        if (const auto &[to, from, bytes] = copies[n]; !copy_from_caller(to, from, bytes))
            fail(hipErrorInvalidValue,
                 fmt::format("argument {} '{}': its {} bytes at {} can't be read", n, args[n]->name,
                             bytes, from));
    fail(hipErrorInvalidValue);
}

std::vector<std::byte> pack_kernarg(Function &function, const sim::Dispatch &dispatch,
                                    void **params, void **extra) {
    const sim::KernelInfo &kernel = *function.kernel;
    check_forms(function, params, extra);
    const Arguments arguments(params, extra);
    if (arguments.packed() && arguments.packed_bytes() < explicit_end(kernel))
        warn_once(function,
                  fmt::format("its arguments are {} bytes, HIP_LAUNCH_PARAM_BUFFER_SIZE says "
                              "{}: the rest is zero (real ROCm reads on)",
                              explicit_end(kernel), arguments.packed_bytes()));

    std::vector<std::byte> block(kernel.kernarg_bytes);
    std::vector<const sim::Arg *> given;
    for (const sim::Arg &arg : kernel.args) {
        if (u64{arg.offset} + arg.size > block.size())
            fail(hipErrorInvalidImage,
                 fmt::format("{}: argument '{}' ends at byte {} of a {}-byte kernarg segment",
                             kernel.name, arg.name, arg.offset + arg.size, block.size()));
        if (sim::is_hidden(arg)) {
            const u64 value = sim::hidden_value(arg.value_kind, dispatch);
            std::memcpy(block.data() + arg.offset, &value,
                        std::min<std::size_t>(arg.size, sizeof value));
        } else {
            given.push_back(&arg);
        }
    }
    const auto copies = arguments.copies(given, block.data());
    if (!copy_from_caller(copies))
        fail_at_unreadable(given, copies);
    return block;
}

} // namespace nw::hipsim
