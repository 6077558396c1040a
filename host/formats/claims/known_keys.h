// SPDX-License-Identifier: MIT
#pragma once
#include <string_view>

namespace nw {

// Keys that programs write besides properties of layers: how they quantized, and how a loader may
// run the result.
inline constexpr std::string_view harmless_keys[] = {
    // GPTQ: AutoGPTQ, optimum, transformers, GPTQModel
    "damp_percent", "damp_auto_increment", "static_groups", "true_sequential", "model_name_or_path",
    "model_file_base_name", "meta", "dataset", "tokenizer", "model_seqlen",
    "block_name_to_quantize", "module_name_preceding_first_block", "batch_size", "pad_token_id",
    "use_exllama", "use_exllama_v2", "disable_exllama", "max_input_length", "exllama_config",
    "cache_block_outputs", "modules_in_block_to_quantize", "use_cuda_fp16", "lm_head", "mse",
    "pack_dtype", "pack_impl", "device", "act_group_aware", "hyb_act", "v2", "v2_alpha", "gptaq",
    "foem", "offload_to_disk", "offload_to_disk_path", "hessian", "fallback", "failsafe", "backend",
    "gc_mode", "moe", "process", "vram_strategy", "weight_only", "use_triton", "tritonv2",
    "model_type", "quantizer", "version_info", "mock_quantization", "wait_for_submodule_finalizers",
    "auto_forward_data_parallel", "compute_device_filter",
    // AutoRound
    "amp", "autoround_version", "data_type", "enable_minmax_tuning", "enable_norm_bias_tuning",
    "enable_quanted_input", "enable_alg_ext", "enable_torch_compile", "gradient_accumulate_steps",
    "iters", "low_gpu_mem_usage", "low_cpu_mem_usage", "lr", "minmax_lr", "nsamples",
    "quant_block_list", "scale_dtype", "seqlen", "to_quant_block_names", "train_bs", "provider",
    "momentum", "not_use_best_mse", "lr_scheduler", "sampler", "super_bits", "super_group_size",
    "act_bits", "act_data_type", "act_dynamic", "act_group_size", "act_sym", "optimizer",
    "enable_deterministic_algorithms", "disable_deterministic_algorithms", "static_kv_dtype",
    "block_forward", "seed", "supported_types", "regex_config",
    // AWQ
    "modules_to_not_convert", "do_fuse", "fuse_max_seq_len", "modules_to_fuse", "duo_scaling",
    "apply_clip", "n_parallel_calib_samples", "max_calib_samples", "max_calib_seq_len",
    "calib_data", "split", "text_column", "q_type", "export_compatible",
    // compressed-tensors, ModelOpt, Quark
    "ignore", "quantization_status", "global_compression_ratio", "kv_cache_scheme",
    "kv_cache_quant_algo", "producer", "exclude_modules", "exclude", "exclude_layers", "name",
    "run_compressed", "has_zero_point", "pre_quant_scale", "export", "quant_mode",
    "layer_type_quant_config", "kv_cache_quant_config", "kv_cache_post_rope", "softmax_quant_spec",
    "algo_config", "pre_quant_opt_config", "log_severity_level", "weight_block_size",
    "activation_scheme", "attention_input_activations", "input_activations",
    // MLX, HQQ, bitsandbytes, gpt-oss
    "mode", "quant_config", "skip_modules", "load_in_4bit", "load_in_8bit", "_load_in_4bit",
    "_load_in_8bit", "llm_int8_threshold", "llm_int8_skip_modules", "llm_int8_has_fp16_weight",
    "llm_int8_enable_fp32_cpu_offload", "bnb_4bit_compute_dtype", "bnb_4bit_quant_storage",
    "bnb_4bit_quant_type", "bnb_4bit_use_double_quant", "dequantize",
    // judged by online_changes
    "transform_config", "transforms", "rotation", "rotation_config", "hadamard_config",
    "spinquant_config", "quarot_config", "sparsity_config", "adapter"};

} // namespace nw
