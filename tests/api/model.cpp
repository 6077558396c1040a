// SPDX-License-Identifier: MIT
// Every linear layer of a checkpoint that `nw pack` wrote, by the C API, compared with double:
//
//     model MODEL.safetensors [ROWS]        ROWS of activations, 1 to 8
//
// MODEL.json beside it has the offsets. The experts of a layer run one after another.
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <nlohmann/json.hpp>
#include <random>
#include <stdexcept>
#include <string>
#include <vector>

#define __HIP_PLATFORM_AMD__
#include <hip/hip_runtime_api.h>
#include <nibblewave.h>

#include "upload.h"

using Json = nlohmann::json;
using Bytes = std::vector<char>;

static void hip(hipError_t code, const char *what) {
    if (code != hipSuccess)
        throw std::runtime_error(std::string(what) + ": " + hipGetErrorName(code));
}

static void nw(nw_status status) {
    if (status != NW_OK)
        throw std::runtime_error(nw_last_error());
}

static Bytes read(const std::string &path) {
    std::ifstream in(path, std::ios::binary);
    if (!in)
        throw std::runtime_error(path + ": can't be read");
    return {std::istreambuf_iterator<char>(in), {}};
}

// ---- 16-bit floats: sufficient here, for normal numbers and zero

static double number(uint16_t bits, bool bf16) {
    const int mantissa_bits = bf16 ? 7 : 10, bias = bf16 ? 127 : 15;
    const int exponent = (bits & 0x7fff) >> mantissa_bits;
    const int fraction = bits & ((1 << mantissa_bits) - 1);
    const int whole = exponent ? fraction | 1 << mantissa_bits : fraction;
    const double size = std::ldexp(whole, std::max(exponent, 1) - bias - mantissa_bits);
    return exponent == (bf16 ? 255 : 31) ? NAN : bits & 0x8000 ? -size : size;
}

// The value converted to the type.
static uint16_t bits_of(float x, bool bf16) {
    const uint32_t bits = std::bit_cast<uint32_t>(x);
    if (bf16 || x == 0)
        return static_cast<uint16_t>(bits >> 16);
    return static_cast<uint16_t>((bits >> 16 & 0x8000) | ((bits & 0x7fffffff) - (112 << 23)) >> 13);
}

// ---- the packed file, on the host and on the device

class Model {
public:
    explicit Model(const std::string &path)
        : host_(read(path)), layout(Json::parse(read(path.substr(0, path.rfind('.')) + ".json"))) {
        uint64_t length = 0;
        std::memcpy(&length, host_.data(), sizeof length);
        header_ = Json::parse(host_.data() + 8, host_.data() + 8 + length);
        begin_ = 8 + length;
        hip(hipMalloc(&device_, host_.size() - begin_), "hipMalloc");
        hip(upload(device_, host_.data() + begin_, host_.size() - begin_), "upload");
    }
    ~Model() { static_cast<void>(hipFree(device_)); }
    Model(const Model &) = delete;

    const char *host(const std::string &tensor) const { return host_.data() + begin_ + at(tensor); }
    const char *device(const std::string &tensor) const {
        return static_cast<const char *>(device_) + at(tensor);
    }

private:
    uint64_t at(const std::string &tensor) const {
        return header_.at(tensor).at("data_offsets")[0];
    }

    Bytes host_;
    Json header_;
    uint64_t begin_ = 0;
    void *device_ = nullptr;

public:
    const Json layout;
};

template <class T> static T read_at(const char *from, uint64_t index) {
    T out;
    std::memcpy(&out, from + index * sizeof(T), sizeof(T));
    return out;
}

// One matrix: a layer, or an expert of one.
struct Linear {
    Linear(const Model &, const Json &row, uint32_t expert);

    const char *host(const char *key, uint64_t bytes_per_expert) const {
        return model.host(row.at(key)) + expert * bytes_per_expert;
    }
    const char *device(const char *key, uint64_t bytes_per_expert) const {
        return model.device(row.at(key)) + expert * bytes_per_expert;
    }
    double weight(uint32_t n, uint32_t k, double *scale) const;

    const Model &model;
    const Json &row;
    const uint32_t expert, n, k, group; // group: k where there is one scale a row
    const bool per_row, bf16;
    const uint64_t w_stride, w_bytes, s_bytes, zp_bytes;
};

Linear::Linear(const Model &model, const Json &row, uint32_t expert)
    : model(model), row(row), expert(expert), n(row.at("n")), k(row.at("k")),
      group(row.at("group") == -1 ? k : uint32_t{row.at("group")}), per_row(row.at("group") == -1),
      bf16(row.at("dtype") == "bf16"), w_stride(row.at("w_stride")), w_bytes(n * w_stride),
      s_bytes(uint64_t{2} * n * (k / group)), zp_bytes(uint64_t{4} * ((n + 7) / 8) * (k / group)) {}

double Linear::weight(uint32_t n, uint32_t k, double *scale) const {
    const uint32_t groups = this->k / group, g = k / group;
    const uint32_t word = read_at<uint32_t>(host("w", w_bytes) + n * w_stride, k / 8);
    const uint32_t q = word >> 4 * (k % 2 * 4 + k % 8 / 2) & 15;
    uint32_t zero = 8;
    if (row.contains("zp"))
        zero = read_at<uint32_t>(host("zp", zp_bytes), n / 8 * groups + g) >> 4 * (n % 8) & 15;
    *scale = number(read_at<uint16_t>(host("s", s_bytes), n * groups + g), bf16);
    return (static_cast<int>(q) - static_cast<int>(zero)) * *scale;
}

// ---- running one

class Runner {
public:
    explicit Runner(uint32_t rows) : rows_(rows) {
        nw(nw_context_create(nullptr, &context_));
        hip(hipStreamCreate(&stream_), "hipStreamCreate");
    }
    ~Runner() {
        static_cast<void>(hipStreamDestroy(stream_));
        nw_context_destroy(context_);
    }
    Runner(const Runner &) = delete;

    const char *gfx() const { return nw_context_gfx(context_); }
    // The largest difference from double, relative to the bound.
    double run(const Linear &);

private:
    std::vector<uint16_t> product(const Linear &, const std::vector<uint16_t> &a);
    void *permuted_product(nw_w4a16, const void *perm);

    const uint32_t rows_;
    nw_context *context_ = nullptr;
    hipStream_t stream_ = nullptr;
    std::mt19937 random_{1};
};

// One launch where it is taken, else two, with activations in memory of their own: returned.
void *Runner::permuted_product(nw_w4a16 p, const void *perm) {
    if (nw_permuted_linear_w4a16(context_, &p, perm, stream_) == NW_OK)
        return nullptr;
    nw_permutation permute = NW_PERMUTATION_INIT;
    permute.m = p.m, permute.k = p.k, permute.a = p.a, permute.perm = perm;
    hip(hipMalloc(&permute.y, uint64_t{2} * p.m * p.k), "hipMalloc");
    nw(nw_permute(context_, &permute, stream_));
    p.a = permute.y;
    nw(nw_linear_w4a16(context_, &p, stream_));
    return permute.y;
}

std::vector<uint16_t> Runner::product(const Linear &l, const std::vector<uint16_t> &a) {
    std::vector<uint16_t> c(uint64_t{rows_} * l.n);
    void *a_device = nullptr, *c_device = nullptr;
    hip(hipMalloc(&a_device, 2 * a.size()), "hipMalloc");
    hip(hipMalloc(&c_device, 2 * c.size()), "hipMalloc");
    hip(upload(a_device, a.data(), 2 * a.size()), "upload");

    nw_w4a16 p = NW_W4A16_INIT;
    p.dtype = l.bf16 ? NW_BF16 : NW_F16;
    p.m = rows_, p.n = l.n, p.k = l.k, p.group = l.per_row ? NW_PER_ROW : l.group;
    p.a = a_device, p.c = c_device;
    p.w = l.device("w", l.w_bytes), p.w_stride = l.w_stride;
    p.s = l.device("s", l.s_bytes), p.s_stride = l.row.at("s_stride");
    if (l.row.contains("zp")) {
        p.zeros = NW_ZEROS_PACKED;
        p.z = l.device("zp", l.zp_bytes), p.z_stride = l.row.at("zp_stride");
    }
    if (l.row.contains("bias"))
        p.bias = l.device("bias", 2 * l.n);
    void *permuted = nullptr;
    if (l.row.contains("perm")) // columns of w are in another order than the model's activations
        permuted = permuted_product(p, l.device("perm", uint64_t{4} * l.k));
    else
        nw(nw_linear_w4a16(context_, &p, stream_));

    hip(hipStreamSynchronize(stream_), "hipStreamSynchronize");
    hip(hipMemcpy(c.data(), c_device, 2 * c.size(), hipMemcpyDeviceToHost), "hipMemcpy");
    hip(hipFree(permuted), "hipFree");
    hip(hipFree(a_device), "hipFree");
    hip(hipFree(c_device), "hipFree");
    return c;
}

double Runner::run(const Linear &l) {
    // The model's activations, in double and in the layer's type.
    std::vector<double> x(uint64_t{rows_} * l.k);
    std::vector<uint16_t> a(x.size());
    for (double &value : x)
        value = (static_cast<int>(random_() % 257) - 128) / 64.0;
    const char *perm = l.row.contains("perm") ? l.host("perm", 4 * l.k) : nullptr;
    const auto column = [&](uint32_t j) { return perm ? read_at<uint32_t>(perm, j) : j; };
    for (uint32_t m = 0; m < rows_; ++m)
        for (uint32_t j = 0; j < l.k; ++j)
            a[m * l.k + j] = bits_of(static_cast<float>(x[m * l.k + j]), l.bf16);

    const std::vector<uint16_t> c = product(l, a);
    double worst = 0;
    for (uint32_t m = 0; m < rows_; ++m)
        for (uint32_t n = 0; n < l.n; ++n) {
            double exact = 0, sizes = 0, scale = 0;
            if (l.row.contains("bias"))
                exact = number(read_at<uint16_t>(l.host("bias", 2 * l.n), n), l.bf16);
            for (uint32_t j = 0; j < l.k; ++j) {
                const double value = x[m * l.k + column(j)];
                exact += value * l.weight(n, j, &scale);
                sizes += std::fabs(value * scale);
            }
            // The bound of nibblewave.h for the sum, and its rounding to the type.
            const double bound = (l.bf16 ? 0x1p-9 * sizes : 0x1p-11 * sizes) +
                                 (l.bf16 ? 0x1p-8 : 0x1p-11) * std::fabs(exact);
            const double off = std::fabs(number(c[m * l.n + n], l.bf16) - exact) / bound;
            worst = off <= worst ? worst : off; // NaN stays
        }
    return worst;
}

int main(int argc, char **argv) try {
    if (argc < 2)
        return std::fprintf(stderr, "usage: %s MODEL.safetensors [ROWS]\n", argv[0]), 2;
    Runner runner(argc > 2 ? static_cast<uint32_t>(std::stoul(argv[2])) : 1);
    const Model model(argv[1]);
    int matrices = 0;
    for (const Json &row : model.layout.at("linears"))
        for (uint32_t e = 0; e < row.value("experts", 1u); ++e, ++matrices) {
            const double off = runner.run(Linear(model, row, e));
            if (!(off <= 1))
                return std::printf("%s, expert %u: off by %g of what is allowed\n",
                                   row.at("name").get<std::string>().c_str(), e, off),
                       1;
        }
    std::printf("%s: %d matrices, all as in double\n", runner.gfx(), matrices);
    return matrices > 0 ? 0 : 1;
} catch (const std::exception &error) {
    std::fprintf(stderr, "model: %s\n", error.what());
    return 1;
}
