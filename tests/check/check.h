// SPDX-License-Identifier: MIT
// The harness for kernels. A family's test is one function; it runs for every row of the registry
// on every chosen device, sees outputs only between guard bands, and draws its data from a printed
// seed. A test names a family, never a variant.
#pragma once
#include <cstddef>
#include <cstring>
#include <source_location>
#include <span>
#include <string>
#include <vector>

#include "base/rng.h"
#include "base/types.h"
#include "check/edges.h"
#include "hip/hip.h"
#include "runtime/catalogue.h"
#include "runtime/modules.h"

namespace nw::check {

// Bytes on the device between two guard bands of NaN.
class Region {
public:
    Region(const hip::Device &, std::span<const std::byte> content);
    void *data() const;
    u64 size() const { return content_.size(); }
    // Present contents on the device, without guard bands.
    std::vector<std::byte> read() const;
    template <class T> std::vector<T> read_as() const {
        const std::vector<std::byte> bytes = read();
        std::vector<T> values(bytes.size() / sizeof(T));
        std::memcpy(values.data(), bytes.data(), values.size() * sizeof(T));
        return values;
    }
    // Writes a byte, in a guard band too where the offset is outside: to test the harness.
    void poke(i64 offset, std::byte value);

private:
    friend class Test;
    static constexpr u64 guard = 1024; // bytes on each side; keeps the content 256-byte aligned
    std::vector<std::byte> content_;   // as uploaded
    hip::Buffer buffer_;
};

// All that a family's test uses.
class Test {
public:
    Test(Modules &, const Kernel &, u64 seed, std::string rerun, bool verbose);

    Modules &modules;
    Rng rng; // from the seed and the kernel's name: --only does not change the data

    // The running case, for reports: "m=1 n=33 k=1024 one-hot".
    void shape(std::string text);

    template <class T> Region region(std::span<const T> content) {
        return {modules.device(), std::as_bytes(content)};
    }

    // Fails unless every got[i], a word of `dtype`, lies in
    // [round(want[i] - tolerance[i]), round(want[i] + tolerance[i])], rounding to dtype; where
    // want[i] is NaN, got[i] must be.
    void within(const char *name, Dtype dtype, std::span<const u16> got, std::span<const f64> want,
                std::span<const f64> tolerance,
                std::source_location where = std::source_location::current());

    // Fails unless the words are equal.
    void same(const char *name, Dtype dtype, std::span<const u16> got, std::span<const u16> want,
              std::source_location where = std::source_location::current());

    // Fails where the bands around an output were written to.
    void guards_clean(const char *name, const Region &,
                      std::source_location where = std::source_location::current());

    // Fails unless the region has these words, and where its bands were written to.
    void holds(const char *name, const Region &, const std::vector<i32> &want,
               std::source_location where = std::source_location::current());

    // Fails where an input or its bands changed.
    void unchanged(const char *name, const Region &,
                   std::source_location where = std::source_location::current());

    void fail(const std::string &text, std::source_location where);

    u32 failures() const { return failures_; }
    u32 launches = 0; // shown with -v
    // Run under the checkers, which cost: a family keeps to shapes that walk each of its paths.
    bool checkers = false;
    // One launch, of the smallest shape with two workgroups: the code is checked on another target.
    bool entry = false;

private:
    template <class Bad, class Show>
    void compare(const char *name, std::span<const u16> got, const Bad &bad, const Show &want,
                 Dtype dtype, std::source_location where);

    const Kernel &kernel_;
    std::string shape_, rerun_;
    bool verbose_;
    u32 failures_ = 0;
};

using Family = void (*)(Test &, const Kernel &);
bool enlist(const char *family, Family);

} // namespace nw::check

#define CHECK_FAMILY(family)                                                                       \
    static void family##_test(nw::check::Test &, const nw::Kernel &);                              \
    [[maybe_unused]] static const bool family##_listed =                                           \
        nw::check::enlist(#family, family##_test);                                                 \
    static void family##_test([[maybe_unused]] nw::check::Test &t, const nw::Kernel &kernel)
