// SPDX-License-Identifier: MIT
#include "engines/ggml/rope.h"

#include <algorithm>
#include <cmath>

#include "engines/ggml/maps.h"
#include "engines/ggml/rehearsal.h"

namespace nw::engine {

namespace {

// Position of a pair among the sections.
struct Place {
    int section;
    int index; // in the section
};

// Sections one after the other, and again after the last.
Place place_of(const Rotation &r, uint32_t pair) {
    int total = 0;
    for (const int size : r.sections)
        total += size;
    int at = static_cast<int>(pair) % total;
    for (int section = 0; section < 3; section++) {
        if (at < r.sections[section])
            return {section, at};
        at -= r.sections[section];
    }
    return {3, at};
}

// Which position of a token turns the pair.
int stream_of(const Rotation &r, uint32_t pair) {
    if (!r.has_streams())
        return 0;
    if (r.mode != GGML_ROPE_TYPE_IMROPE)
        return place_of(r, pair).section;
    // Interleaved: pairs of three sections take turns, as far as each has pairs.
    int total = 0;
    for (const int size : r.sections)
        total += size;
    const int at = static_cast<int>(pair) % total, section = at % 3;
    return at < 3 * r.sections[section] ? section : 3;
}

nw_rope_model model_of(const Rotation &r, uint32_t pairs) {
    nw_rope_model out = NW_ROPE_MODEL_INIT;
    out.pairs = pairs;
    out.base = r.base, out.frequency_scale = r.frequency_scale, out.extension = r.extension;
    out.beta_fast = r.beta_fast, out.beta_slow = r.beta_slow;
    // Without a context ggml extrapolates pair 0 alone. So does a context of one token, in which
    // no pair makes beta_slow turns.
    constexpr float turn = 6.2831853f; // radians
    const bool none = r.original_context <= 0 && r.beta_slow * turn > 1;
    out.original_context = none ? 1 : static_cast<uint32_t>(std::max(0, r.original_context));
    return out;
}

// How much of YaRN's extrapolation a pair has, by ggml's own bounds.
float extrapolated(const Rotation &r, uint32_t pair) {
    if (r.extension == 0)
        return 0;
    float bounds[2];
    ggml_rope_yarn_corr_dims(r.dimensions, r.original_context, r.base, r.beta_fast, r.beta_slow,
                             bounds);
    const float along =
        (static_cast<float>(pair) - bounds[0]) / std::max(0.001f, bounds[1] - bounds[0]);
    return r.extension * (1 - std::clamp(along, 0.0f, 1.0f));
}

// A vision model's frequencies begin again with each section; YaRN counts pairs of the row.
nw_status make_vision_turns(const Rotation &r, const float *factors, uint64_t *turns) {
    const uint32_t pairs = r.pairs_of_base();
    std::vector<float> own(pairs, 1.0f);
    std::vector<uint64_t> made(pairs);
    for (uint32_t pair = 0; pair < r.pairs(); pair++) {
        const auto index = static_cast<std::size_t>(place_of(r, pair).index);
        own[index] = factors ? factors[pair] : 1.0f;
        nw_rope_model model = model_of(r, pairs);
        const float share = extrapolated(r, pair);
        model.frequency_scale = r.frequency_scale * (1 - share) + share;
        model.extension = 0, model.factors = own.data();
        if (const nw_status status = nw_rope_turns(&model, made.data()); status != NW_OK)
            return status;
        turns[pair] = made[index] | static_cast<unsigned>(stream_of(r, pair));
    }
    return NW_OK;
}

// A reason why no turns express the node; null if some do.
const char *unmapped(const Rotation &r, const ggml_tensor *op) {
    const ggml_tensor *const factors = op->src[2];
    if (r.mode != GGML_ROPE_TYPE_NORMAL && r.mode != GGML_ROPE_TYPE_NEOX && !r.has_streams())
        return "its mode is unknown";
    if (r.offset < 0)
        return "the rotated elements begin before the row";
    int most = 0;
    for (const int size : r.sections)
        if (size < 0)
            return "a section has a negative size";
        else
            most = std::max(most, size);
    if (r.has_streams() && !most)
        return "all sections are empty";
    if (r.is_vision() && most > static_cast<int>(r.pairs_of_base()))
        return "a section has more pairs than the base";
    if (!has_dense_rows(op->src[0]) || !has_dense_rows(op))
        return transposed;
    if (!ggml_is_contiguous(op->src[1]))
        return "positions are not contiguous";
    if (factors && (factors->ne[0] < r.pairs() || factors->nb[0] != sizeof(float)))
        return "there are fewer frequency factors than pairs, or they are apart";
    if (factors && root_of(factors)->op != GGML_OP_NONE)
        return "frequency factors are made in the graph";
    return nullptr;
}

const char *map_rope(const ggml_tensor *op, Address at, nw_rope_op &out) {
    const Rotation r(op);
    const ggml_tensor *const x = op->src[0];
    if (const char *const why = unmapped(r, op))
        return why;
    if (op->type != x->type || (!is_f32(x) && x->type != GGML_TYPE_F16))
        return "a tensor is neither f32 nor f16";
    if (!fits(x))
        return too_large;
    out = nw_rope_op NW_ROPE_OP_INIT;
    out.y_type = number_of(x->type);
    out.layout = r.mode == GGML_ROPE_TYPE_NORMAL ? NW_ROPE_NORMAL : NW_ROPE_NEOX;
    out.d = size(x, 0);
    out.n1 = size(x, 1), out.n2 = size(x, 2);
    out.n3 = size(x, 3);
    out.pairs = r.pairs(), out.first = static_cast<uint32_t>(r.offset),
    out.streams = r.has_streams() ? 4 : 1, out.scale = r.magnitude();
    out.x = at(op, x), out.y = at(op, op);
    out.pos = reinterpret_cast<const int32_t *>(at(op, op->src[1]));
    set_strides(x, op, out);
    return nullptr;
}

std::string ask(Device &device, const ggml_tensor *op) {
    nw_rope_op rope;
    if (const char *const why = map_rope(op, imagined, rope))
        return why;
    std::vector<uint64_t> turns(rope.pairs);
    if (make_turns(Rotation(op), nullptr, turns.data()) != NW_OK)
        return nw_last_error();
    rope.turns = turns.data();
    nw_context *const context = device.context.get();
    return rehearse(
        device, [&] { return nw_rope_prepare(context, &rope); },
        [&](void *stream) { return nw_rope(context, &rope, stream); });
}

} // namespace

Rotation::Rotation(const ggml_tensor *rope)
    : dimensions(parameter<int>(rope, 1)), mode(parameter<int>(rope, 2)),
      original_context(parameter<int>(rope, 4)), base(parameter<float>(rope, 5)),
      frequency_scale(parameter<float>(rope, 6)), extension(parameter<float>(rope, 7)),
      attention_factor(parameter<float>(rope, 8)), beta_fast(parameter<float>(rope, 9)),
      beta_slow(parameter<float>(rope, 10)), offset(parameter<int>(rope, 15)) {
    std::memcpy(sections, rope->op_params + 11, sizeof sections);
}

// A vision model's parameter counts a half of the rotated elements.
uint32_t Rotation::pairs() const {
    return static_cast<uint32_t>(is_vision() ? dimensions : dimensions / 2);
}

uint32_t Rotation::pairs_of_base() const { return static_cast<uint32_t>(dimensions / 2); }

float Rotation::magnitude() const {
    return extension == 0 ? attention_factor
                          : attention_factor * (1.0f + 0.1f * std::log(1.0f / frequency_scale));
}

nw_status make_turns(const Rotation &r, const float *factors, uint64_t *turns) {
    if (r.is_vision())
        return make_vision_turns(r, factors, turns);
    std::vector<uint8_t> streams(r.pairs());
    for (uint32_t pair = 0; pair < r.pairs(); pair++)
        streams[pair] = static_cast<uint8_t>(stream_of(r, pair));
    nw_rope_model model = model_of(r, r.pairs());
    model.factors = factors, model.streams = streams.data();
    return nw_rope_turns(&model, turns);
}

std::string rope_refusal(Device &device, const ggml_tensor *op) {
    return remembered(device, op, reinterpret_cast<const void *>(map_rope),
                      [&] { return ask(device, op); });
}

nw_status launch_rope(Queue &queue, const ggml_tensor *op, std::string &why) {
    nw_rope_op rope;
    if (const char *const refused = map_rope(op, allocated, rope))
        return why = refused, NW_UNSUPPORTED;
    rope.turns = queue.turns.of(queue, op, why);
    if (!rope.turns)
        return NW_INVALID_ARGUMENT;
    const nw_status status = nw_rope(queue.device.context.get(), &rope, queue.stream);
    if (status != NW_OK)
        why = nw_last_error();
    return status;
}

} // namespace nw::engine
