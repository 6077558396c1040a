# SPDX-License-Identifier: MIT
"""Act-order in the plugin, with vLLM's own classes: its configs keep it, layers load g_idx, products take activations in its order."""

from __future__ import annotations

import types
import unittest
import unittest.mock

import torch
import vllm_cases as cases
from nibblewave.vllm import act_order, experts, layouts, methods
from nibblewave.vllm.linear import NibblewaveW4A16LinearKernel
from vllm.model_executor.kernels import linear as kernels
from vllm.model_executor.layers.linear import LinearBase
from vllm.model_executor.layers.quantization import auto_gptq
from vllm.model_executor.layers.quantization.compressed_tensors import compressed_tensors
from vllm.model_executor.layers.quantization.compressed_tensors.schemes import CompressedTensorsWNA16
from vllm.model_executor.models.utils import AutoWeightsLoader

HALF, words = cases.HALF, cases.words


class Ordered(cases.Quantized):
    """With g_idx [..., K]; q and its columns are as the file has them."""

    def __init__(self, *shape: int, group: int) -> None:
        super().__init__(*shape, group=group)
        *front, _, k = shape
        lists = cases.RANDOM.permuted(cases.numpy.broadcast_to(cases.numpy.arange(k) // group, (*front, k)), axis=-1)
        self.g_idx = torch.from_numpy(lists.astype("int32"))

    def exact(self, zeros: bool) -> torch.Tensor:
        def wide(a: torch.Tensor) -> torch.Tensor:
            return a.double().gather(-1, self.g_idx.long().unsqueeze(-2).expand(self.shape))

        return (self.q - (wide(self.z) if zeros else 8)) * wide(self.scales)


def gptq(**changed: object) -> auto_gptq.AutoGPTQConfig:
    return auto_gptq.AutoGPTQConfig.from_config({"bits": 4, "group_size": 32, "desc_act": True, "sym": True} | changed)


def compressed(symmetric: bool, actorder: str = "group", **changed: object) -> compressed_tensors.CompressedTensorsConfig:
    weights = {"num_bits": 4, "type": "int", "symmetric": symmetric, "strategy": "group", "group_size": 32, "actorder": actorder} | changed
    groups = {"group_0": {"targets": ["Linear"], "weights": weights, "input_activations": None}}
    return compressed_tensors.CompressedTensorsConfig.from_config({"format": "pack-quantized", "config_groups": groups, "ignore": []})


class OnGpu(cases.Near):
    def setUp(self) -> None:
        for patch in (cases.on("gfx1151"), unittest.mock.patch.object(kernels, "current_platform", cases.ROCM)):
            patch.start()
            self.addCleanup(patch.stop)


class Layouts(unittest.TestCase):
    def test_columns(self) -> None:
        of = Ordered(5, 64, group=32)
        order = layouts.by_group(of.g_idx, 32, "g_idx")
        self.assertEqual(of.g_idx[order.long()].tolist(), [0] * 32 + [1] * 32)
        self.assertEqual(sorted(order[:32].tolist()), order[:32].tolist())
        self.assertTrue(torch.equal(layouts.columns(words(of.q), order), words(of.q[:, order.long()])))

    def test_lists_that_are_none(self) -> None:
        for g_idx, text in (
            ([-1] * 64, "groups -1 to -1: they must be 0 to 1; is it in the checkpoint"), ([0] * 63 + [2], "groups 0 to 2"),
            ([0] * 33 + [1] * 31, "gives group 0 33 columns: each must have 32"),
        ):  # fmt: skip
            with self.subTest(text=text), self.assertRaisesRegex(ValueError, text):
                layouts.by_group(torch.tensor(g_idx, dtype=torch.int32), 32, "w2_g_idx of expert 0")


class Configs(OnGpu):
    def test_kept(self) -> None:
        self.assertTrue(gptq().desc_act)
        self.assertFalse(gptq(group_size=-1).desc_act)
        for asked, kept in ((gptq(), True), (gptq(desc_act=False), False), (gptq(desc_act=False, dynamic={"+:.*up": {"desc_act": True}}), True)):
            self.assertEqual(asked.get_checkpoint_weight_mapper().map_name("a.g_idx"), "a.g_idx" if kept else None)
        for word, want in (("group", "group"), ("static", "static"), (None, None)):
            (scheme,) = compressed(True, word).target_scheme_map.values()
            self.assertEqual(scheme["weights"].actorder, want)

    def test_refused(self) -> None:
        """By name, since vLLM's own method would compute with columns in order."""
        layer = object.__new__(methods.RoutedExperts)
        torch.nn.Module.__init__(layer)
        for moe, config, text in (
            (cases.moe_config(tp_size=2), gptq(), "split over GPUs"), (cases.moe_config(is_lora_enabled=True), gptq(), "LoRA"),
            (cases.moe_config(), gptq(bits=8), "8 bits"), (cases.moe_config(), gptq(group_size=16), "groups of 16"),
        ):  # fmt: skip
            layer.moe_config = moe
            with self.subTest(text=text), self.assertRaisesRegex(act_order.Refused, text):
                config.get_quant_method(layer, "model.layers.0.mlp.experts")
        choose = methods._compressed(unittest.mock.Mock(side_effect=AssertionError))
        with self.assertRaisesRegex(act_order.Refused, "8 bits"):
            choose(cases.compressed_config(True, actorder="group", num_bits=8), None, cases.moe_config())


class Dense(OnGpu):
    def product(self, layer: torch.nn.Module, method: object, of: Ordered, zeros: bool) -> None:
        method.process_weights_after_loading(layer)
        x, bias = torch.randn(2, 3, of.shape[1]).to(HALF), torch.randn(of.shape[0]).to(HALF)
        apply = getattr(method, "apply", None) or method.apply_weights
        self.near(apply(layer, x, bias), x.double() @ of.exact(zeros).T + bias.double())

    def fill(self, layer: torch.nn.Module, values: dict[str, torch.Tensor], g_idx: str, of: Ordered) -> None:
        for name, value in values.items():
            getattr(layer, name).data.copy_(value)
        parameter = getattr(layer, g_idx)
        for shard in ("q", "k", "v"):  # joined, as vLLM's models load them
            parameter.weight_loader(parameter, of.g_idx, shard)

    def test_gptq(self) -> None:
        of, layer = Ordered(24, 256, group=32), object.__new__(LinearBase)
        torch.nn.Module.__init__(layer)
        config = gptq()
        config.packed_modules_mapping = {}
        method = config.get_quant_method(layer, "model.layers.0.self_attn.qkv_proj")
        self.assertIs(type(method), act_order.NibblewaveActOrderLinearMethod)
        method.create_weights(layer, 256, [8, 8, 8], 256, 24, HALF, weight_loader=cases.loader)
        self.fill(layer, {"qweight": words(of.q).T, "scales": of.scales.T}, "g_idx", of)
        parameter, other = layer.g_idx, of.g_idx.roll(1)
        with self.assertRaisesRegex(ValueError, "activation order differs"):
            parameter.weight_loader(parameter, other, "v")
        self.product(layer, method, of, False)

    def test_compressed(self) -> None:
        for symmetric in (True, False):
            config, of, layer = compressed(symmetric), Ordered(24, 256, group=32), torch.nn.Module()
            (arguments,) = config.target_scheme_map.values()
            scheme = config._get_scheme_from_parts(arguments["weights"], None, layer_name="a")
            self.assertIs(type(scheme), act_order.NibblewaveActOrderScheme)
            scheme.create_weights(layer, output_size=24, input_size=256, output_partition_sizes=[24], input_size_per_partition=256, params_dtype=HALF,
                                  weight_loader=cases.loader)  # fmt: skip
            zeros = {} if symmetric else {"weight_zero_point": words(of.z.T).T}
            self.fill(layer, {"weight_packed": words(of.q), "weight_scale": of.scales} | zeros, "weight_g_idx", of)
            self.product(layer, scheme, of, not symmetric)
        (arguments,) = compressed(True, "static").target_scheme_map.values()
        self.assertIs(type(config._get_scheme_from_parts(arguments["weights"], None, layer_name="a")), CompressedTensorsWNA16)

    def test_refused(self) -> None:
        kernel = NibblewaveW4A16LinearKernel(cases.config(24, 256, 32, False), "qweight", "scales")
        with self.assertRaisesRegex(act_order.Refused, "its 512 columns are split over GPUs, 256 each"):
            act_order.add_to(torch.nn.Module(), kernel, "g_idx", 256, 512)
        for other in (None, types.SimpleNamespace(config=cases.config(24, 256, 16, False))):
            with self.assertRaisesRegex(act_order.Refused, "groups of 16" if other else "without a kernel"):
                act_order.add_to(torch.nn.Module(), other, "g_idx", 256, 256)


class Experts(OnGpu):
    E, HIDDEN, BETWEEN = cases.Experts.E, cases.Experts.HIDDEN, cases.Experts.BETWEEN

    def multiplies(self, method: experts.Experts, values: dict[str, torch.Tensor], names: tuple[str, str], parts: tuple[Ordered, Ordered],
                   zeros: bool) -> None:  # fmt: skip
        """Expert 1 is on another device; the others' places are 0, 1, 2."""
        places = [0, -1, 1, 2]
        here = torch.tensor([0, 2, 3])
        layer = cases.Layer(3)
        layer._map_global_expert_id_to_local_expert_id = places.__getitem__
        layer.expert_map = torch.tensor(places, dtype=torch.int32)
        method.create_weights(layer, 3, self.HIDDEN, self.BETWEEN, HALF, weight_loader=cases.loader)
        for name, value in values.items():
            self.assertEqual(getattr(layer, name).shape, value[here].shape)
            getattr(layer, name).data.copy_(value[here])
        for name, of, shards in zip(names, parts, (("w1", "w3"), ("w2",))):
            parameter = getattr(layer, name)
            for expert in range(self.E):
                for shard in shards:
                    more = {"weight_name": f"experts.{name}", "shard_id": shard, "expert_id": expert, "return_success": True}
                    self.assertEqual(parameter.weight_loader(param=parameter, loaded_weight=of.g_idx[expert], **more), expert != 1)
        with self.assertRaisesRegex(ValueError, f"experts.{names[0]}, expert 3, w3: its activation order differs"):
            parameter = getattr(layer, names[0])
            parameter.weight_loader(parameter, parts[0].g_idx[3].roll(1), f"experts.{names[0]}", shard_id="w3", expert_id=3)
        method.process_weights_after_loading(layer)
        x, ids, weights = torch.randn(3, self.HIDDEN).to(HALF), torch.tensor([[3, 1], [0, 2], [2, 3]]), torch.rand(3, 2)
        first, second, want = parts[0].exact(zeros), parts[1].exact(zeros), torch.zeros(3, self.HIDDEN, dtype=torch.float64)
        for t, chosen in enumerate(ids.tolist()):
            for place, expert in enumerate(chosen):
                gate, up = (first[expert] @ x[t].double()).chunk(2)
                between = (torch.nn.functional.silu(gate) * up).to(HALF).double()
                want[t] += weights[t, place].double() * (second[expert] @ between) * (expert != 1)
        self.near(method.apply(layer, x, weights, ids, None, None), want, 3e-3)

    def parts(self) -> tuple[Ordered, Ordered]:
        return Ordered(self.E, 2 * self.BETWEEN, self.HIDDEN, group=32), Ordered(self.E, self.HIDDEN, self.BETWEEN, group=32)

    def test_gptq(self) -> None:
        parts, layer = self.parts(), object.__new__(methods.RoutedExperts)
        torch.nn.Module.__init__(layer)
        layer.moe_config = cases.moe_config()
        method = gptq().get_quant_method(layer, "model.layers.0.mlp.experts")
        self.assertIs(type(method), experts.NibblewaveGPTQMoEMethod)
        values = {f"{part}_qweight": words(of.q).mT for part, of in zip(experts.PARTS, parts)}
        values |= {f"{part}_scales": of.scales.mT for part, of in zip(experts.PARTS, parts)}
        self.multiplies(method, values, ("w13_g_idx", "w2_g_idx"), parts, False)

    def test_compressed_tensors(self) -> None:
        for symmetric in (True, False):
            parts = self.parts()
            asked = cases.compressed_config(symmetric, actorder="group")
            method = methods.compressed.CompressedTensorsWNA16MoEMethod(asked, None, cases.moe_config())
            self.assertIs(type(method), experts.NibblewaveCompressedTensorsMoEMethod)
            values = {}
            for part, of in zip(experts.PARTS, parts):
                values |= {f"{part}_weight_packed": words(of.q), f"{part}_weight_scale": of.scales}
                if not symmetric:
                    values[f"{part}_weight_zero_point"] = words(of.z.mT).mT
            self.multiplies(method, values, ("w13_weight_g_idx", "w2_weight_g_idx"), parts, not symmetric)

    def test_loaded_from_files(self) -> None:
        """By vLLM's own loader of models and of experts, which drops g_idx elsewhere."""
        layer, model, parts = cases.Layer(self.E), torch.nn.Module(), self.parts()
        layer.layer_name, layer._map_global_expert_id_to_local_expert_id = "experts", int
        shards = (("gate_proj", "w1", 0), ("down_proj", "w2", 1), ("up_proj", "w3", 0))
        mapping = [(f"experts.{experts.PARTS[part]}_", f"experts.{e}.{name}.", e, shard) for e in range(self.E) for name, shard, part in shards]
        layer.get_expert_mapping = lambda include_fused: mapping
        layer.load_weights = types.MethodType(methods.RoutedExperts.load_weights, layer)
        model.quant_config, model.experts = gptq(), layer
        method = experts.NibblewaveGPTQMoEMethod(model.quant_config, cases.moe_config())
        method.create_weights(layer, self.E, self.HIDDEN, self.BETWEEN, HALF, weight_loader=cases.loader)
        files = {f"experts.{e}.{name}.g_idx": parts[part].g_idx[e] for e in range(self.E) for name, _, part in shards}
        AutoWeightsLoader(model).load_weights(files.items())
        for name, of in zip(("w13_g_idx", "w2_g_idx"), parts):
            self.assertTrue(torch.equal(getattr(layer, name).data, of.g_idx))
        with self.assertRaisesRegex(ValueError, "experts.w13_g_idx, expert 2, w3: its activation order differs"):
            AutoWeightsLoader(model).load_weights({"experts.2.up_proj.g_idx": parts[0].g_idx[2].roll(1)}.items())
        model.quant_config, before = gptq(desc_act=False), layer.w2_g_idx.data.clone()
        AutoWeightsLoader(model).load_weights({"experts.0.down_proj.g_idx": parts[1].g_idx[0].roll(1)}.items())
        self.assertTrue(torch.equal(layer.w2_g_idx.data, before))

    def test_missing_list(self) -> None:
        method, layer = experts.NibblewaveGPTQMoEMethod(gptq(), cases.moe_config()), cases.Layer(2)
        layer._map_global_expert_id_to_local_expert_id = int
        method.create_weights(layer, 2, self.HIDDEN, self.BETWEEN, HALF, weight_loader=cases.loader)
        with self.assertRaisesRegex(ValueError, "w13_g_idx of expert 0 has groups -1 to -1"):
            method.process_weights_after_loading(layer)


if __name__ == "__main__":
    unittest.main()
