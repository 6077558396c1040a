// SPDX-License-Identifier: MIT
#include "measure/gguf_moe_product.h"

#include <fmt/format.h>
#include <vector>

#include "base/error.h"
#include "base/median.h"
#include "measure/cold_product.h"
#include "measure/launch_timer.h"

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
          machine_(machine_of(device)), op_(shape.op()), block_(kernels.block_size()),
          blocks_(static_cast<u32>(most_blocks(kernels, shape))),
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
        Op op = before(0);
        op.y = address(a_.data());
        launch(modules_, *kernels_.convert, op);
    }
    void align() {
        Op op = before(1);
        op.sorted_token_ids = address(slot_ids_.data());
        op.expert_ids = address(block_experts_.data());
        op.num_tokens_post_padded = address(used_.data());
        launch(modules_, *kernels_.align, op);
    }
    // By all experts of a copy.
    void multiply(u64 copy) {
        Op op = product(begin_ + copy * each_);
        op.expert_ids = address(kernels_.align ? block_experts_.data() : routes_.data());
        op.slot_ids = address(slot_ids_.data());
        op.blocks = used_blocks_;
        launch(modules_, *kernels_.product, op);
    }
    // One slot, or a block, by the one before.
    void warm() {
        Op op = product(0);
        op.slots = 1;
        op.expert_ids = op.slot_ids = address(none_.data());
        op.blocks = 1;
        launch(modules_, *kernels_.product, op);
    }
    // Of the lists; waits for them.
    void find_used() {
        i32 entries = 0;
        used_.download(&entries, sizeof entries);
        used_blocks_ = static_cast<u32>(entries) / block_;
    }

private:
    static u64 most_blocks(const GgufMoeKernels &kernels, const GgufMoeShape &shape) {
        if (!kernels.align)
            return shape.slots();
        const Before &lists = kernels.product->contract->before[1];
        const Machine machine = usual_machine(kernels.product->gfx);
        Op op = lists.op(shape.op(), *kernels.product, machine);
        kernels.align->contract->settle(op, *kernels.align, machine);
        return op.blocks;
    }
    Op before(u64 number) const {
        Op op = op_;
        op.x = address(x_.data());
        op.x_stride = u64{4} * shape_.k;
        op.expert_ids = address(routes_.data());
        return kernels_.product->contract->before[number].op(op, *kernels_.product, machine_);
    }
    Op product(u64 from) const {
        Op op = op_;
        op.a = address(a_.data());
        op.w = address(w_.data()) + from;
        op.w_expert = shape_.expert_bytes();
        op.c = address(c_.data());
        return op;
    }

    const GgufMoeKernels kernels_;
    const GgufMoeShape shape_;
    const hip::Device &device_;
    Modules modules_;
    const Machine machine_;
    const Op op_;
    const u32 block_, blocks_;
    const u64 begin_, each_;
    u32 used_blocks_ = 0;
    hip::Buffer w_, x_, a_, c_, routes_, slot_ids_, block_experts_, used_, none_;
};

} // namespace

Op GgufMoeShape::op() const {
    Op op{.kind = OpKind::moe_gguf};
    op.type = find_word(type);
    op.n = n;
    op.k = k;
    op.experts = experts;
    op.slots = slots();
    op.top_k = slots_per_row();
    return op;
}

namespace {

GgufMoeKernels kernels_of(const Plan &p) {
    GgufMoeKernels out{nullptr, nullptr, p.kernel};
    p.each_kernel([&](const Kernel &k) {
        if (&k != p.kernel)
            (out.convert ? out.align : out.convert) = &k;
    });
    return out;
}

} // namespace

GgufMoeKernels choose_gguf_moe_kernels(std::string_view gfx, const GgufMoeShape &shape) {
    return kernels_of(plan(shape.op(), usual_machine(gfx)));
}

GgufMoeKernels gguf_moe_kernels(std::string_view gfx, const GgufMoeShape &shape, u32 block_size) {
    for (const Kernel *kernel : kernels_for(gfx, shape.op()))
        if (const auto found = kernels_of(plan(shape.op(), *kernel, usual_machine(gfx)));
            found.block_size() == block_size)
            return found;
    throw Error(
        fmt::format("block_size = {}: no kernel of {} takes such blocks", block_size, shape.type));
}

u64 gguf_activation_bytes(const GgufMoeKernels &kernels, const GgufMoeShape &shape) {
    const Machine machine = usual_machine(kernels.product->gfx);
    const Before &before = kernels.product->contract->before.front();
    return before.gives.front().bytes(before.op(shape.op(), *kernels.product, machine),
                                      *kernels.convert, machine);
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
