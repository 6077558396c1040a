// SPDX-License-Identifier: MIT
// nw_make_carriers: a product with its carriers equals one with the host's carriers to the bit, in
// graphs too; and each of its rules, broken one at a time.
#include <fmt/format.h>
#include <functional>

#include "api/product.h"

using namespace api_test;

namespace {

// A product with carriers that the host made, and the same one's scales and zero points.
class Both {
public:
    explicit Both(Shape shape)
        : product(with(shape, NW_ZEROS_CARRIER)), parts_(with(shape, NW_ZEROS_PACKED)),
          made_(u64{shape.n} * product.arguments().s_stride) {
        const nw_w4a16 &from = parts_.arguments();
        arguments.dtype = from.dtype, arguments.n = from.n, arguments.k = from.k;
        arguments.group = from.group, arguments.s = from.s, arguments.z = from.z;
        arguments.s_stride = from.s_stride, arguments.z_stride = from.z_stride;
        arguments.carrier = made_.data, arguments.carrier_stride = product.arguments().s_stride;
        HIP_OK(hipMemset(made_.data, 0xff, made_.size));
        HIP_OK(hipDeviceSynchronize());
    }

    // The product, with what `arguments` make.
    nw_w4a16 with_made() const {
        nw_w4a16 out = product.arguments();
        out.s = made_.data;
        return out;
    }
    bool untouched() const {
        std::vector<u8> now(made_.size);
        HIP_OK(hipDeviceSynchronize());
        HIP_OK(hipMemcpy(now.data(), made_.data, now.size(), hipMemcpyDeviceToHost));
        return now == std::vector<u8>(now.size(), 0xff);
    }

    Product product;
    nw_carriers arguments = NW_CARRIERS_INIT;

private:
    static Product with(Shape shape, int zeros) {
        shape.zeros = zeros;
        return Product(shape);
    }
    const Product parts_;
    const Memory made_;
};

std::vector<u16> with_the_hosts(nw_context *context, Both &both) {
    NW_DONE(nw_linear_w4a16(context, &both.product.arguments(), nullptr));
    std::vector<u16> out = both.product.result();
    both.product.clear();
    return out;
}

} // namespace

TEST_CASE("a product with carriers of the device's making") {
    const Context context;
    for (const int dtype : {NW_BF16, NW_F16})
        for (const u32 group : {32u, 64u, 128u})
            for (const u32 m : {1u, 20u})
                for (const u32 padding : {0u, 6u}) {
                    CAPTURE(
                        fmt::format("dtype {} group {} m {} padding {}", dtype, group, m, padding));
                    Both both({.dtype = dtype,
                               .m = m,
                               .n = 45,
                               .k = 384,
                               .group = group,
                               .padding = padding});
                    const std::vector<u16> want = with_the_hosts(context, both);
                    NW_DONE(nw_make_carriers(context, &both.arguments, nullptr));
                    const nw_w4a16 p = both.with_made();
                    NW_DONE(nw_linear_w4a16(context, &p, nullptr));
                    CHECK(both.product.result() == want);
                    CHECK_EQ(both.product.difference(), "");
                }
}

TEST_CASE("carriers are made and used in a graph, once prepared") {
    const Stream stream;
    Both both({.m = 9});
    const std::vector<u16> want = with_the_hosts(Context(), both);
    const Context context;
    HIP_OK(hipStreamBeginCapture(stream, hipStreamCaptureModeGlobal));
    CHECK_EQ(nw_make_carriers(context, &both.arguments, stream), NW_NOT_PREPARED);
    CHECK_MESSAGE(said("carrier_w4a16_f16 is not loaded and the stream is capturing: call "
                       "nw_prepare for this product before capture"),
                  nw_last_error());
    Graph{stream};

    const nw_w4a16 p = both.with_made();
    NW_DONE(nw_prepare(context, &p));
    HIP_OK(hipStreamBeginCapture(stream, hipStreamCaptureModeGlobal));
    NW_DONE(nw_make_carriers(context, &both.arguments, stream));
    NW_DONE(nw_linear_w4a16(context, &p, stream));
    Graph graph(stream);
    CHECK(both.untouched());
    graph.launch(stream);
    HIP_OK(hipStreamSynchronize(stream));
    CHECK(both.product.result() == want);
}

TEST_CASE("every rule of nw_make_carriers, broken one at a time") {
    using C = nw_carriers;
    struct Bad {
        const char *says; // must be in the message
        std::function<void(C &)> breaks;
    };
    const auto behind = [](const void *p, u64 bytes) {
        return reinterpret_cast<void *>(reinterpret_cast<u64>(p) + bytes);
    };
    // 40 rows of 2 groups: 4 bytes of s, 8 of carriers; 5 rows of 8 of z.
    const Bad cases[] = {
        {"size = 8: must be sizeof(nw_carriers)", [](C &c) { c.size = 8; }},
        {"dtype = 2: must be NW_BF16 (0) or NW_F16 (1)", [](C &c) { c.dtype = 2; }},
        {"n = 0: must be 1..67108864", [](C &c) { c.n = 0; }},
        {"n = 67108865: must be 1..67108864; make more rows in", [](C &c) { c.n = 67108865; }},
        {"group = 48: must be 32, 64 or 128; repeat", [](C &c) { c.group = 48; }},
        {"group = 4294967295: must be 32", [](C &c) { c.group = NW_PER_ROW; }},
        {"k = 0: must be a positive multiple of the group size 128", [](C &c) { c.k = 0; }},
        {"k = 200: must be a multiple of the group size 128; pad", [](C &c) { c.k = 200; }},
        {"s is null", [](C &c) { c.s = nullptr; }},
        {"z is null", [](C &c) { c.z = nullptr; }},
        {"carrier is null", [](C &c) { c.carrier = nullptr; }},
        {": must be 2-byte aligned", [&](C &c) { c.s = behind(c.s, 1); }},
        {": must be 4-byte aligned", [&](C &c) { c.z = behind(c.z, 2); }},
        {": must be 4-byte aligned", [&](C &c) { c.carrier = behind(c.carrier, 2); }},
        {"s_stride = 2: must be at least a row, 2*K/G = 4", [](C &c) { c.s_stride = 2; }},
        {"s_stride = 5: must be a multiple of 2; pad to 6", [](C &c) { c.s_stride = 5; }},
        {"s_stride = 4294967296: must be below", [](C &c) { c.s_stride = u64{1} << 32; }},
        {"z_stride = 4: must be at least a row, 4*K/G = 8", [](C &c) { c.z_stride = 4; }},
        {"z_stride = 10: must be a multiple of 4", [](C &c) { c.z_stride = 10; }},
        {"z_stride = 4294967296: must be below", [](C &c) { c.z_stride = u64{1} << 32; }},
        {"carrier_stride = 4: must be at least a row, 4*K/G = 8",
         [](C &c) { c.carrier_stride = 4; }},
        {"carrier_stride = 10: must be a multiple of 4", [](C &c) { c.carrier_stride = 10; }},
        {"carrier_stride = 4294967296: must be below",
         [](C &c) { c.carrier_stride = u64{1} << 32; }},
        {"overlaps s = ", [&](C &c) { c.carrier = behind(c.s, 4 * 39); }},
        {"overlaps s = ", [&](C &c) { c.s = behind(c.carrier, 8 * 39 + 6); }},
        {"overlaps z = ", [&](C &c) { c.carrier = behind(c.z, 8 * 4 + 4); }},
    };
    const Context context;
    const Both both({});
    for (const Bad &bad : cases) {
        C c = both.arguments;
        bad.breaks(c);
        CAPTURE(bad.says);
        CHECK_EQ(nw_make_carriers(context, &c, nullptr), NW_INVALID_ARGUMENT);
        CHECK_MESSAGE(said(bad.says), nw_last_error());
        CHECK(both.untouched());
    }
    CHECK_EQ(nw_make_carriers(nullptr, &both.arguments, nullptr), NW_INVALID_ARGUMENT);
    CHECK_EQ(nw_make_carriers(context, nullptr, nullptr), NW_INVALID_ARGUMENT);
    CHECK(said("product is null: it must point to an nw_carriers"));
    NW_DONE(nw_make_carriers(context, &both.arguments, nullptr)); // nothing else was wrong
    CHECK_FALSE(both.untouched());
}
