// SPDX-License-Identifier: MIT
#include "measure/gguf_moe_product.h"

#include <vector>

#include "base/median.h"
#include "measure/cold_product.h"
#include "measure/launch_timer.h"
#include "runtime/gguf_mid.h"
#include "runtime/moe_align.h"

namespace nw {

namespace {

constexpr u64 page = 4096;

// The operands on a device, all 0 but the lists.
class Layer {
public:
    // With the weights of one expert, then so many times those of all.
    Layer(const hip::Device &device, const GgufMoeKernels &kernels, const GgufMoeShape &shape,
          std::span<const i32> routes, u64 copies)
        : kernels_(kernels), shape_(shape), device_(device), modules_(device),
          block_(kernels.align ? kernels.product->number("bm") : 1),
          blocks_(static_cast<u32>(aligned_blocks(shape.slots(), shape.experts, block_))),
          begin_(round_up(shape.expert_bytes(), page)),
          each_(round_up(shape.experts * shape.expert_bytes(), page)),
          w_(device.allocate(begin_ + copies * each_)),
          x_(device.allocate(u64{4} * shape.rows() * shape.k)),
          a_(device.allocate(gguf_activation_bytes(kernels, shape))),
          c_(device.allocate(u64{4} * shape.slots() * shape.n)),
          routes_(device.allocate(4 * routes.size())),
          slot_ids_(device.allocate(u64{4} * blocks_ * block_)),
          block_experts_(device.allocate(u64{4} * blocks_)), used_(device.allocate(4)),
          none_(device.allocate(u64{4} * block_)) {
        x_.fill(0);
        none_.fill(0);
        if (!device.info().simulated) // whose memory is 0 as it is
            w_.fill(0);
        routes_.upload(routes.data(), 4 * routes.size());
        for (const Kernel *kernel : {kernels.convert, kernels.align, kernels.product})
            if (kernel)
                modules_.function(*kernel); // loading is no part of the time
    }

    void convert() {
        const u32 rows = shape_.rows(), k = shape_.k;
        if (kernels_.align)
            launch(modules_, *kernels_.convert,
                   GgufHalves{rows, k, x_.data(), u64{4} * k, a_.data(), true});
        else
            launch(modules_, *kernels_.convert,
                   QuantizeQ8{rows, k, x_.data(), u64{4} * k, a_.data(), true});
    }
    void align() {
        launch(modules_, MoeAlign{shape_.slots(), shape_.experts, block_, blocks_, routes_.data(),
                                  slot_ids_.data(), block_experts_.data(), used_.data()});
    }
    // By all experts of a copy.
    void multiply(u64 copy) {
        const GgufExperts of = experts(begin_ + copy * each_, shape_.slots());
        if (kernels_.align)
            launch(modules_, *kernels_.product,
                   GgufMoeBlocks{of, block_, used_blocks(), a_.data(), block_experts_.data(),
                                 slot_ids_.data()});
        else
            launch(modules_, *kernels_.product, GgufMoeDecode{of, a_.data(), routes_.data()});
    }
    // One slot, or a block, by the one before.
    void warm() {
        if (kernels_.align)
            launch(modules_, *kernels_.product,
                   GgufMoeBlocks{experts(0, 1), block_, 1, a_.data(), none_.data(), none_.data()});
        else
            launch(modules_, *kernels_.product,
                   GgufMoeDecode{experts(0, 1), a_.data(), none_.data()});
    }
    // Of the lists; waits for them.
    void find_used() {
        i32 entries = 0;
        used_.download(&entries, sizeof entries);
        used_blocks_ = static_cast<u32>(entries) / block_;
    }

private:
    u32 used_blocks() const { return used_blocks_; }
    GgufExperts experts(u64 from, u32 slots) const {
        return {shape_.type,
                shape_.n,
                shape_.k,
                shape_.experts,
                slots,
                shape_.slots_per_row(),
                static_cast<const std::byte *>(w_.data()) + from,
                shape_.expert_bytes(),
                c_.data()};
    }

    const GgufMoeKernels kernels_;
    const GgufMoeShape shape_;
    const hip::Device &device_;
    Modules modules_;
    const u32 block_, blocks_;
    const u64 begin_, each_;
    u32 used_blocks_ = 0;
    hip::Buffer w_, x_, a_, c_, routes_, slot_ids_, block_experts_, used_, none_;
};

} // namespace

u64 gguf_activation_bytes(const GgufMoeKernels &kernels, const GgufMoeShape &shape) {
    return kernels.align ? gguf_halves_bytes(shape.rows(), shape.k)
                         : q8_bytes(shape.rows(), shape.k);
}

GgufMoeTimes time_gguf_moe(const hip::Device &device, const GgufMoeKernels &kernels,
                           const GgufMoeShape &shape, std::span<const i32> routes, u32 runs,
                           const std::function<void(const Kernel &)> &launched) {
    const u64 bytes = shape.experts * shape.expert_bytes();
    const u64 copies = runs == 1 ? 1 : 2 + cold_rest / bytes;
    Layer layer(device, kernels, shape, routes, copies);
    const LaunchTimer timer(device, launched);
    const auto convert = [&] { return timer.us(*kernels.convert, [&] { layer.convert(); }); };
    const auto align = [&] { return timer.us(*kernels.align, [&] { layer.align(); }); };
    convert();
    if (kernels.align) {
        align();
        layer.find_used();
    }
    timer.us(*kernels.product, [&] { layer.warm(); });
    std::vector<f64> converts, aligns, products;
    for (u64 i = 0; i < runs; ++i) {
        converts.push_back(convert());
        if (kernels.align)
            aligns.push_back(align());
        products.push_back(timer.us(*kernels.product, [&] { layer.multiply(i % copies); }));
    }
    const GgufMoeTimes out{upper_median(products), upper_median(converts),
                           kernels.align ? upper_median(aligns) : 0};
    need_time(device, out.us);
    need_time(device, out.convert_us);
    return out;
}

} // namespace nw
