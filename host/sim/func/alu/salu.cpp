// SPDX-License-Identifier: MIT
// The rows of salu.inc as handlers.
#include "sim/func/alu/salu.h"

#include <type_traits>

#include "sim/func/alu/bit.h"
#include "sim/func/choices.h"

namespace nw::sim {

namespace {

namespace bit = base::bit;

template <Type> struct Scalar;
template <> struct Scalar<Type::u32> { using type = u32; };
template <> struct Scalar<Type::i32> { using type = i32; };
template <> struct Scalar<Type::u64> { using type = u64; };
template <> struct Scalar<Type::i64> { using type = i64; };
template <> struct Scalar<Type::none> { using type = u32; };

template <Type T> using value_t = typename Scalar<T>::type;

template <Type T> value_t<T> at(const Wave &w, unsigned reg) {
    if constexpr (rows_of(T) == 2)
        return static_cast<value_t<T>>(w.s[reg] | u64{w.s[reg + 1]} << 32);
    else
        return static_cast<value_t<T>>(w.s[reg]);
}

template <Type T> value_t<T> read(const Wave &w, const Source &s) {
    if (s.kind == Source::sgpr)
        return at<T>(w, s.at);
    if constexpr (rows_of(T) == 2)
        return static_cast<value_t<T>>(w.constants[s.at].lane[0] |
                                       u64{w.constants[s.at + 1].lane[0]} << 32);
    else
        return static_cast<value_t<T>>(s.value);
}

template <Type T> void write(Wave &w, unsigned reg, value_t<T> value) {
    w.s[reg] = static_cast<u32>(value);
    if constexpr (rows_of(T) == 2)
        w.s[reg + 1] = static_cast<u32>(static_cast<u64>(value) >> 32);
}

// True if SCC is set because the first operand is larger (S-040).
template <class T> bool max_scc(T a, T b) {
    return choices().max_scc == choice::max_scc::set ? a >= b : a > b;
}
// The width field of s_bfe's second operand (S-041).
u32 bfe_width(u32 operand, u32 bits) {
    u32 width = operand >> 16 & 127;
    return choices().bfe_width == choice::bfe_width::whole ? width : width & (bits - 1);
}

#define SOP(mn, D, A, B, expr, ...)                                                                \
    void mn(Wave &w, const Inst &i) {                                                              \
        [[maybe_unused]] auto a = read<Type::A>(w, i.src[0]);                                      \
        [[maybe_unused]] auto b = read<Type::B>(w, i.src[1]);                                      \
        [[maybe_unused]] auto d = at<Type::D>(w, i.dst);                                           \
        [[maybe_unused]] u32 scc = w.scc();                                                        \
        auto r = static_cast<value_t<Type::D>>(expr);                                              \
        write<Type::D>(w, i.dst, r);                                                               \
        w.scc() = (__VA_ARGS__) ? 1 : 0;                                                           \
    }
#define SOPK(mn, D, expr, ...)                                                                     \
    void mn(Wave &w, const Inst &i) {                                                              \
        [[maybe_unused]] i32 b = i.imm;                                                            \
        [[maybe_unused]] auto d = at<Type::D>(w, i.dst);                                           \
        [[maybe_unused]] u32 scc = w.scc();                                                        \
        auto r = static_cast<value_t<Type::D>>(expr);                                              \
        write<Type::D>(w, i.dst, r);                                                               \
        w.scc() = (__VA_ARGS__) ? 1 : 0;                                                           \
    }
#define SCMP(mn, T, ...)                                                                           \
    void mn(Wave &w, const Inst &i) {                                                              \
        auto a = read<Type::T>(w, i.src[0]);                                                       \
        auto b = read<Type::T>(w, i.src[1]);                                                       \
        w.scc() = (__VA_ARGS__) ? 1 : 0;                                                           \
    }
#define SCMPB(mn, T, ...)                                                                          \
    void mn(Wave &w, const Inst &i) {                                                              \
        auto a = read<Type::T>(w, i.src[0]);                                                       \
        auto b = read<Type::u32>(w, i.src[1]);                                                     \
        w.scc() = (__VA_ARGS__) ? 1 : 0;                                                           \
    }
#define SCMPK(mn, T, ...)                                                                          \
    void mn(Wave &w, const Inst &i) {                                                              \
        auto a = at<Type::T>(w, i.dst);                                                            \
        auto b = static_cast<value_t<Type::T>>(Type::T == Type::u32 ? i.imm & 0xffff : i.imm);     \
        w.scc() = (__VA_ARGS__) ? 1 : 0;                                                           \
    }
#define SFP(...)
#define SFPX(...)
#define SCMPF(...)
#define SEXEC(mn, T, expr, returned)                                                               \
    void mn(Wave &w, const Inst &i) {                                                              \
        auto a = read<Type::T>(w, i.src[0]);                                                       \
        [[maybe_unused]] auto e = at<Type::T>(w, sreg::exec);                                      \
        auto r = static_cast<value_t<Type::T>>(expr);                                              \
        write<Type::T>(w, i.dst, returned);                                                        \
        write<Type::T>(w, sreg::exec, r);                                                          \
        w.scc() = r != 0;                                                                          \
    }
#include "sim/isa/tables/salu.inc"
#undef SOP
#undef SOPK
#undef SCMP
#undef SCMPB
#undef SCMPK
#undef SEXEC
#undef SFP
#undef SFPX
#undef SCMPF

} // namespace

Handler salu_handler(Op op) {
    switch (op) {
#define ROW(mn)                                                                                    \
    case Op::mn:                                                                                   \
        return mn;
#define SOP(mn, ...) ROW(mn)
#define SOPK(mn, ...) ROW(mn)
#define SCMP(mn, ...) ROW(mn)
#define SCMPB(mn, ...) ROW(mn)
#define SCMPK(mn, ...) ROW(mn)
#define SEXEC(mn, ...) ROW(mn)
#define SFP(mn, ...)
#define SFPX(mn, ...)
#define SCMPF(mn, ...)
#include "sim/isa/tables/salu.inc"
    default:
        return salu_float_handler(op);
    }
}

} // namespace nw::sim
