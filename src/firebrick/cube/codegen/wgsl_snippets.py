"""Functions that generated WGSL calls: arithmetic, conversions, bits and planes.

`snippets.py` says what `$T` means. Here `$z` is the suffix of literals of the type, `$u` that of
its unsigned twin, `$LOW` and `$TOP` the smallest integer and one more than the largest.
"""

from __future__ import annotations

_ARITHMETIC = {
    "hold": "fn f_hold_$t(x: $T) -> $T { return x; }",
    "floordiv.int": """fn f_floordiv_$t(a: $T, b: $T) -> $T {
    if (b == 0$z) { return 0$z; }
    if (b == -1$z) { return -a; }
    let q = a / b;
    if (q * b != a && (a < 0$z) != (b < 0$z)) { return q - 1$z; }
    return q;
}""",
    "floordiv.uint": """fn f_floordiv_$t(a: $T, b: $T) -> $T {
    if (b == 0$z) { return 0$z; }
    return a / b;
}""",
    "floordiv.float": "fn f_floordiv_$t(a: $T, b: $T) -> $T { return floor(a / b); }",
    "mod.int": """fn f_mod_$t(a: $T, b: $T) -> $T {
    if (b == 0$z || b == -1$z) { return 0$z; }
    let r = a - a / b * b;
    if (r != 0$z && (r < 0$z) != (b < 0$z)) { return r + b; }
    return r;
}""",
    "mod.uint": """fn f_mod_$t(a: $T, b: $T) -> $T {
    if (b == 0$z) { return 0$z; }
    return a - a / b * b;
}""",
    "shl": """fn f_shl_$t(x: $T, n: $T) -> $T {
    if ($U(n) >= $bits$u) { return 0$z; }
    return x << u32(n);
}""",
    "shr.int": """fn f_shr_$t(x: $T, n: $T) -> $T {
    if ($U(n) >= $bits$u) { return select(0$z, -1$z, x < 0$z); }
    return x >> u32(n);
}""",
    "shr.uint": """fn f_shr_$t(x: $T, n: $T) -> $T {
    if (n >= $bits$u) { return 0$z; }
    return x >> u32(n);
}""",
    "min": "fn f_min_$t(a: $T, b: $T) -> $T { return min(a, b); }",
    "max": "fn f_max_$t(a: $T, b: $T) -> $T { return max(a, b); }",
    "min.float": """fn f_min_$t(a: $T, b: $T) -> $T {
    if (f_is_nan_$t(a)) { return a; }
    if (f_is_nan_$t(b)) { return b; }
    return select(a, b, b < a);
}""",
    "max.float": """fn f_max_$t(a: $T, b: $T) -> $T {
    if (f_is_nan_$t(a)) { return a; }
    if (f_is_nan_$t(b)) { return b; }
    return select(a, b, a < b);
}""",
}

_CONVERSIONS = {
    "float.f32": "fn f_float_f32(bits: u32) -> f32 { return bitcast<f32>(bits); }",
    "float.f64": "fn f_float_f64(bits: u64) -> f64 { return bitcast<f64>(bits); }",
    "cast.int": """fn f_cast_$t_$s(x: $S) -> $T {
    if (f_is_nan_$s(x)) { return 0$z; }
    if (x >= $TOP$zs) { return $MAX; }
    if (x < $LOW$zs) { return $MIN; }
    return $T(x);
}""",
    "cast.uint": """fn f_cast_$t_$s(x: $S) -> $T {
    if (f_is_nan_$s(x) || x <= 0.0$zs) { return 0$z; }
    if (x >= $TOP$zs) { return $MAX; }
    return $T(x);
}""",
    "round.f16": "fn f_round_f16(x: f32) -> f32 { return f32(f16(x)); }",
    "odd": """fn f_odd_f64(x: f64) -> f32 {
    let nearest = f32(x);
    let bits = bitcast<u32>(nearest);
    if (f64(nearest) == x || f_is_nan_f64(x) || (bits & 1u) == 1u) { return nearest; }
    return bitcast<f32>(select(bits + 1u, bits - 1u, abs(f64(nearest)) > abs(x)));
}""",
    "is_nan.f32": """fn f_is_nan_f32(x: f32) -> bool {
    return (bitcast<u32>(x) & 0x7fffffffu) > 0x7f800000u;
}""",
    "is_inf.f32": """fn f_is_inf_f32(x: f32) -> bool {
    return (bitcast<u32>(x) & 0x7fffffffu) == 0x7f800000u;
}""",
    "is_nan.f64": """fn f_is_nan_f64(x: f64) -> bool {
    return (bitcast<u64>(x) & 0x7ffffffffffffffflu) > 0x7ff0000000000000lu;
}""",
    "is_inf.f64": """fn f_is_inf_f64(x: f64) -> bool {
    return (bitcast<u64>(x) & 0x7ffffffffffffffflu) == 0x7ff0000000000000lu;
}""",
}

_BITS = {
    "count_ones": "fn f_count_ones_$t(x: $T) -> $T { return countOneBits(x); }",
    "reverse_bits": "fn f_reverse_bits_$t(x: $T) -> $T { return reverseBits(x); }",
    "leading_zeros": "fn f_leading_zeros_$t(x: $T) -> $T { return countLeadingZeros(x); }",
    "trailing_zeros": "fn f_trailing_zeros_$t(x: $T) -> $T { return countTrailingZeros(x); }",
}
# WGSL's functions work on 32 bits.
_WIDE_BITS = {
    "low": "fn f_low_$t(x: $T) -> u32 { return u32(bitcast<u64>(x) & 0xfffffffflu); }",
    "high": "fn f_high_$t(x: $T) -> u32 { return u32(bitcast<u64>(x) >> 32u); }",
    "count_ones": """fn f_count_ones_$t(x: $T) -> $T {
    return $T(countOneBits(f_low_$t(x)) + countOneBits(f_high_$t(x)));
}""",
    "reverse_bits": """fn f_reverse_bits_$t(x: $T) -> $T {
    let high = u64(reverseBits(f_low_$t(x)));
    return bitcast<$T>(high << 32u | u64(reverseBits(f_high_$t(x))));
}""",
    "leading_zeros": """fn f_leading_zeros_$t(x: $T) -> $T {
    let high = f_high_$t(x);
    if (high != 0u) { return $T(countLeadingZeros(high)); }
    return $T(32u + countLeadingZeros(f_low_$t(x)));
}""",
    "trailing_zeros": """fn f_trailing_zeros_$t(x: $T) -> $T {
    let low = f_low_$t(x);
    if (low != 0u) { return $T(countTrailingZeros(low)); }
    return $T(32u + countTrailingZeros(f_high_$t(x)));
}""",
}

_PLANES = {
    "plane_min": "fn f_plane_min_$t(x: $T) -> $T { return subgroupMin(x); }",
    "plane_max": "fn f_plane_max_$t(x: $T) -> $T { return subgroupMax(x); }",
    **{
        f"plane_{op}.float": f"""fn f_plane_{op}_$t(x: $T) -> $T {{
    let best = {function}(x);
    if (subgroupAny(f_is_nan_$t(x))) {{ return f_float_f32(0x7fc00000u); }}
    return best;
}}"""
        for op, function in (("min", "subgroupMin"), ("max", "subgroupMax"))
    },
    "lane": """fn f_lane_$t(x: $T, source: u32, lane: u32, units: u32) -> $T {
    return subgroupShuffle(x, select(lane, source, source < units));
}""",
}

SNIPPETS: dict[str, str] = {
    **_ARITHMETIC,
    **_CONVERSIONS,
    **_BITS,
    **{f"{stem}.{type}": text for stem, text in _WIDE_BITS.items() for type in ("i64", "u64")},
    **_PLANES,
}
