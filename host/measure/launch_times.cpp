// SPDX-License-Identifier: MIT
#include "measure/launch_times.h"

#include <algorithm>
#include <fmt/format.h>
#include <vector>

#include "base/error.h"
#include "base/median.h"
#include "measure/cold_product.h"

namespace nw {

namespace {

constexpr u64 aligned_rows = 16; // a multiple of 16 rows is aligned for kernels of every type

// Largest scratch memory of a launch over n rows or fewer, in bytes.
u64 most_scratch(const Scratch &scratch, const Kernel &kernel, Op op, const Machine &machine) {
    if (!scratch.bytes)
        return operand_bytes(kernel.contract->operands, scratch.argument, op, kernel, machine);
    Op few = op; // has the smallest share
    few.n = kernel.rows_per_workgroup;
    kernel.contract->derive(few, kernel, machine);
    op.share = few.share;
    return scratch.bytes(op, kernel, machine);
}

// True if an earlier launch produces the argument, or if it is scratch memory.
bool is_made(const Family &f, u64 Op::*argument) {
    return std::ranges::any_of(f.before,
                               [&](const Before &before) {
                                   return std::ranges::count(before.gives, argument,
                                                             &Gives::argument) > 0;
                               }) ||
           std::ranges::count(f.scratch, argument, &Scratch::argument) > 0;
}

// The operands on a device, all 0 except the lists.
class Launches {
public:
    // Weights for the warm-up round, then the product's: one copy for one run, else enough copies
    // that each is evicted before it is reused.
    Launches(const hip::Device &device, const TimedLaunches &of, u32 runs, Warm warm)
        : kernel_(of.product), routes_(of.routes), device_(device), modules_(device),
          machine_(machine_of(device)), rows_(of.rows), op_(of.sizes) {
        op_.x_stride = 4 * op_.k;
        const u64 row = bytes_of_row();
        const u64 of_column = gate_and_up() ? 2 * row : row;
        if (op_.experts)
            op_.w_expert = op_.n * of_column;
        if (op_.kind == OpKind::moe_gguf_act)
            op_.w_row = of_column, op_.bias_row = 4, op_.bias_expert = 4 * op_.n;
        const u64 unit = op_.experts ? page : aligned_rows * row;
        round_ = warm == Warm::no ? 0
                 : op_.experts
                     ? op_.n
                     : std::min<u64>(op_.n, device.info().wgps * kernel_.rows_per_workgroup);
        begin_ = round_up(round_ * of_column, unit);
        each_ = round_up(std::max<u64>(op_.experts, 1) * op_.n * of_column, unit);
        copies_ = runs == 1 ? 1 : 2 + cold_rest / each_;
        weight_bytes_ = begin_ + copies_ * each_;
        // Keep the order of allocations, for comparable figures: addresses of buffers and code
        // change times by up to a percent.
        if (warm == Warm::no)
            load();
        else
            allocate_weights();
        allocate_all(begin_ / row);
        if (warm == Warm::yes)
            load();
        allocate_scratch(begin_ / row);
    }

    void before(u64 number) { launch(modules_, *made_[number].kernel, made_[number].op); }
    u64 before_count() const { return made_.size(); }
    const Kernel &before_kernel(u64 number) const { return *made_[number].kernel; }
    // The product with this run's copy of the weights.
    void multiply(u64 run) {
        Op op = op_;
        op.w += begin_ + run % copies_ * each_;
        if (gate_and_up())
            op.w_up = op.w + op.w_row / 2;
        launch(modules_, kernel_, op);
    }
    // One round of rows, one slot or one block, with the weights of the warm-up.
    void warm() {
        Op op = op_;
        op.n = round_;
        if (op.experts)
            op.slots = op.blocks = 1, op.expert_ids = op.slot_ids = none_;
        if (gate_and_up())
            op.w_up = op.w + op.w_row / 2;
        launch(modules_, kernel_, op);
    }
    // Reads the number of blocks from the lists, after the launch that makes them; waits for it.
    void count_blocks() {
        if (!lists_before(kernel_))
            return;
        i32 entries = 0;
        memory_[used_].download(&entries, sizeof entries);
        op_.blocks = static_cast<u32>(entries) / kernel_.p.bm;
    }

private:
    // True if rows of an expert's gate and up alternate.
    bool gate_and_up() const {
        return op_.kind == OpKind::moe_gguf_act && op_.act == word("swiglu");
    }
    u64 bytes_of_row() const {
        Op one = op_;
        one.n = one.experts = 1;
        return operand_bytes(kernel_.contract->operands, &Op::w, one, kernel_, machine_);
    }
    u64 allocate(u64 bytes) {
        return address(memory_.emplace_back(device_.allocate(bytes)).data());
    }
    // Memory for an input that no earlier launch produces.
    u64 input(const Operand &operand, u64 bytes) {
        const u64 at = allocate(bytes);
        if (operand.argument == (lists_before(kernel_) ? &Op::topk_ids : &Op::expert_ids))
            memory_.back().upload(routes_.data(), routes_.size_bytes());
        else if (operand.argument == &Op::x)
            memory_.back().fill(0);
        return at;
    }
    // Operands and results of a launch before the product's.
    void allocate_before(const Before &before) {
        Made made{&kernel_before(before, kernel_), before.op(op_, kernel_, machine_)};
        made.kernel->contract->settle(made.op, *made.kernel, machine_);
        for (const Operand &operand : made.kernel->contract->operands) {
            made.op.*operand.argument =
                input(operand, operand.bytes(made.op, *made.kernel, machine_));
            if (operand.argument == &Op::num_tokens_post_padded)
                used_ = memory_.size() - 1;
        }
        for (const Gives &gives : before.gives)
            op_.*gives.argument = made.op.*gives.result;
        made_.push_back(made);
    }
    // Operands of the launch that quantizes activations.
    void allocate_rows() {
        Made made{&choose(device_.info().gfx, *rows_), *rows_};
        made.kernel->contract->settle(made.op, *made.kernel, machine_);
        for (const Operand &operand : made.kernel->contract->operands)
            made.op.*operand.argument =
                input(operand, operand.bytes(made.op, *made.kernel, machine_));
        op_.a = made.op.y, op_.a_scale = made.op.y_scale;
        made_.push_back(made);
    }
    // Loading is not timed. Addresses of code change times, so keep the order for comparable
    // figures: the kernel of a dense product first, of experts last.
    void load() {
        if (!op_.experts)
            modules_.function(kernel_);
        if (rows_)
            modules_.function(choose(device_.info().gfx, *rows_));
        for (const Before &before : kernel_.contract->before)
            modules_.function(kernel_before(before, kernel_));
        modules_.function(kernel_);
    }
    void allocate_weights() {
        op_.w = allocate(weight_bytes_);
        if (!device_.info().simulated) // simulated memory starts as 0
            memory_.back().fill(0);
    }
    // c and scratch also have room for the rows of the warm-up round.
    Op with_round(u64 rows) const {
        Op op = op_;
        if (!op.experts)
            op.n = std::min(rows + op.n, 2 * op.n);
        return op;
    }
    void allocate_all(u64 round_rows) {
        const Family &f = *kernel_.contract;
        const Op room = with_round(round_rows);
        if (rows_)
            allocate_rows();
        else
            allocate_before(f.before.front());
        for (const Operand &operand : f.operands)
            if (operand.argument == &Op::w && !op_.w)
                allocate_weights();
            else if (operand.argument != &Op::w && operand.argument != &Op::w_up &&
                     !is_made(f, operand.argument) &&
                     !(rows_ && (operand.argument == &Op::a || operand.argument == &Op::a_scale)))
                op_.*operand.argument = input(operand, operand.bytes(room, kernel_, machine_));
        for (const Before &before : f.before.subspan(rows_ ? 0 : 1))
            allocate_before(before);
        if (op_.experts) {
            none_ = allocate(u64{4} * block_size(kernel_));
            memory_.back().fill(0);
        }
    }
    void allocate_scratch(u64 round_rows) {
        const Op room = with_round(round_rows);
        for (const Scratch &scratch : kernel_.contract->scratch) {
            op_.*scratch.argument = allocate(most_scratch(scratch, kernel_, room, machine_));
            if (!scratch.bytes)
                memory_.back().fill(0);
        }
    }

    const Kernel &kernel_;
    const std::span<const i32> routes_;
    const hip::Device &device_;
    Modules modules_;
    const Machine machine_;
    const Op *const rows_;
    Op op_;
    u64 round_;                                // rows
    u64 begin_, each_, weight_bytes_, copies_; // bytes; copies of the weights
    u64 none_ = 0, used_ = 0;                  // used_: which of memory_
    std::vector<hip::Buffer> memory_;
    std::vector<Made> made_;
};

// The first kernel before the product's that makes lists, or that makes none; null without one.
const Kernel *kernel_that(const Kernel &product, bool makes_lists) {
    for (const Before &before : product.contract->before)
        if (std::ranges::count(before.gives, &Op::slot_ids, &Gives::argument) == makes_lists)
            return &kernel_before(before, product);
    return nullptr;
}

} // namespace

const Kernel *convert_before(const Kernel &product) { return kernel_that(product, false); }
const Kernel *lists_before(const Kernel &product) { return kernel_that(product, true); }

const Kernel *choose_unsliced(std::string_view gfx, const Op &op) {
    check_shape(op);
    const Machine machine = usual_machine(gfx);
    Plan p = plan(op, machine);
    if (p.rows < op.m)
        p = plan(op, cheapest(gfx, op), machine);
    return p.rows < op.m ? nullptr : p.kernel;
}

const Kernel &choose_by_block(std::string_view gfx, const Op &op, u32 size) {
    for (const Kernel *kernel : kernels_for(gfx, op))
        if (block_size(*kernel) == size)
            return *kernel;
    throw Error(
        fmt::format("block_size = {}: no kernel of {} takes such blocks", size, words[op.type]));
}

u64 activation_bytes(const Kernel &product, const Op &sizes) {
    const Machine machine = usual_machine(product.gfx);
    const Before &before = product.contract->before.front();
    return before.gives.front().bytes(before.op(sizes, product, machine), *convert_before(product),
                                      machine);
}

u32 dynamic_lds_of(const Kernel &kernel, Op op, u32 wgps) {
    const Machine machine{&target_of(kernel.gfx), wgps};
    if (op.blocks == automatic)
        op.blocks = op.slots; // LDS does not depend on it
    kernel.contract->settle(op, kernel, machine);
    return kernel.contract->dynamic_lds(op, kernel, machine);
}

LaunchTimes time_launches(const hip::Device &device, const TimedLaunches &of, u32 runs,
                          const std::function<void(const Kernel &)> &launched, Warm warm) {
    Launches launches(device, of, runs, warm);
    const hip::Event start = device.event(), stop = device.event();
    const auto us = [&](const Kernel &kernel, const auto &queue) {
        device.record(start);
        queue();
        device.record(stop);
        device.synchronize();
        if (launched)
            launched(kernel);
        return 1000 * f64{device.elapsed_ms(start, stop)};
    };
    std::vector<f64> befores[2], products;
    const auto run_before = [&] {
        for (u64 i = 0; i < launches.before_count(); ++i)
            befores[i].push_back(us(launches.before_kernel(i), [&] { launches.before(i); }));
    };
    if (warm == Warm::yes) {
        run_before();
        launches.count_blocks();
        us(of.product, [&] { launches.warm(); });
        befores[0].clear(), befores[1].clear();
    }
    for (u64 i = 0; i < runs; ++i) {
        run_before();
        if (warm == Warm::no)
            launches.count_blocks();
        products.push_back(us(of.product, [&] { launches.multiply(i); }));
    }
    const LaunchTimes out{upper_median(products), upper_median(befores[0]),
                          befores[1].empty() ? 0 : upper_median(befores[1])};
    need_time(device, out.us);
    need_time(device, out.convert_us);
    return out;
}

} // namespace nw
