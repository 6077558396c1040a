// SPDX-License-Identifier: MIT
// nw_permuted_linear_w4a16 and nw_permute: one launch is to the bit the two, in graphs too; and
// their refusals.
#include <fmt/format.h>

#include "api/product.h"
#include "kernels/permutation.h"

using namespace api_test;

namespace {

// A product whose activations are in the order of a list, and the list.
struct Permuted {
    explicit Permuted(const Shape &shape)
        : product(shape), perm(bytes_of(permutation(shape.k, rng))), y(u64{2} * shape.m * shape.k) {
        permute.m = shape.m, permute.k = shape.k;
        permute.a = product.arguments().a, permute.perm = perm.data, permute.y = y.data;
    }
    nw_w4a16 of_y() const {
        nw_w4a16 out = product.arguments();
        out.a = y.data;
        return out;
    }

    Rng rng{7};
    Product product;
    const Memory perm, y;
    nw_permutation permute = NW_PERMUTATION_INIT;
};

} // namespace

TEST_CASE("one launch is to the bit the two") {
    const Context context;
    for (const int dtype : {NW_BF16, NW_F16})
        for (const int zeros : {NW_ZEROS_EIGHT, NW_ZEROS_PACKED})
            for (const u32 group : {32u, 128u})
                for (const u32 m : {1u, 3u, 4u}) {
                    CAPTURE(fmt::format("dtype {} zeros {} group {} m {}", dtype, zeros, group, m));
                    Permuted p({.dtype = dtype,
                                .zeros = zeros,
                                .m = m,
                                .n = 45,
                                .k = 1408,
                                .group = group});
                    NW_DONE(nw_permute(context, &p.permute, nullptr));
                    const nw_w4a16 two = p.of_y();
                    NW_DONE(nw_linear_w4a16(context, &two, nullptr));
                    const std::vector<u16> want = p.product.result();
                    CHECK_NE(p.product.difference(), ""); // another order is another product
                    p.product.clear();
                    NW_DONE(nw_permuted_linear_w4a16(context, &p.product.arguments(), p.perm.data,
                                                     nullptr));
                    CHECK(p.product.result() == want);
                }
}

TEST_CASE("act-order of any number of rows is to the bit the two launches") {
    const Context context;
    struct Case {
        Shape shape;
        bool one; // launch
    };
    const Case cases[] = {
        {{.m = 1, .k = 512}, true},
        {{.dtype = NW_BF16, .zeros = NW_ZEROS_PACKED, .m = 4, .k = 512}, true},
        {{.zeros = NW_ZEROS_TYPED, .m = 1, .k = 512}, false},
        {{.m = 2, .n = 24, .k = 512, .silu = true}, false},
        {{.m = 2, .n = 8, .k = 8320}, false},
        {{.m = 5, .k = 512}, false},
        {{.dtype = NW_BF16, .zeros = NW_ZEROS_PACKED, .m = 8, .k = 512}, false},
        {{.m = 9, .k = 512}, false},
        {{.dtype = NW_BF16, .m = 70, .k = 512}, false},
    };
    for (const auto &[shape, one] : cases) {
        CAPTURE(fmt::format("m {} n {} k {} zeros {}", shape.m, shape.n, shape.k, shape.zeros));
        Permuted p(shape);
        NW_DONE(nw_permute(context, &p.permute, nullptr));
        const nw_w4a16 two = p.of_y();
        NW_DONE(nw_linear_w4a16(context, &two, nullptr));
        const std::vector<u16> want = p.product.result();
        p.product.clear();
        u64 bytes = 1;
        NW_DONE(nw_act_order_workspace_size(context, &p.product.arguments(), &bytes));
        CHECK_EQ(bytes, one ? 0 : u64{2} * shape.m * shape.k);
        const Memory workspace(bytes);
        NW_DONE(nw_act_order_linear_w4a16(context, &p.product.arguments(), p.perm.data,
                                          one ? nullptr : workspace.data, bytes, nullptr));
        CHECK(p.product.result() == want);
    }
}

TEST_CASE("act-order in a graph, once prepared") {
    const Context context;
    const Stream stream;
    for (const u32 m : {3u, 70u}) {
        Permuted p({.m = m, .k = 256});
        const Memory workspace(u64{2} * m * 256);
        const auto launch = [&] {
            return nw_act_order_linear_w4a16(context, &p.product.arguments(), p.perm.data,
                                             workspace.data, workspace.size, stream);
        };
        HIP_OK(hipStreamBeginCapture(stream, hipStreamCaptureModeGlobal));
        CHECK_EQ(launch(), NW_NOT_PREPARED);
        CHECK_MESSAGE(said("nw_act_order_prepare"), nw_last_error());
        CHECK_EQ(Graph{stream}.nodes(), 0);
        nw_w4a16 all = p.product.arguments();
        all.m = m < 8 ? 0 : m;
        NW_DONE(nw_act_order_prepare(context, &all));
        HIP_OK(hipStreamBeginCapture(stream, hipStreamCaptureModeGlobal));
        NW_DONE(launch());
        CHECK_EQ(Graph{stream}.nodes(), m == 3 ? 1 : 2);
    }
}

TEST_CASE("act-order says what its workspace must be") {
    const Context context;
    Permuted p({.m = 5, .k = 256});
    p.product.clear();
    const Memory workspace(u64{2} * 5 * 256 + 8);
    const auto refused = [&](void *at, u64 bytes, const char *part) {
        CHECK_EQ(nw_act_order_linear_w4a16(context, &p.product.arguments(), p.perm.data, at, bytes,
                                           nullptr),
                 NW_INVALID_ARGUMENT);
        CHECK_MESSAGE(said(part), nw_last_error());
        CHECK(p.product.untouched());
    };
    refused(nullptr, 2560, "workspace is null, workspace_bytes = 2560: it must point to");
    refused(workspace.data, 2559, "workspace_bytes = 2559: must be at least 2560");
    refused(static_cast<u8 *>(workspace.data) + 8, 2560, "16-byte aligned");
}

TEST_CASE("the order as it is changes nothing") {
    const Context context;
    Permuted p({.m = 2, .k = 512});
    std::vector<u32> same(512);
    std::iota(same.begin(), same.end(), 0);
    const Memory list(bytes_of(same));
    NW_DONE(nw_permuted_linear_w4a16(context, &p.product.arguments(), list.data, nullptr));
    CHECK_EQ(p.product.difference(), "");
}

TEST_CASE("permuted products in a graph, once prepared") {
    const Context context;
    const Stream stream;
    Permuted p({.m = 1, .k = 256});
    HIP_OK(hipStreamBeginCapture(stream, hipStreamCaptureModeGlobal));
    CHECK_EQ(nw_permuted_linear_w4a16(context, &p.product.arguments(), p.perm.data, stream),
             NW_NOT_PREPARED);
    CHECK_MESSAGE(said("nw_permute_prepare"), nw_last_error());
    CHECK_EQ(nw_permute(context, &p.permute, stream), NW_NOT_PREPARED);
    Graph{stream};
    NW_DONE(nw_permute_prepare(context, &p.product.arguments()));
    HIP_OK(hipStreamBeginCapture(stream, hipStreamCaptureModeGlobal));
    NW_DONE(nw_permute(context, &p.permute, stream));
    NW_DONE(nw_permuted_linear_w4a16(context, &p.product.arguments(), p.perm.data, stream));
    Graph{stream};
}

TEST_CASE("what takes nw_permute is refused") {
    const Context context;
    const auto refused = [&](const Shape &shape, const char *part) {
        Permuted p(shape);
        p.product.clear();
        CHECK_EQ(nw_permuted_linear_w4a16(context, &p.product.arguments(), p.perm.data, nullptr),
                 NW_INVALID_ARGUMENT);
        CHECK_MESSAGE(said(part), nw_last_error());
        CHECK(p.product.untouched());
        NW_DONE(nw_permute_prepare(context, &p.product.arguments()));
        NW_DONE(nw_permute(context, &p.permute, nullptr));
    };
    refused({.m = 5}, "permute");
    refused({.m = 2, .k = 8320}, "at most 8192");
    refused({.zeros = NW_ZEROS_TYPED}, "packed zero points, or none");
    Permuted p({});
    CHECK_EQ(nw_permuted_linear_w4a16(context, &p.product.arguments(), nullptr, nullptr),
             NW_INVALID_ARGUMENT);
    CHECK_MESSAGE(said("perm"), nw_last_error());
    p.permute.k = 12;
    CHECK_EQ(nw_permute(context, &p.permute, nullptr), NW_INVALID_ARGUMENT);
    CHECK_MESSAGE(said("multiple of 8"), nw_last_error());
}
