# SPDX-License-Identifier: MIT
"""Waves of a kernel per SIMD (T-002, T-003). host/base/occupancy.h has the same formula; a test compares them."""

from __future__ import annotations

from collections.abc import Mapping


def waves_per_simd(arch: Mapping[str, int], vgprs: int, lds_bytes: int, waves: int) -> int:
    """Waves per SIMD in whole workgroups of `waves` wave32, limited by VGPRs of a SIMD, LDS and wave slots of a WGP."""
    simds, granule, block = arch["simds_per_wgp"], arch["vgpr_granule"], arch["lds_block"]
    by_vgprs = min(arch["max_waves"], arch["vgprs_per_simd"] // (-(-vgprs // granule) * granule))
    groups = simds * by_vgprs // waves
    if lds_bytes > arch["lds_per_workgroup"]:
        return 0
    if lds_bytes:
        groups = min(groups, arch["lds_per_wgp"] // (-(-lds_bytes // block) * block))
    return groups * waves // simds
