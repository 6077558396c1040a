// SPDX-License-Identifier: MIT
#include "formats/source_claims.h"

#include <nlohmann/json.hpp>

namespace nw {

namespace {

using Json = nlohmann::json;

template <class T> std::optional<T> value(const Json &object, const char *key) {
    const auto found = object.find(key);
    if (found == object.end())
        return std::nullopt;
    const bool fits = std::is_same_v<T, bool> ? found->is_boolean() : found->is_number_integer();
    return fits ? std::optional(found->get<T>()) : std::nullopt;
}

bool is(const Json &q, const char *key, const char *text) {
    return q.contains(key) && q[key] == text;
}

// AutoRound's layouts with the names of GPTQ's tensors: "auto_round" and "auto_round:gptqmodel"
// store zero points as GPTQ v2 does, "auto_round:auto_gptq" as v1. It is AWQ's with "auto_awq".
bool stores_zeros_as_they_are(const Json &q) {
    if (!is(q, "quant_method", "auto-round") && !is(q, "quant_method", "intel/auto-round"))
        return false;
    if (!q.contains("packing_format") || !q["packing_format"].is_string())
        return false;
    const std::string packing = q["packing_format"].get<std::string>();
    return packing.find("gptqmodel") != packing.npos || packing.find("gptq") == packing.npos;
}

// compressed-tensors: groups of layers, each with its own arguments.
Claims of_groups(const Json &groups) {
    Claims c;
    if (!groups.is_object() || groups.size() != 1)
        return c;
    const Json &only = groups.front();
    if (!only.is_object() || !only.contains("weights") || !only["weights"].is_object())
        return c;
    const Json &weights = only["weights"];
    c.bits = value<i64>(weights, "num_bits");
    c.group = value<i64>(weights, "group_size");
    if (weights.contains("strategy") && weights["strategy"] == "channel")
        c.group = -1;
    c.symmetric = value<bool>(weights, "symmetric");
    // "weight" and "static" reorder nothing in the file.
    c.act_order = weights.contains("actorder") && weights["actorder"] == "group";
    return c;
}

} // namespace

Claims claims_of(const Json &q) {
    if (q.contains("config_groups"))
        return of_groups(q["config_groups"]);
    Claims c;
    // gptq_p, of GPTQModel 7, has other words than v2 only where codes have 3, 5, 6 or 7 bits.
    c.gptq_v2 = is(q, "checkpoint_format", "gptq_v2") || is(q, "checkpoint_format", "gptq_p") ||
                stores_zeros_as_they_are(q);
    c.act_order = value<bool>(q, "desc_act").value_or(false);
    if (q.contains("dynamic") || (q.contains("extra_config") && !q["extra_config"].empty()))
        return c; // GPTQ, AutoRound: layers that differ
    c.bits = value<i64>(q, "bits");
    c.group = value<i64>(q, "group_size");
    if (!c.bits) // AWQ's older names
        c.bits = value<i64>(q, "w_bit");
    if (!c.group)
        c.group = value<i64>(q, "q_group_size");
    c.symmetric = value<bool>(q, "sym");
    return c;
}

} // namespace nw
