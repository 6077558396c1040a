// SPDX-License-Identifier: MIT
// Products timed on a simulated part, weights cold, all cores at work.
#pragma once
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "bench/options.h"
#include "bench/stats.h"
#include "measure/cold_product.h"

namespace nw::bench {

// A product to time, by the kernel that the library chooses for it.
struct DecodeJob {
    ProductShape shape;
    std::string model, layer;
    const Kernel *kernel = nullptr;
    Workgroups workgroups = Workgroups::stay;
};

// VALU issue slots per 8 weights and lane of a whole kernel.
f64 slots_per_8_weights(const Instructions &, const ProductShape &);

struct DecodeTime {
    f64 us = 0;
    f64 slots = 0; // per 8 weights

    f64 gb_per_s(u64 bytes) const { return static_cast<f64>(bytes) / us / 1e3; }
};

// What DRAM of a part gives at most, as the model has it.
struct Bound {
    f64 gb_per_s = 0;    // sustained
    f64 overhead_us = 0; // of a launch of nothing
    f64 us(const ProductShape &p) const {
        return static_cast<f64>(p.bytes_moved()) / gb_per_s / 1e3;
    }
};
Bound dram_bound(const std::string &gfx);

// Call it before a device is opened.
std::vector<DecodeTime> time_decode(const std::vector<DecodeJob> &);

// "2048x2048 g128 bf16 sym m1", K before N; zp: packed zero points, zt: typed.
std::string name(const ProductShape &);
std::string type_name(const ProductShape &); // "bf16 sym m1"
// Both in columns of 12, 4 and 11 characters.
std::string columns(const ProductShape &);

// The gfx that --device names, gfx1151 where it names none. Throws Usage for a card.
std::string simulated_gfx(const Options &);

nlohmann::json to_json(const DecodeJob &, const DecodeTime &, const Bound &);

} // namespace nw::bench
