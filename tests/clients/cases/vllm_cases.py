# SPDX-License-Identifier: MIT
"""The plugin with vLLM's own classes: parameters as vLLM makes them, filled as from a checkpoint, then converted and multiplied.

On the CPU, so the products are those of nibblewave.reference; only the name of the GPU is put in its place.
"""

from __future__ import annotations

import importlib.metadata
import types
import unittest
import unittest.mock

import nibblewave.torch as nt
import numpy
import torch
from nibblewave import vllm as plugin
from nibblewave.vllm import device, layouts
from vllm.distributed import parallel_state
from vllm.model_executor.kernels import linear as kernels
from vllm.model_executor.kernels.linear.mixed_precision.rdna_hybrid_w4a16 import RDNAHybridW4A16LinearKernel
from vllm.model_executor.layers.fused_moe.activation import MoEActivation
from vllm.model_executor.layers.linear import LinearBase
from vllm.model_executor.layers.quantization import auto_awq, auto_gptq
from vllm.model_executor.layers.quantization.auto_awq import _convert_awq_to_standard_format
from vllm.model_executor.parameter import GroupQuantScaleParameter, PackedvLLMParameter
from vllm.platforms import PlatformEnum
from vllm.scalar_type import scalar_types

parallel_state._TP = types.SimpleNamespace(rank_in_group=0, world_size=1)  # parameters ask for their place among GPUs
with unittest.mock.patch.object(device, "gfx", lambda: "gfx1151"):
    plugin.register()
    plugin.register()  # each of vLLM's processes does
from nibblewave.vllm import experts, methods  # noqa: E402
from nibblewave.vllm.linear import NibblewaveW4A16LinearKernel  # noqa: E402

RANDOM = numpy.random.default_rng(5)
HALF = torch.float16
ROCM = types.SimpleNamespace(_enum=PlatformEnum.ROCM, get_device_capability=lambda: (11, 5))


def on(gfx: str) -> unittest.mock._patch:
    return unittest.mock.patch.object(device, "gfx", lambda: gfx)


def words(values: torch.Tensor, order: tuple[int, ...] = layouts.STANDARD) -> torch.Tensor:
    """int32 of eight values along the last dimension; nibble order[i] has value i."""
    parts = values.to(torch.int64).unflatten(-1, (-1, 8))
    return sum(parts[..., i] << 4 * place for i, place in enumerate(order)).to(torch.int64).to(torch.uint32).view(torch.int32)


class Quantized:
    """q [..., N, K], z and scales [..., N, K/G], and the dequantized weights."""

    def __init__(self, *shape: int, group: int) -> None:
        *front, n, k = shape
        self.group, self.shape = group, shape
        self.q = torch.from_numpy(RANDOM.integers(0, 16, shape))
        self.z = torch.from_numpy(RANDOM.integers(0, 16, (*front, n, k // group)))
        self.scales = torch.from_numpy(RANDOM.random(self.z.shape) / 64).to(HALF)

    def exact(self, zeros: bool) -> torch.Tensor:
        def wide(a: torch.Tensor) -> torch.Tensor:
            return a.double().repeat_interleave(self.group, -1)

        return (self.q - (wide(self.z) if zeros else 8)) * wide(self.scales)


def loader(*unused: object) -> None:
    """Parameters are filled here, not from a file."""


def compressed(layer: torch.nn.Module, of: Quantized, zeros: bool) -> dict[str, str]:
    """As CompressedTensorsWNA16.create_weights."""
    packed = {"packed_factor": 8, "weight_loader": loader}
    layer.register_parameter("weight_packed", PackedvLLMParameter(data=words(of.q), input_dim=1, output_dim=0, packed_dim=1, **packed))
    layer.register_parameter("weight_scale", GroupQuantScaleParameter(data=of.scales, input_dim=1, output_dim=0, weight_loader=loader))
    if zeros:
        z = words(of.z.T).T.contiguous()
        layer.register_parameter("weight_zero_point", PackedvLLMParameter(data=z, input_dim=1, output_dim=0, packed_dim=0, **packed))
    return {"w_q_param_name": "weight_packed", "w_s_param_name": "weight_scale", "w_zp_param_name": "weight_zero_point"}


def gptq(layer: torch.nn.Module, of: Quantized, zeros: bool) -> dict[str, str]:
    """As AutoGPTQLinearMethod.create_weights; the stored zero points are not read."""
    packed = {"packed_factor": 8, "weight_loader": loader, "input_dim": 0, "output_dim": 1}
    layer.register_parameter("qweight", PackedvLLMParameter(data=words(of.q).T.contiguous(), packed_dim=0, **packed))
    layer.register_parameter("qzeros", PackedvLLMParameter(data=words(of.z.T).contiguous(), packed_dim=1, **packed))
    layer.register_parameter("scales", GroupQuantScaleParameter(data=of.scales.T.contiguous(), input_dim=0, output_dim=1, weight_loader=loader))
    return {"w_q_param_name": "qweight", "w_s_param_name": "scales", "w_zp_param_name": "qzeros"}


def awq(layer: torch.nn.Module, of: Quantized, zeros: bool) -> dict[str, str]:
    """As an AWQ file, through vLLM's own conversion."""
    names = gptq(layer, of, zeros)
    packed = {"packed_factor": 8, "weight_loader": loader, "input_dim": 0, "output_dim": 1}
    for name, values in (("qweight", of.q.T), ("qzeros", of.z.T)):
        setattr(layer, name, PackedvLLMParameter(data=words(values, layouts.AWQ_ORDER), packed_dim=1, **packed))
    _convert_awq_to_standard_format(layer, "qweight", "qzeros", 4)
    return names


def config(n: int, k: int, group: int, zeros: bool, **changed: object) -> kernels.MPLinearLayerConfig:
    given = {"full_weight_shape": (k, n), "partition_weight_shape": (k, n), "weight_type": scalar_types.uint4 if zeros else scalar_types.uint4b8,
             "act_type": HALF, "group_size": group, "zero_points": zeros}  # fmt: skip
    return kernels.MPLinearLayerConfig(**(given | changed))


class Near(unittest.TestCase):
    def near(self, got: torch.Tensor, exact: torch.Tensor, part: float = 1e-3) -> None:
        self.assertEqual((got.shape, got.dtype), (exact.shape, HALF))
        self.assertLessEqual((got.double() - exact).abs().max(), part * exact.abs().max())


class Dense(Near):
    def test_entry_point(self) -> None:
        (found,) = (e for e in importlib.metadata.entry_points(group="vllm.general_plugins") if e.name == "nibblewave")
        self.assertIs(found.load(), plugin.register)

    def test_where_it_is_not_used(self) -> None:
        """On other GPUs and with other versions it changes nothing."""
        for gfx, version, text in (("", "0.33.0", "not ROCm"), ("gfx942", "0.33.0", "no kernels for gfx942"), ("gfx1151", "0.34.1", "vLLM is 0.34.1")):
            with on(gfx), unittest.mock.patch("vllm.__version__", version), unittest.mock.patch.object(plugin, "install") as install:
                with self.assertLogs("nibblewave.vllm", "WARNING") as logged:
                    plugin.register()
                install.assert_not_called()
                self.assertIn(text, logged.output[0])

    def test_first_in_the_list(self) -> None:
        listed = kernels._POSSIBLE_KERNELS[PlatformEnum.ROCM]
        self.assertEqual([place for place, kernel in enumerate(listed) if kernel is NibblewaveW4A16LinearKernel], [0])

    def test_chosen(self) -> None:
        """By vLLM's own function, where the platform is ROCm."""
        with on("gfx1151"), unittest.mock.patch.object(kernels, "current_platform", ROCM):
            self.assertIs(kernels.choose_mp_linear_kernel(config(64, 256, 128, False), 115), NibblewaveW4A16LinearKernel)

    def test_awq_method(self) -> None:
        """From an AWQ config to the product, by vLLM's own calls: on ROCm its Triton kernels would have the layer."""
        layer, of = object.__new__(LinearBase), Quantized(24, 256, group=32)
        torch.nn.Module.__init__(layer)
        with on("gfx1151"), unittest.mock.patch.object(kernels, "current_platform", ROCM):
            method = awq_config().get_quant_method(layer, "model.layers.0.mlp.down_proj")
            self.assertIs(type(method), methods.NibblewaveAWQLinearMethod)
            method.create_weights(layer, 256, [24], 256, 24, HALF, weight_loader=loader)
            for name, values in (("qweight", words(of.q.T, layouts.AWQ_ORDER)), ("qzeros", words(of.z.T, layouts.AWQ_ORDER)), ("scales", of.scales.T)):
                getattr(layer, name).data.copy_(values)
            method.process_weights_after_loading(layer)
        x = torch.randn(3, 256).to(HALF)
        self.near(method.apply(layer, x), x.double() @ of.exact(True).T)
        with on(""):
            self.assertIs(type(awq_config().get_quant_method(layer, "model.layers.0.mlp.down_proj")), auto_awq.AutoAWQLinearMethod)

    def test_layouts(self) -> None:
        for layout, zeros in ((compressed, False), (compressed, True), (gptq, False), (awq, True)):
            for n, group in ((24, 32), (64, 128)):
                with self.subTest(layout=layout.__name__, zeros=zeros, n=n), on("gfx1151"):
                    layer, of = torch.nn.Module(), Quantized(n, 256, group=group)
                    kernel = NibblewaveW4A16LinearKernel(config(n, 256, group, zeros), **layout(layer, of, zeros))
                    kernel.process_weights_after_loading(layer)
                    x, bias = torch.randn(2, 3, 256).to(HALF), torch.randn(n).to(HALF)
                    exact = x.double() @ of.exact(zeros).T
                    self.near(kernel.apply_weights(layer, x), exact)
                    self.near(kernel.apply_weights(layer, x[:, ::2], bias), exact[:, ::2] + bias.double())

    def test_weights_of_vllms_own_kernel(self) -> None:
        """RDNAHybrid loads a layer; nibblewave multiplies by its buffers as they are: the words are its own, zero points are typed."""
        for layout, zeros in ((compressed, False), (compressed, True), (gptq, False), (awq, True)):
            with self.subTest(layout=layout.__name__, zeros=zeros), on("gfx1151"):
                of = Quantized(24, 256, group=32)
                theirs, ours = torch.nn.Module(), torch.nn.Module()
                names = layout(theirs, of, zeros)
                hybrid = RDNAHybridW4A16LinearKernel(config(24, 256, 32, zeros), **names)
                hybrid.process_weights_after_loading(theirs)
                NibblewaveW4A16LinearKernel(config(24, 256, 32, zeros), **layout(ours, of, zeros)).process_weights_after_loading(ours)
                w, scales, z = hybrid._get_weight_params(theirs)
                self.assertTrue(torch.equal(w.view(torch.int32), getattr(ours, names["w_q_param_name"])))
                x = torch.randn(3, 256).to(HALF)
                got = nt.linear_w4a16(x, w.view(torch.int32), scales, 32, zeros=z if zeros else None)
                self.near(got, x.double() @ of.exact(zeros).T)

    def test_padded_rows(self) -> None:
        """As on gfx1151, where contiguous rows use few DRAM channels."""
        layer, of = torch.nn.Module(), Quantized(24, 256, group=128)
        with on("gfx1151"), unittest.mock.patch.object(device, "row_bytes", lambda tensor, k: k // 2 + 128):
            kernel = NibblewaveW4A16LinearKernel(config(24, 256, 128, False), **compressed(layer, of, False))
            kernel.process_weights_after_loading(layer)
        self.assertEqual(layer.weight_packed.stride(), (64, 1))
        x = torch.randn(3, 256).to(HALF)
        self.near(kernel.apply_weights(layer, x), x.double() @ of.exact(False).T)

    def test_one_scale_to_a_row(self) -> None:
        layer, of = torch.nn.Module(), Quantized(24, 256, group=256)
        with on("gfx1151"):
            kernel = NibblewaveW4A16LinearKernel(config(24, 256, -1, False), **compressed(layer, of, False))
            kernel.process_weights_after_loading(layer)
        x = torch.randn(3, 256).to(HALF)
        self.near(kernel.apply_weights(layer, x), x.double() @ of.exact(False).T)

    def test_compiled(self) -> None:
        layer, of = torch.nn.Module(), Quantized(24, 256, group=128)
        with on("gfx1151"):
            kernel = NibblewaveW4A16LinearKernel(config(24, 256, 128, False), **gptq(layer, of, False))
            kernel.process_weights_after_loading(layer)
        x = torch.randn(3, 256).to(HALF)
        compiled = torch.compile(lambda x: kernel.apply_weights(layer, x) * 2, backend="aot_eager", fullgraph=True)
        self.assertTrue(torch.equal(compiled(x), kernel.apply_weights(layer, x) * 2))

    def test_refused(self) -> None:
        cases = [
            ("gfx1151", config(24, 256, 64, False, weight_type=scalar_types.uint8b128), "it takes uint4b8 and uint4"),
            ("gfx1151", config(24, 256, 64, False, act_type=torch.float32), "it takes float16 and bfloat16"),
            ("gfx1151", config(24, 256, 16, False), "it takes 32, 64 and 128"),
            ("gfx1151", config(24, 288, 64, False), "K = 288: it must be a multiple of the group"),
            ("gfx1151", config(24, 256, 64, True, weight_type=scalar_types.uint4b8), "uint4 has them, uint4b8 not"),
            ("gfx1151", config(24, 256, -1, True), "zero points of a row's only group"),
            ("gfx942", config(24, 256, 64, False), "no kernels for gfx942: build its wheel with NIBBLEWAVE_WHEEL_GFX=gfx942"),
            ("", config(24, 256, 64, False), "the platform is not ROCm"),
        ]  # fmt: skip
        for gfx, asked, text in cases:
            with self.subTest(text=text), on(gfx):
                fits, reason = NibblewaveW4A16LinearKernel.can_implement(asked)
                self.assertFalse(fits)
                self.assertIn(text, reason)
        with on("gfx1151"):
            self.assertEqual(NibblewaveW4A16LinearKernel.can_implement(config(24, 256, 64, True)), (True, None))


class Layer(torch.nn.Module):
    """The attributes of vLLM's RoutedExperts that methods use."""

    def __init__(self, experts_: int) -> None:
        super().__init__()
        self.local_num_experts, self.expert_map, self.apply_router_weight_on_input = experts_, None, False
        self._loaded_expert_biases: set[str] = set()


def moe_config(**changed: object) -> types.SimpleNamespace:
    given = {"in_dtype": HALF, "activation": MoEActivation.SILU, "swiglu_limit": None, "swiglu_alpha": None, "swiglu_beta": None,
             "is_lora_enabled": False, "hidden_dim": 64, "intermediate_size_per_partition": 96, "is_act_and_mul": True, "w13_num_shards": 2,
             "has_bias": False, "tp_size": 1}  # fmt: skip
    return types.SimpleNamespace(**(given | changed))


def compressed_config(symmetric: bool, **changed: object) -> types.SimpleNamespace:
    return types.SimpleNamespace(**({"num_bits": 4, "symmetric": symmetric, "strategy": "group", "group_size": 32, "actorder": None} | changed))


def gptq_config() -> auto_gptq.AutoGPTQConfig:
    return auto_gptq.AutoGPTQConfig(4, 32, False, True, False, {}, {})


def awq_config() -> auto_awq.AutoAWQConfig:
    return auto_awq.AutoAWQConfig.from_config({"quant_method": "awq", "bits": 4, "group_size": 32, "zero_point": True})


class Experts(Near):
    """E experts, hidden size 64, 96 intermediate; parameters of vLLM's create_weights."""

    E, HIDDEN, BETWEEN = 4, 64, 96

    def setUp(self) -> None:
        gpu = on("gfx1151")
        gpu.start()
        self.addCleanup(gpu.stop)
        self.w13, self.w2 = Quantized(self.E, 2 * self.BETWEEN, self.HIDDEN, group=32), Quantized(self.E, self.HIDDEN, self.BETWEEN, group=32)

    def layer(self, method: experts.Experts, filled: dict[str, torch.Tensor]) -> Layer:
        layer = Layer(self.E)
        method.create_weights(layer, self.E, self.HIDDEN, self.BETWEEN, HALF, weight_loader=loader)
        for name, values in filled.items():
            parameter = getattr(layer, name)
            self.assertEqual((parameter.shape, parameter.dtype), (values.shape, values.dtype), name)
            parameter.data.copy_(values)
        method.process_weights_after_loading(layer)
        return layer

    def parts(self, names: tuple[str, ...], made: object) -> dict[str, torch.Tensor]:
        return {f"{part}_{name}": values for part, of in (("w13", self.w13), ("w2", self.w2)) for name, values in zip(names, made(of))}

    def exact(self, x: torch.Tensor, weights: torch.Tensor, ids: torch.Tensor, zeros: bool) -> torch.Tensor:
        first, second, out = self.w13.exact(zeros), self.w2.exact(zeros), torch.zeros(len(x), self.HIDDEN, dtype=torch.float64)
        for t, chosen in enumerate(ids.tolist()):
            for place, expert in enumerate(chosen):
                if expert >= 0:
                    gate, up = (first[expert] @ x[t].double()).chunk(2)
                    between = (torch.nn.functional.silu(gate) * up).to(HALF).double()
                    out[t] += weights[t, place].double() * (second[expert] @ between)
        return out

    def multiplies(self, method: experts.Experts, layer: Layer, zeros: bool) -> None:
        self.assertFalse(method.is_monolithic)
        ids, weights = torch.tensor([[3, 1], [0, 2], [2, 3]], dtype=torch.int64), torch.rand(3, 2)
        x = torch.randn(3, self.HIDDEN).to(HALF)
        self.near(method.apply(layer, x, weights, ids, None, None), self.exact(x, weights, ids, zeros), 3e-3)
        local = torch.tensor([0, -1, 2, 3, -1], dtype=torch.int32)  # expert 1 is on another device
        layer.expert_map = local
        self.near(method.apply(layer, x, weights, ids, None, None), self.exact(x, weights, local[ids], zeros), 3e-3)
        layer.expert_map, layer.apply_router_weight_on_input = None, True
        one = weights[:, :1].to(HALF)
        exact = self.exact((x * one), torch.ones(3, 1), ids[:, :1], zeros)
        self.near(method.apply(layer, x, one, ids[:, :1], None, None), exact, 3e-3)

    def test_compressed_tensors(self) -> None:
        for symmetric in (True, False):
            method = methods.compressed.CompressedTensorsWNA16MoEMethod(compressed_config(symmetric), None, moe_config())
            self.assertIs(type(method), experts.NibblewaveCompressedTensorsMoEMethod)
            names = ("weight_packed", "weight_scale", *(() if symmetric else ("weight_zero_point",)))
            filled = self.parts(names, lambda of: (words(of.q), of.scales, words(of.z.mT).mT))
            self.multiplies(method, self.layer(method, filled), not symmetric)

    def test_gptq(self) -> None:
        method = experts.NibblewaveGPTQMoEMethod(gptq_config(), moe_config())
        filled = self.parts(("qweight", "scales"), lambda of: (words(of.q).mT, of.scales.mT))
        self.multiplies(method, self.layer(method, filled), False)

    def test_awq(self) -> None:
        method = experts.NibblewaveAWQMoEMethod(awq_config(), moe_config())
        order = layouts.AWQ_ORDER
        filled = self.parts(("qweight", "scales", "qzeros"), lambda of: (words(of.q.mT, order), of.scales.mT, words(of.z.mT, order)))
        self.multiplies(method, self.layer(method, filled), True)

    def test_bias(self) -> None:
        """Biases of a GPTQ file, which vLLM finds while it loads."""
        method = experts.NibblewaveGPTQMoEMethod(gptq_config(), moe_config())
        layer = self.layer(method, self.parts(("qweight", "scales"), lambda of: (words(of.q).mT, of.scales.mT)))
        layer.w2_bias.data.copy_(torch.randn(self.E, self.HIDDEN))
        x, ids, weights = torch.randn(2, self.HIDDEN).to(HALF), torch.tensor([[1], [2]]), torch.ones(2, 1)
        without = method.apply(layer, x, weights, ids, None, None)
        layer._loaded_expert_biases.add("w2_bias")
        self.near(method.apply(layer, x, weights, ids, None, None), without.double() + layer.w2_bias[[1, 2]].double(), 3e-3)

    def test_chosen_by_configs(self) -> None:
        """get_quant_method of vLLM's configs, of an expert layer."""
        layer = object.__new__(methods.RoutedExperts)
        torch.nn.Module.__init__(layer)
        layer.moe_config = moe_config()
        for asked, kind in ((gptq_config(), experts.NibblewaveGPTQMoEMethod), (awq_config(), experts.NibblewaveAWQMoEMethod)):
            self.assertIs(type(asked.get_quant_method(layer, "model.layers.0.mlp.experts")), kind)

    def test_refused(self) -> None:
        cases = [
            ("8 bits: it takes 4", moe_config(), (8, 32, False)), ("groups of 16", moe_config(), (4, 16, False)),
            ("LoRA", moe_config(is_lora_enabled=True), (4, 32, False)), ("SwiGLU with limits", moe_config(swiglu_limit=7.0), (4, 32, False)),
            ("activation", moe_config(activation=MoEActivation.GELU), (4, 32, False)),
            ("float32", moe_config(in_dtype=torch.float32), (4, 32, False)),
            ("no multiple of the group", moe_config(intermediate_size_per_partition=100), (4, 32, False)),
            ("end within a word", moe_config(intermediate_size_per_partition=98), (4, 32, True)),
        ]  # fmt: skip
        for text, moe, asked in cases:
            self.assertIn(text, experts.refusal(moe, *asked))
        self.assertIsNone(experts.refusal(moe_config(), 4, 32, True))
        with on(""):
            self.assertIn("not ROCm", experts.refusal(moe_config(), 4, 32, True))

    def test_vllms_own_stays(self) -> None:
        """Refused layers use vLLM's own method."""
        own = unittest.mock.Mock(return_value="vLLM's")
        choose = methods._compressed(own)
        self.assertEqual(choose(compressed_config(True, num_bits=8), None, moe_config()), "vLLM's")


def load_tests(loader: unittest.TestLoader, tests: unittest.TestSuite, pattern: str | None) -> unittest.TestSuite:
    tests.addTests(loader.loadTestsFromName("vllm_act_order_cases"))
    return tests


if __name__ == "__main__":
    unittest.main()
