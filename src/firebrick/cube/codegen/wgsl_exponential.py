"""Exponentials, logarithms and powers in f32 for WGSL, within a few units in the last place.

WGSL allows drivers large errors, and the ones seen use them: 10 ulp for `exp`, 3e-3 of the value
for `log` near 1, 2e-4 for `tanh` near 0, and they lose NaN. Numbers are taken apart as integers,
so that drivers that flush subnormal numbers keep the others right.

Sources: Cephes 2.8 `expf.c`, `sinhf.c`, `tanhf.c` (S. Moshier, netlib.org/cephes); FreeBSD msun
`e_logf.c`, `s_log1pf.c`, `e_powf.c` (Sun Microsystems 1993, freely granted). The polynomials of
`erf` are fits of our own at Chebyshev nodes: of erf(x) / x on [0, 1], error 2e-9, and of
log(1 - erf(x)) on [1, 4], error of erf 3e-9.
"""

from __future__ import annotations

_EXP = """fn f_exp_f32(x: f32) -> f32 {
    if (f_is_nan_f32(x)) { return x; }
    let y = clamp(x, -104.0f, 89.0f);
    let n = round(y * 1.44269504f);
    let r = (y - n * 0.693359375f) + n * 2.12194440e-4f;
    var p = 1.9875691500e-4f;
    p = p * r + 1.3981999507e-3f;
    p = p * r + 8.3334519073e-3f;
    p = p * r + 4.1665795894e-2f;
    p = p * r + 1.6666665459e-1f;
    p = p * r + 5.0000001201e-1f;
    return f_scale((p * r * r + r) + 1.0f, i32(n));
}"""

# Two steps, because the number in between may need an exponent that f32 does not have.
_SCALE = """fn f_scale(x: f32, n: i32) -> f32 {
    let half = n / 2;
    return x * f_power_of_two(half) * f_power_of_two(n - half);
}"""
_POWER_OF_TWO = """fn f_power_of_two(n: i32) -> f32 {
    return bitcast<f32>(u32(n + 127) << 23u);
}"""

_LOG = """fn f_log_f32(x: f32) -> f32 {
    let bits = bitcast<u32>(x);
    if (f_is_nan_f32(x) || bits == 0x7f800000u) { return x; }
    if ((bits & 0x7fffffffu) == 0u) { return f_float_f32(0xff800000u); }
    if (bits >= 0x80000000u) { return f_float_f32(0x7fc00000u); }
    var normal = bits;
    var n = 0;
    if (bits < 0x00800000u) {
        normal = bitcast<u32>(f32(bits));
        n = -149;
    }
    // x is 2**n * (1 + r), where 1 + r is between the roots of 1/2 and 2.
    normal = normal + (0x3f800000u - 0x3f3504f3u);
    n = n + i32(normal >> 23u) - 127;
    let r = bitcast<f32>((normal & 0x007fffffu) + 0x3f3504f3u) - 1.0f;
    return f_log_near_one(r, f32(n));
}"""
_LOG_NEAR_ONE = """fn f_log_near_one(r: f32, n: f32) -> f32 {
    let s = r / (2.0f + r);
    let z = s * s;
    let w = z * z;
    let p = z * (0.66666662693f + w * 0.28498786688f) + w * (0.40000972152f + w * 0.24279078841f);
    let h = 0.5f * r * r;
    return s * (h + p) + n * 9.0580006145e-6f - h + r + n * 6.9313812256e-1f;
}"""
_LOG1P = """fn f_log1p_f32(x: f32) -> f32 {
    if (f_is_nan_f32(x) || abs(x) < 5.9604645e-8f) { return x; }
    if (bitcast<u32>(x) == 0x7f800000u) { return x; }
    if (x > -0.29289323f && x < 0.41421357f) { return f_log_near_one(x, 0.0f); }
    let u = 1.0f + x;
    if (!(u > 0.0f)) { return f_log_f32(u); }
    let lost = select(x - (u - 1.0f), 1.0f - (u - x), x > 1.0f);
    return f_log_f32(u) + lost / u;
}"""

_SINH = """fn f_sinh_f32(x: f32) -> f32 {
    let size = abs(x);
    if (size < 1.0f) {
        let z = x * x;
        let p = (2.03721912945e-4f * z + 8.33028376239e-3f) * z + 1.66667160211e-1f;
        return p * z * x + x;
    }
    let e = f_exp_f32(select(size, 0.5f * size, size > 88.0f));
    let result = select(0.5f * e - 0.5f / e, 0.5f * e * e, size > 88.0f);
    return select(result, -result, x < 0.0f);
}"""
_COSH = """fn f_cosh_f32(x: f32) -> f32 {
    let size = abs(x);
    let e = f_exp_f32(select(size, 0.5f * size, size > 88.0f));
    return select(0.5f * e + 0.5f / e, 0.5f * e * e, size > 88.0f);
}"""
_TANH = """fn f_tanh_f32(x: f32) -> f32 {
    let size = abs(x);
    if (size < 0.625f) {
        let z = x * x;
        var p = -5.70498872745e-3f;
        p = p * z + 2.06390887954e-2f;
        p = p * z - 5.37397155531e-2f;
        p = p * z + 1.33314422036e-1f;
        p = p * z - 3.33332819422e-1f;
        return p * z * x + x;
    }
    let result = 1.0f - 2.0f / (f_exp_f32(2.0f * size) + 1.0f);
    return select(result, -result, x < 0.0f);
}"""

_ERF = """fn f_erf_f32(x: f32) -> f32 {
    if (f_is_nan_f32(x)) { return x; }
    let size = abs(x);
    if (size < 1e-10f) { return x * 1.1283792f; }
    if (size < 1.0f) {
        let z = x * x;
        var p = 7.8891193e-5f;
        p = p * z - 8.0208411e-4f;
        p = p * z + 5.1895352e-3f;
        p = p * z - 2.6854444e-2f;
        p = p * z + 1.1283600e-1f;
        p = p * z - 3.7612626e-1f;
        return (p * z + 1.2837911e-1f) * x + x;
    }
    let a = min(size, 4.0f);
    var q = 1.6668107e-4f;
    q = q * a - 2.7606017e-3f;
    q = q * a + 2.1113476e-2f;
    q = q * a - 1.0164015e-1f;
    q = q * a - 6.3978213e-1f;
    q = q * a - 1.1261324e0f;
    q = q * a - 5.7038153e-4f;
    let result = 1.0f - f_exp_f32(q);
    return select(result, -result, x < 0.0f);
}"""

_POWI = """fn f_powi_$t(x: $T, n: i32) -> $T {
    var power = 1.0$z;
    var base = x;
    var left = u32(abs(n));
    while (left != 0u) {
        if ((left & 1u) == 1u) { power = power * base; }
        base = base * base;
        left = left >> 1u;
    }
    return select(power, 1.0$z / power, n < 0);
}"""

# Whether y is an odd integer (1), an even one (2) or none (0).
_PARITY = """fn f_parity(y: f32) -> i32 {
    let size = abs(y);
    if (size >= 16777216.0f) { return 2; }
    if (floor(size) != size) { return 0; }
    return 2 - (i32(size) & 1);
}"""
_HEAD = """fn f_head(x: f32) -> f32 {
    return bitcast<f32>(bitcast<u32>(x) & 0xfffff000u);
}"""
_POW = """fn f_pow_f32(x: f32, y: f32) -> f32 {
    let size_x = bitcast<u32>(x) & 0x7fffffffu;
    let size_y = bitcast<u32>(y) & 0x7fffffffu;
    if (size_y == 0u || bitcast<u32>(x) == 0x3f800000u) { return 1.0f; }
    if (size_x > 0x7f800000u) { return x; }
    if (size_y > 0x7f800000u) { return y; }
    let grows = bitcast<u32>(y) < 0x80000000u;
    let infinite = f_float_f32(0x7f800000u);
    if (size_y == 0x7f800000u) {
        if (size_x == 0x3f800000u) { return 1.0f; }
        return select(0.0f, infinite, (size_x > 0x3f800000u) == grows);
    }
    let is_negative = bitcast<u32>(x) >= 0x80000000u;
    let parity = f_parity(y);
    var sign = 0u;
    if (is_negative && parity == 1) { sign = 0x80000000u; }
    if (size_x == 0u || size_x == 0x7f800000u) {
        let bits = select(0u, 0x7f800000u, (size_x != 0u) == grows);
        return bitcast<f32>(bits | sign);
    }
    if (is_negative && parity == 0) { return f_float_f32(0x7fc00000u); }
    let logarithm = f_log2_parts(size_x, size_y);
    let power = f_exp2_parts(y, logarithm);
    return bitcast<f32>(bitcast<u32>(power) | sign);
}"""
# log2 of a positive finite number as a sum of two f32, the first of 12 bits.
_LOG2_PARTS = """fn f_log2_parts(bits: u32, size_y: u32) -> vec2<f32> {
    if (size_y > 0x4d000000u && bits > 0x3f7ffff7u && bits < 0x3f800008u) {
        let t = bitcast<f32>(bits) - 1.0f;
        let w = t * t * (0.5f - t * (0.333333333333f - t * 0.25f));
        let u = 1.4426879883f * t;
        let v = t * 7.0526075433e-6f - w * 1.4426950216f;
        let high = f_head(u + v);
        return vec2<f32>(high, v - (high - u));
    }
    var normal = bits;
    var n = 0;
    if (bits < 0x00800000u) {
        normal = bitcast<u32>(f32(bits));
        n = -149;
    }
    n = n + i32(normal >> 23u) - 127;
    let fraction = normal & 0x007fffffu;
    normal = fraction | 0x3f800000u;
    var k = 0u;
    if (fraction > 0x1cc471u) {
        if (fraction < 0x5db3d7u) {
            k = 1u;
        } else {
            n = n + 1;
            normal = normal - 0x00800000u;
        }
    }
    let a = bitcast<f32>(normal);
    let center = select(1.0f, 1.5f, k == 1u);
    // s = (a - center) / (a + center), in two parts.
    let u = a - center;
    let v = 1.0f / (a + center);
    let s = u * v;
    let s_high = f_head(s);
    let t_bits = ((normal >> 1u) & 0xfffff000u) | 0x20000000u;
    let t_high = bitcast<f32>(t_bits + 0x00400000u + (k << 21u));
    let t_low = a - (t_high - center);
    let s_low = v * ((u - s_high * t_high) - s_high * t_low);
    let z = s * s;
    var r = 2.0697501302e-1f;
    r = r * z + 2.3066075146e-1f;
    r = r * z + 2.7272811532e-1f;
    r = r * z + 3.3333334327e-1f;
    r = r * z + 4.2857143283e-1f;
    r = r * z + 6.0000002384e-1f;
    r = z * z * r + s_low * (s_high + s);
    let s_square = s_high * s_high;
    let q_high = f_head(3.0f + s_square + r);
    let q_low = r - ((q_high - 3.0f) - s_square);
    let first = s_high * q_high;
    let second = s_low * q_high + q_low * s;
    let p_high = f_head(first + second);
    let p_low = second - (p_high - first);
    let z_high = 9.6191406250e-1f * p_high;
    let z_low = -1.1736857402e-4f * p_high + p_low * 9.6179670095e-1f
        + select(0.0f, 1.56322085e-6f, k == 1u);
    let d_high = select(0.0f, 5.84960938e-1f, k == 1u);
    let t = f32(n);
    let high = f_head(((z_high + z_low) + d_high) + t);
    return vec2<f32>(high, z_low - (((high - t) - d_high) - z_high));
}"""
# 2**(y * logarithm).
_EXP2_PARTS = """fn f_exp2_parts(y: f32, logarithm: vec2<f32>) -> f32 {
    let y_high = f_head(y);
    let p_low = (y - y_high) * logarithm.x + y * logarithm.y;
    let p_high = y_high * logarithm.x;
    let z = p_low + p_high;
    if (z > 128.0f || (z == 128.0f && p_low + 4.2995665694e-8f > z - p_high)) {
        return f_float_f32(0x7f800000u);
    }
    if (z < -150.0f) { return 0.0f; }
    let n = round(z);
    let rest = p_high - n;
    let t = bitcast<f32>(bitcast<u32>(p_low + rest) & 0xffff8000u);
    let u = t * 6.93145752e-1f;
    let v = (p_low - (t - rest)) * 6.9314718246e-1f + t * 1.42860654e-6f;
    let w = u + v;
    let lost = v - (w - u);
    let s = w * w;
    var p = 4.1381369442e-8f;
    p = p * s - 1.6533901999e-6f;
    p = p * s + 6.6137559770e-5f;
    p = p * s - 2.7777778450e-3f;
    p = p * s + 1.6666667163e-1f;
    let c = w - s * p;
    let r = (w * c) / (c - 2.0f) - (lost + w * lost);
    return f_scale(1.0f - (r - w), i32(n));
}"""

SNIPPETS: dict[str, str] = {
    "exp.f32": _EXP,
    "scale": _SCALE,
    "power_of_two": _POWER_OF_TWO,
    "log.f32": _LOG,
    "log_near_one": _LOG_NEAR_ONE,
    "log1p.f32": _LOG1P,
    "sinh.f32": _SINH,
    "cosh.f32": _COSH,
    "tanh.f32": _TANH,
    "erf.f32": _ERF,
    "powi": _POWI,
    "parity": _PARITY,
    "head": _HEAD,
    "pow.f32": _POW,
    "log2_parts": _LOG2_PARTS,
    "exp2_parts": _EXP2_PARTS,
}
