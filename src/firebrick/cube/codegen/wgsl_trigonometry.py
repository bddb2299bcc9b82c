"""Angles, remainders and roots in f32 for WGSL, within a few units in the last place.

Drivers may be off by 2e-4 for `sin` and 2e-5 of the value for `atan`; `%` is not exact at all.

Sources: Cephes 2.8 `sinf.c`, `asinf.c`, `atanf.c` (S. Moshier, netlib.org/cephes). Small angles are
reduced by pi/2 in four parts (Cody and Waite 1980), large ones by multiplying with 96 bits of 2/pi
(Payne and Hanek 1983, "Radian reduction for trigonometric functions"). The remainder is long
division of the significands.
"""

from __future__ import annotations

# The angle in the quadrant around 0, and which quadrant it was in.
_REDUCED = """fn f_reduced(x: f32) -> vec2<f32> {
    let size = abs(x);
    var r = 0.0f;
    var quadrant = 0u;
    if (size < 12000.0f) {
        let n = round(size * 6.3661977e-1f);
        r = ((size - n * 1.5703125f) - n * 4.8375129699707031e-4f) - n * 7.5495336204767227e-8f;
        r = r - n * 2.5633440682570896e-12f;
        quadrant = u32(n);
    } else {
        let large = f_reduced_large(bitcast<u32>(size));
        r = large.x;
        quadrant = u32(large.y);
    }
    if (x < 0.0f) { return vec2<f32>(-r, f32((4u - quadrant % 4u) % 4u)); }
    return vec2<f32>(r, f32(quadrant % 4u));
}"""
_REDUCED_LARGE = """fn f_reduced_large(bits: u32) -> vec2<f32> {
    // x is m * 2**e; 96 bits of 2/pi are taken where their product with m is not a multiple of 4.
    var digits = array<u32, 8>(
        0u, 0xa2f9836eu, 0x4e441529u, 0xfc2757d1u,
        0xf534ddc0u, 0xdb629599u, 0x3c439041u, 0xfe5163abu,
    );
    let m = (bits & 0x007fffffu) | 0x00800000u;
    let offset = (bits >> 23u) - 120u;
    let word = offset >> 5u;
    let shift = offset & 31u;
    let w0 = f_funnel(digits[word], digits[word + 1u], shift);
    let w1 = f_funnel(digits[word + 1u], digits[word + 2u], shift);
    let w2 = f_funnel(digits[word + 2u], digits[word + 3u], shift);
    let p2 = m * w2;
    let carried = f_multiply_high(m, w2);
    let p1 = m * w1 + carried;
    let p0 = m * w0 + f_multiply_high(m, w1) + select(0u, 1u, p1 < carried);
    var quadrant = p0 >> 30u;
    var high = (p0 << 2u) | (p1 >> 30u);
    var low = (p1 << 2u) | (p2 >> 30u);
    let is_upper = high >= 0x80000000u;
    if (is_upper) {
        quadrant = quadrant + 1u;
        low = ~low + 1u;
        high = ~high + select(0u, 1u, low == 0u);
    }
    let zeros = min(countLeadingZeros(high), 31u);
    let top = f_funnel(high, low, zeros);
    let r = f32(top) * f_power_of_two(-32 - i32(zeros)) * 1.5707964f;
    return vec2<f32>(select(r, -r, is_upper), f32(quadrant % 4u));
}"""
_FUNNEL = """fn f_funnel(high: u32, low: u32, shift: u32) -> u32 {
    if (shift == 0u) { return high; }
    return (high << shift) | (low >> (32u - shift));
}"""
_MULTIPLY_HIGH = """fn f_multiply_high(a: u32, b: u32) -> u32 {
    let a0 = a & 0xffffu;
    let a1 = a >> 16u;
    let b0 = b & 0xffffu;
    let b1 = b >> 16u;
    let middle = a1 * b0 + ((a0 * b0) >> 16u);
    let other = a0 * b1 + (middle & 0xffffu);
    return a1 * b1 + (middle >> 16u) + (other >> 16u);
}"""
_SIN_NEAR = """fn f_sin_near_zero(r: f32) -> f32 {
    let z = r * r;
    let p = (-1.9515295891e-4f * z + 8.3321608736e-3f) * z - 1.6666654611e-1f;
    return p * z * r + r;
}"""
_COS_NEAR = """fn f_cos_near_zero(r: f32) -> f32 {
    let z = r * r;
    let p = (2.443315711809948e-5f * z - 1.388731625493765e-3f) * z + 4.166664568298827e-2f;
    return (p * z * z - 0.5f * z) + 1.0f;
}"""
# The sine of an angle that is some quadrants ahead.
_SIN_FROM = """fn f_sin_from(x: f32, ahead: u32) -> f32 {
    if ((bitcast<u32>(x) & 0x7fffffffu) >= 0x7f800000u) { return f_float_f32(0x7fc00000u); }
    let reduced = f_reduced(x);
    let quadrant = u32(reduced.y) + ahead;
    var result = f_sin_near_zero(reduced.x);
    if ((quadrant & 1u) == 1u) { result = f_cos_near_zero(reduced.x); }
    return select(result, -result, (quadrant & 2u) == 2u);
}"""
_TAN = """fn f_tan_f32(x: f32) -> f32 {
    if ((bitcast<u32>(x) & 0x7fffffffu) >= 0x7f800000u) { return f_float_f32(0x7fc00000u); }
    let reduced = f_reduced(x);
    let s = f_sin_near_zero(reduced.x);
    let c = f_cos_near_zero(reduced.x);
    return select(s / c, -c / s, (u32(reduced.y) & 1u) == 1u);
}"""

_ASIN_NEAR = """fn f_asin_near_zero(x: f32) -> f32 {
    let z = x * x;
    var p = 4.2163199048e-2f;
    p = p * z + 2.4181311049e-2f;
    p = p * z + 4.5470025998e-2f;
    p = p * z + 7.4953002686e-2f;
    p = p * z + 1.6666752422e-1f;
    return p * z * x + x;
}"""
_ASIN = """fn f_asin_f32(x: f32) -> f32 {
    let size = abs(x);
    if (!(size <= 1.0f)) { return f_float_f32(0x7fc00000u); }
    if (size <= 0.5f) { return f_asin_near_zero(x); }
    let result = 1.5707964f - 2.0f * f_asin_near_zero(sqrt(0.5f * (1.0f - size)));
    return select(result, -result, x < 0.0f);
}"""
_ACOS = """fn f_acos_f32(x: f32) -> f32 {
    let size = abs(x);
    if (!(size <= 1.0f)) { return f_float_f32(0x7fc00000u); }
    if (size <= 0.5f) { return 1.5707964f - f_asin_near_zero(x); }
    let result = 2.0f * f_asin_near_zero(sqrt(0.5f * (1.0f - size)));
    return select(result, 3.1415927f - result, x < 0.0f);
}"""
_ATAN = """fn f_atan_f32(x: f32) -> f32 {
    if (f_is_nan_f32(x)) { return x; }
    var a = abs(x);
    var result = 0.0f;
    if (a > 2.4142137f) {
        result = 1.5707964f;
        a = -1.0f / a;
    } else if (a > 0.41421357f) {
        result = 0.78539816f;
        a = (a - 1.0f) / (a + 1.0f);
    }
    let z = a * a;
    var p = 8.05374449538e-2f;
    p = p * z - 1.38776856032e-1f;
    p = p * z + 1.99777106478e-1f;
    p = p * z - 3.33329491539e-1f;
    result = result + (p * z * a + a);
    return f_with_sign(result, x);
}"""
_WITH_SIGN = """fn f_with_sign(size: f32, signed: f32) -> f32 {
    return bitcast<f32>((bitcast<u32>(size) & 0x7fffffffu) | (bitcast<u32>(signed) & 0x80000000u));
}"""
_ATAN2 = """fn f_atan2_f32(y: f32, x: f32) -> f32 {
    if (f_is_nan_f32(x)) { return x; }
    if (f_is_nan_f32(y)) { return y; }
    let across = abs(x);
    let up = abs(y);
    var slope = min(across, up) / max(across, up);
    if (max(across, up) == 0.0f) { slope = 0.0f; }
    if (f_is_inf_f32(across) && f_is_inf_f32(up)) { slope = 1.0f; }
    var result = f_atan_f32(slope);
    if (up > across) { result = 1.5707964f - result; }
    if (bitcast<u32>(x) >= 0x80000000u) { result = 3.1415927f - result; }
    return f_with_sign(result, y);
}"""
_HYPOT = """fn f_hypot_f32(x: f32, y: f32) -> f32 {
    if (f_is_inf_f32(x) || f_is_inf_f32(y)) { return f_float_f32(0x7f800000u); }
    if (f_is_nan_f32(x)) { return x; }
    if (f_is_nan_f32(y)) { return y; }
    let large = max(abs(x), abs(y));
    if (large == 0.0f) { return 0.0f; }
    let ratio = min(abs(x), abs(y)) / large;
    return large * sqrt(1.0f + ratio * ratio);
}"""


def _fmod(scalar: str, whole: str, suffix: str, fraction_bits: int, chunk: int) -> str:
    """The exact remainder of a truncated division; `chunk` bits fit above the significand."""
    bits = 64 if whole == "u64" else 32
    hidden = 1 << fraction_bits
    infinite = ((1 << (bits - 1)) - 1) & ~(hidden - 1)
    return f"""fn f_fmod_{scalar}(x: {scalar}, y: {scalar}) -> {scalar} {{
    let sign = bitcast<{whole}>(x) & {1 << (bits - 1):#x}{suffix};
    let size_x = bitcast<{whole}>(x) ^ sign;
    let size_y = bitcast<{whole}>(y) & {(1 << (bits - 1)) - 1:#x}{suffix};
    if (size_x >= {infinite:#x}{suffix} || size_y > {infinite:#x}{suffix} || size_y == 0{suffix}) {{
        return f_float_{scalar}({infinite | hidden >> 1:#x}{suffix});
    }}
    if (size_x < size_y) {{ return x; }}
    var e_x = u32(size_x >> {fraction_bits}u);
    var e_y = u32(size_y >> {fraction_bits}u);
    var m_x = size_x & {hidden - 1:#x}{suffix};
    var m_y = size_y & {hidden - 1:#x}{suffix};
    if (e_x == 0u) {{ e_x = 1u; }} else {{ m_x = m_x | {hidden:#x}{suffix}; }}
    if (e_y == 0u) {{ e_y = 1u; }} else {{ m_y = m_y | {hidden:#x}{suffix}; }}
    var left = e_x - e_y;
    var r = m_x % m_y;
    while (left > 0u) {{
        let step = min(left, {chunk}u);
        r = (r << step) % m_y;
        left = left - step;
    }}
    while (e_y > 1u && r != 0{suffix} && r < {hidden:#x}{suffix}) {{
        r = r << 1u;
        e_y = e_y - 1u;
    }}
    if (r >= {hidden:#x}{suffix}) {{
        r = (r ^ {hidden:#x}{suffix}) | ({whole}(e_y) << {fraction_bits}u);
    }}
    return bitcast<{scalar}>(r | sign);
}}"""


_MOD = """fn f_mod_$t(a: $T, b: $T) -> $T {
    let r = f_fmod_$t(a, b);
    if (r == 0.0$z) { return bitcast<$T>(bitcast<$U>(b) & $SIGN); }
    return select(r, r + b, (r < 0.0$z) != (b < 0.0$z));
}"""

SNIPPETS: dict[str, str] = {
    "reduced": _REDUCED,
    "reduced_large": _REDUCED_LARGE,
    "funnel": _FUNNEL,
    "multiply_high": _MULTIPLY_HIGH,
    "sin_near_zero": _SIN_NEAR,
    "cos_near_zero": _COS_NEAR,
    "sin_from": _SIN_FROM,
    "sin.f32": "fn f_sin_f32(x: f32) -> f32 { return select(f_sin_from(x, 0u), x, x == 0.0f); }",
    "cos.f32": "fn f_cos_f32(x: f32) -> f32 { return f_sin_from(x, 1u); }",
    "tan.f32": _TAN,
    "asin_near_zero": _ASIN_NEAR,
    "asin.f32": _ASIN,
    "acos.f32": _ACOS,
    "atan.f32": _ATAN,
    "with_sign": _WITH_SIGN,
    "atan2.f32": _ATAN2,
    "hypot.f32": _HYPOT,
    "fmod.f32": _fmod("f32", "u32", "u", 23, 8),
    "fmod.f64": _fmod("f64", "u64", "lu", 52, 11),
    "mod.f32": _MOD.replace("$SIGN", "0x80000000u"),
    "mod.f64": _MOD.replace("$SIGN", "0x8000000000000000lu"),
    "inverse_sqrt": "fn f_inverse_sqrt_$t(x: $T) -> $T { return 1.0$z / sqrt(x); }",
    "recip": "fn f_recip_$t(x: $T) -> $T { return 1.0$z / x; }",
    "degrees": "fn f_degrees_$t(x: $T) -> $T { return x * 57.295779513082323$z; }",
    "radians": "fn f_radians_$t(x: $T) -> $T { return x * 0.017453292519943295$z; }",
}
