// SPDX-License-Identifier: MIT
// nw_permuted_linear_w4a16 and nw_permute: one launch is to the bit the two, in graphs too; and
// what they refuse.
#include <cstring>
#include <fmt/format.h>

#include "api/product.h"
#include "kernels/permutation.h"

using namespace api_test;

namespace {

std::vector<u8> bytes_of(const std::vector<u32> &words) {
    std::vector<u8> out(words.size() * sizeof(u32));
    std::memcpy(out.data(), words.data(), out.size());
    return out;
}

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
