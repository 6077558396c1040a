// SPDX-License-Identifier: MIT
#pragma once
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "formats/claims/layer_rules.h"
#include "formats/claims/quantization_config.h"
#include "formats/safetensors/checkpoint.h"

namespace nw {

// Properties that a checkpoint's config states for a layer. The tensors take precedence: a claim is
// used to refuse what contradicts it, and to tell the two versions of asymmetric GPTQ apart.
struct Claims {
    std::optional<Claim<i64>> bits, group; // group: -1 for one scale per row
    std::optional<Claim<bool>> symmetric;
    std::optional<Claim<bool>> act_order; // columns are in groups by a list, which the tensors have
    // How GPTQ's zero points are stored: as they are (v2), or less 1 (v1).
    std::optional<Claim<bool>> zeros_as_they_are;
    std::optional<Claim<bool>> e2m1; // the weights are floating-point numbers
};

// The config's claims about all layers, and about some layers by rules.
class ModelClaims {
public:
    // `zeros_as_they_are` takes the place of what files say of it. Throws Error: two sources that
    // differ in what is read, or a value that can't be.
    explicit ModelClaims(const Checkpoint &, std::optional<bool> zeros_as_they_are = {});

    // Throws Error: two rules that differ.
    Claims of(const std::string &layer) const;

    // Features of the config that are not supported: layouts and methods that are not read,
    // changes of activations, and rules whose layers are not in the checkpoint. Call it after the
    // last of().
    std::vector<std::string> problems() const;
    // Keys that nothing has read and that are not known to be harmless.
    const std::vector<std::string> &notes() const { return notes_; }
    const std::string &method() const { return method_; } // quant_method in lower case, or ""
    // For messages: what made the layers, by the config, or "".
    const std::string &made_by() const { return made_by_; }

private:
    struct Rule {
        LayerPattern pattern;
        Claims claims;
        std::string where;
        bool of_class = false; // a class of modules, which tensors don't tell
        mutable bool used = false;
    };

    void read_method();
    void read_zeros();
    std::optional<Claim<std::string>> gptq_format() const;
    void read_all_layers();
    void read_groups(const Claim<nlohmann::json> &groups);
    void read_rules();
    void read_quark();
    void add_rule(LayerPattern pattern, Claims claims, std::string where);
    bool changes_something(const Claims &) const;

    const Checkpoint &checkpoint_;
    const QuantizationConfig &config_;
    std::string method_, made_by_;
    Claims all_;
    std::vector<Rule> rules_;
    std::map<std::string, std::vector<size_t>> exact_; // rules by plain path
    std::vector<size_t> patterns_;
    std::vector<std::string> problems_, notes_;
};

} // namespace nw
