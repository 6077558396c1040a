# SPDX-License-Identifier: MIT
"""Launches a .hsaco of the build by manifest.json alone: launch("carrier_w4a16_f16", "gfx1151", n=40, k=256, ...)."""
import ctypes, json, os, struct
from pathlib import Path
from types import SimpleNamespace

BUILD = Path(os.environ["NW_BUILD_DIR"])
MANIFEST = json.loads((BUILD / "hsaco/manifest.json").read_text())
FUNCTIONS = {name: eval(text) for name, text in MANIFEST["functions"].items()}
hip = ctypes.CDLL(str(BUILD / "hipsim/libamdhip64.so"))


class Names(dict):  # the caller's values, and values derived from them
    def of(self, text: str): return eval(text, FUNCTIONS, self)
    def __missing__(self, name: str): return self.of(self["follows"][name])


def must(result: int) -> None: assert result == 0, f"hipError {result}"


def launch(symbol: str, gfx: str, **given) -> None:
    k = next(k for k in MANIFEST["kernels"] if (k["symbol"], k["gfx"]) == (symbol, gfx))
    f = MANIFEST["families"][k["family"]]
    p = {name: f["named"].get(name, {}).get(value, value) for name, value in k["params"].items()}
    facts = {"p": p, "kernel": k | {"block": k["block"][0]}, "target": MANIFEST["targets"][gfx]}
    follows = f["let"] | {a["name"]: a[how] for a in f["arguments"] for how in ("value", "default") if how in a}
    names = Names({name: SimpleNamespace(**row) for name, row in facts.items()} | given, follows=follows)
    names |= {value: p[parameter] for value, parameter in f["match"].items()}
    for rule in f["rules"]:
        if names.of(rule.get("when", "1")) and not names.of(rule["expr"]):
            raise ValueError(names.of(f"f'''{rule['text']}'''"))
    kernarg, size = ctypes.create_string_buffer(k["kernarg_bytes"]), ctypes.c_size_t(k["kernarg_bytes"])
    for a in f["arguments"]:
        struct.pack_into("<Q" if a["size"] == 8 else "<I", kernarg, a["offset"], names[a["name"]])
    grid, lds = [names.of(x) for x in f["grid"]], names.of(f["dynamic_lds_bytes"])
    module, function, config = ctypes.c_void_p(), ctypes.c_void_p(), (ctypes.c_void_p * 5)(1, ctypes.addressof(kernarg), 2, ctypes.addressof(size), 3)
    must(hip.hipModuleLoad(ctypes.byref(module), os.fsencode(BUILD / "hsaco" / k["file"])))
    must(hip.hipModuleGetFunction(ctypes.byref(function), module, symbol.encode()))
    must(hip.hipModuleLaunchKernel(function, *grid, *k["block"], lds, None, None, config))
    must(hip.hipDeviceSynchronize())
