// SPDX-License-Identifier: MIT
// A wave's timing state, and the rules by which its next instruction may issue.
#pragma once
#include <memory>
#include <vector>

#include "sim/func/launch/workgroup.h"
#include "sim/timing/core/dispatcher.h"
#include "sim/timing/core/earlier_loads.h"
#include "sim/timing/core/engine.h"
#include "sim/timing/core/valu_pipe.h"

namespace nw::sim::timing {

struct TimedWave;

struct TimedGroup {
    u64 number = 0;
    Placement placement;
    u32 live = 0;     // waves
    u32 arrived = 0;  // at the barrier's current phase
    u32 phase = 0;    // phases completed
    u64 phase_at = 0; // when the last phase releases its waves
    u64 end = 0;
    std::vector<TimedWave *> waves;
    std::unique_ptr<Workgroup> workgroup; // of live waves
};

// Memory instructions of one kind in flight: completion times, oldest first.
class InFlight {
public:
    void push(u64 done) { done_[head_ + count_++] = done; }
    void retire(u64 now) {
        for (; count_ && done_[head_] <= now; --count_)
            if (++head_ == slack) { // to the front: few cache lines of the host are touched
                std::copy_n(done_ + head_, count_ - 1, done_);
                head_ = 0;
            }
        if (!count_)
            head_ = 0;
    }
    u64 last() const { return count_ ? done_[head_ + count_ - 1] : 0; }
    // When at most `n` are left.
    u64 at_most(u32 n) const { return count_ > n ? done_[head_ + count_ - 1 - n] : 0; }

private:
    static constexpr u32 most = 256, slack = 32;
    u64 done_[most + slack];
    u32 head_ = 0, count_ = 0;
};

// Where the wave is in the loop that Steady watches.
struct LoopPosition {
    bool inside = false;
    bool skip = false; // at the loop's first instruction it goes on with `target`
    u32 left = 0;      // times that it will pass that instruction
    u32 counted = 0;   // times that it passed it in this epoch
    u32 epoch = 0;
    u64 run = ~u64{0}; // of the trace, when it passed last
    u64 started = 0;   // skipped cycles at its start
    u64 slot = 0;
    TraceReader target;
};

struct TimedWave {
    TimedGroup *group = nullptr;
    u32 number = 0, simd = 0; // simd: of the part
    int priority = 0;
    bool ended = false;
    u64 started = 0;

    // Source of its instructions.
    TraceReader reader;
    LoopPosition loop;
    Wave *live = nullptr;
    WaveTrace *record = nullptr; // of the live one's last instruction

    u32 index = 0;           // the next instruction
    u64 ready = never;       // when it may issue, by the wave's own dependences
    Stall why = Stall::none; // stall reason until then
    u64 next = 0;            // the cycle after the last issue
    u64 after = 0;           // first issue cycle that the last instruction allows
    Stall after_why = Stall::none;
    u64 refused = 0; // cycles ready while its unit was taken
    Stall refused_by = Stall::port;
    u32 line = ~0u; // line of the instruction cache it issues from

    // VALU: times are of execution.
    u64 last_execution = 0;
    u64 busy_until = 0; // of its own last VALU instruction: they execute in order
    u64 queue[64] = {}; // executions, newest at queue_at - 1
    u32 queue_at = 0;
    u64 dispatches[8] = {}; // of VALU instructions, for s_delay_alu; newest at dispatched - 1
    u8 dispatch_latency[8] = {};
    u32 dispatched = 0, trans_dispatched = 0;
    u64 trans_dispatches[4] = {};
    u64 last_salu = 0;
    u64 delayed_until = 0;
    u8 second_delay = 0, second_delay_in = 0;

    // Results: first execution (VGPRs) or issue (SGPRs) that may read them.
    u64 vgpr[RegisterSet::vgprs] = {};
    // Earlier by this many cycles for a consumer of the same kind: TRANS, or C of a WMMA.
    u8 vgpr_early[RegisterSet::vgprs] = {};
    bool vgpr_of_wmma[RegisterSet::vgprs] = {};
    bool vgpr_forwarded[RegisterSet::vgprs] = {}; // while the pipeline is awake
    u64 sgpr[192] = {};                           // for scalar instructions and addresses
    u64 sgpr_for_valu[192] = {};                  // for the dispatch of VALU instructions
    u64 mask_execution[192] = {}; // written by VALU: for the execution of VALU instructions
    u64 sgpr_read = 0;            // when VALU instructions have read theirs: a scalar one may write
    u64 vgpr_read[RegisterSet::vgprs] = {}; // when memory instructions have
    u64 salu_done = 0;                   // results of its scalar instructions are there for others
    u64 sgpr_result = 0, vcc_result = 0; // SGPRs of VALU instructions for scalar ones
    u64 data_sent = 0;                   // of its last store
    bool after_immediate = false, after_wmma = false; // the last issue; the last VALU one

    InFlight flights[static_cast<size_t>(Counter::count)];
    u32 waits = 0;                         // barrier phases waited for
    std::unique_ptr<EarlierLoads> earlier; // with WhatIf::loads_earlier

    // Executions that a later dispatch on the SIMD may still make earlier (T-050).
    struct Unsettled {
        u64 execution;
        bool dependent;
        u32 index;
        size_t event;
    };
    std::vector<Unsettled> unsettled;
    std::vector<IssueEvent> events; // for a watcher, kept until final
};

struct Simd {
    u32 number = 0;
    u64 event = never;                             // its scheduled cycle
    std::vector<std::unique_ptr<TimedWave>> waves; // oldest first
    u64 ready[waves_per_simd_limit];               // by wave; never past the last one
    int highest = 0;                               // priority
    bool any_unsettled = false;
    ValuPipe valu;
    u64 unit_free[static_cast<size_t>(Unit::count)] = {}; // its issue port

    Simd() { std::fill(std::begin(ready), std::end(ready), never); }
    void add(std::unique_ptr<TimedWave> wave);
    void remove(size_t slot);
    u64 earliest() const {
        u64 at = never;
        for (u64 r : ready)
            at = r < at ? r : at;
        return at;
    }
};

// State of a compute unit, shared by two SIMDs.
struct ComputeUnit {
    u64 lds_free = 0, address_free = 0;
    u64 address_sent = 0; // when the next memory instruction may send its addresses
};

// Captures the answer to the last request, for the event of its instruction.
struct LastAnswer : MemoryWatcher {
    explicit LastAnswer(Watcher *watcher) : watcher_(watcher) {}
    void answered(u64 sent, u64 done, u32 cu, Level by) override {
        level = by;
        watcher_->answered(sent, done, cu, by);
    }
    Level level = Level::l0;
    u32 bytes = 0;
    u64 dram_before = 0; // DRAM bytes moved before it

private:
    Watcher *watcher_;
};

// Request of a recorded instruction on this SIMD.
VectorRequest vector_request(u32 simd, const OpFacts &f, const u64 *payload);

class Core {
public:
    Core(const Machine &m, const Code &code, u32 passes);
    void begin(TimedWave &, u64 at);
    void try_issue(Simd &, TimedWave &, u64 now);
    // When the wave, which has issued its last instruction, has no access outstanding.
    u64 end_of(const TimedWave &, u64 now) const;
    void arrive_if_complete(TimedGroup &, u64 now);
    void flush(TimedWave &); // sends its events to the watcher

    std::vector<Simd> simds;
    std::vector<TimedGroup *> released; // groups released by a barrier in this cycle
    LastAnswer last_answer;
    Result result;

private:
    void prepare(TimedWave &); // fills ready and why
    void prepare_valu(TimedWave &, const OpFacts &);
    void prepare_memory(TimedWave &, const OpFacts &);
    void prepare_wait(TimedWave &, const OpFacts &);
    void need(TimedWave &w, u64 at, Stall why) const {
        if (at > w.ready)
            w.ready = at, w.why = why;
    }
    void fetch(TimedWave &);
    void settle(TimedWave &); // finalizes its dispatched executions
    void confirm(Simd &, u64 now);
    bool execute_valu(Simd &, TimedWave &, const OpFacts &, u64 now, u64 &done, u64 &port_free);
    u64 leave_stage(ValuPipe &, u64 executed) const;
    u64 overwritten(const TimedWave &, const OpFacts &) const;
    void write_results(TimedWave &, const OpFacts &, u64 execution);
    void read_sgprs(TimedWave &, const OpFacts &, u64 now);
    u32 mask_latency(const OpFacts &, u32 sgpr) const;
    void shift_results(TimedWave &, const OpFacts &, u64 execution, u64 by);
    u64 memory(Simd &, TimedWave &, const OpFacts &, u64 now);
    u64 lds(Simd &, TimedWave &, const OpFacts &, u64 now);
    u64 scalar_load(const Simd &, TimedWave &, u64 now);
    u64 scalar(TimedWave &, const OpFacts &, u64 now, u64 &port_free);
    bool enter(Simd &, TimedWave &, const OpFacts &, u64 now, u64 &done, u64 &port_free);
    void account(const TimedWave &, u64 lost);
    void run_live(TimedWave &, const OpFacts &, u64 now);
    void go_on(Simd &, TimedWave &, const OpFacts &, u64 now, u64 next);
    void control(Simd &, TimedWave &, const OpFacts &, u64 now);
    void delay(TimedWave &, u8 code);
    void arrive(TimedGroup &, u64 now);
    bool refuse(TimedWave &, u64 until, Stall why, u64 now);
    void advance(TimedWave &);
    void leave_out_absent(TimedWave &) const;
    u64 dram_bytes() const { return m_.memory.counts().dram_read + m_.memory.counts().dram_write; }

    const Machine &m_;
    const Costs &c_;
    u32 passes_; // 2 for wave64
    std::vector<ComputeUnit> cus_;
    u32 code_lines_ = 0;                    // blocks of the program
    std::vector<std::vector<u64>> fetched_; // by WGP, by line of the code: when it is there
};

} // namespace nw::sim::timing
