"""Functions that generated C++ calls: arithmetic, conversions, bits, atomics and planes.

`snippets.py` says what `$T` and `@name` mean. Here `$W` is the unsigned type that integers are
computed in, `$B` the unsigned type of a float's bits, `$LOW` and `$TOP` the smallest integer and
one more than the largest, `$z` the suffix of literals.
"""

from __future__ import annotations

from firebrick.cube.ir.types import BITS

HEAD = "static __device__ inline"

_ARITHMETIC = {
    "add": "$T f_add_$t($T a, $T b) { return $round(a + b); }",
    "sub": "$T f_sub_$t($T a, $T b) { return $round(a - b); }",
    "mul": "$T f_mul_$t($T a, $T b) { return $round(a * b); }",
    "and": "$T f_and_$t($T a, $T b) { return ($T)(a & b); }",
    "or": "$T f_or_$t($T a, $T b) { return ($T)(a | b); }",
    "xor": "$T f_xor_$t($T a, $T b) { return ($T)(a ^ b); }",
    "floordiv.int": """$T f_floordiv_$t($T a, $T b) {
    if (b == 0) return 0;
    if (b == -1) return ($T)(0u - ($W)a);
    const $T q = ($T)(a / b);
    return a % b != 0 && (a < 0) != (b < 0) ? ($T)(q - 1) : q;
}""",
    "floordiv.uint": "$T f_floordiv_$t($T a, $T b) { return b == 0 ? 0 : ($T)(a / b); }",
    "floordiv.float": "$T f_floordiv_$t($T a, $T b) { return @floor(a / b); }",
    "mod.int": """$T f_mod_$t($T a, $T b) {
    if (b == 0 || b == -1) return 0;
    const $T r = ($T)(a % b);
    return r != 0 && (r < 0) != (b < 0) ? ($T)(r + b) : r;
}""",
    "mod.uint": "$T f_mod_$t($T a, $T b) { return b == 0 ? 0 : ($T)(a % b); }",
    # As np.mod: exact, then moved to the side of the divisor.
    "mod.float": """$T f_mod_$t($T a, $T b) {
    const $T r = @fmod(a, b);
    if (r == 0) return b < 0 ? -0.0$z : 0.0$z;
    return (r < 0) != (b < 0) && r == r ? r + b : r;
}""",
    "shl": "$T f_shl_$t($T x, $T n) { return ($U)n >= $bits ? 0 : ($T)(($W)x << ($U)n); }",
    "shr": "$T f_shr_$t($T x, $T n) { return ($T)(x >> (($U)n >= $bits ? $bits - 1 : ($U)n)); }",
    "shr.uint": "$T f_shr_$t($T x, $T n) { return n >= $bits ? 0 : ($T)(x >> n); }",
    "min": "$T f_min_$t($T a, $T b) { return b < a ? b : a; }",
    "max": "$T f_max_$t($T a, $T b) { return a < b ? b : a; }",
    "min.float": "$T f_min_$t($T a, $T b) { return a != a ? a : b != b ? b : b < a ? b : a; }",
    "max.float": "$T f_max_$t($T a, $T b) { return a != a ? a : b != b ? b : a < b ? b : a; }",
}  # fmt: skip

_MATHEMATICS = {
    "abs": "$T f_abs_$t($T x) { return x < 0 ? ($T)(0u - ($W)x) : x; }",
    "abs.uint": "$T f_abs_$t($T x) { return x; }",
    "recip": "$T f_recip_$t($T x) { return 1 / x; }",
    "degrees": "$T f_degrees_$t($T x) { return x * 57.295779513082323$z; }",
    "radians": "$T f_radians_$t($T x) { return x * 0.017453292519943295$z; }",
    "powi": """$T f_powi_$t($T x, int n) {
    $T power = 1;
    for (unsigned left = n < 0 ? 0u - (unsigned)n : (unsigned)n; left != 0; left >>= 1) {
        if (left & 1u) power *= x;
        x *= x;
    }
    return n < 0 ? 1 / power : power;
}""",
    "is_nan": """bool f_is_nan_$t($T x) {
    return (__builtin_bit_cast($B, x) & (($B)-1 >> 1)) > $INF;
}""",
    "is_inf": """bool f_is_inf_$t($T x) {
    return (__builtin_bit_cast($B, x) & (($B)-1 >> 1)) == $INF;
}""",
    "count_ones": "$T f_count_ones_$t($T x) { return ($T)@popc32(($U)x); }",
    "reverse_bits": "$T f_reverse_bits_$t($T x) { return ($T)(@brev32(($U)x) >> (32 - $bits)); }",
    "leading_zeros": """$T f_leading_zeros_$t($T x) {
    return ($T)(x == 0 ? $bits : @clz32(($U)x) - (32 - $bits));
}""",
    "trailing_zeros": """$T f_trailing_zeros_$t($T x) {
    return ($T)(x == 0 ? $bits : @ctz32(($U)x));
}""",
}  # fmt: skip

_CONVERSIONS = {
    "cast.int": """$T f_cast_$t_$s($S x) {
    if (x != x) return 0;
    if (x >= $TOP$zs) return $MAX;
    return x < $LOW$zs ? $MIN : ($T)x;
}""",
    "cast.uint": """$T f_cast_$t_$s($S x) {
    if (!(x > 0)) return 0;
    return x >= $TOP$zs ? $MAX : ($T)x;
}""",
    "round": "$T f_round_$t($T x) { return f_unpack_$t(f_pack_$t(x)); }",
    "pack.bf16": """unsigned short f_pack_bf16(float x) {
    const unsigned u = __builtin_bit_cast(unsigned, x);
    if ((u & 0x7fffffffu) > 0x7f800000u) return (unsigned short)((u >> 16) | 0x40u);
    return (unsigned short)((u + 0x7fffu + ((u >> 16) & 1u)) >> 16);
}""",
    "unpack.bf16": """float f_unpack_bf16(unsigned short x) {
    return __builtin_bit_cast(float, (unsigned)x << 16);
}""",
    # Rounded to odd, an f64 can be rounded once more without being rounded twice.
    "odd": """float f_odd_f64(double x) {
    const float nearest = (float)x;
    unsigned u = __builtin_bit_cast(unsigned, nearest);
    if (nearest == x || x != x || (u & 1u)) return nearest;
    const double size = nearest < 0 ? -(double)nearest : (double)nearest;
    u += size > (x < 0 ? -x : x) ? ~0u : 1u;
    return __builtin_bit_cast(float, u);
}""",
}

_READ_MODIFY_WRITE = """$T f_atomic_$OP_$t($E* p, $T x) {
    $U* place = ($U*)p;
    $U old = *(volatile $U*)place;
    for (;;) {
        const $T next = f_$COMBINE_$t(f_unbits_$t(old), x);
        const $U found = f_swap_u$bits(place, old, f_bits_$t(next));
        if (found == old) return f_unbits_$t(old);
        old = found;
    }
}"""
_COMBINED = {"add": "add", "sub": "sub", "max": "max", "min": "min", "and": "and", "or": "or",
             "xor": "xor", "exchange": "second"}  # fmt: skip

_ATOMICS = {
    **{
        f"atomic_{op}": _READ_MODIFY_WRITE.replace("$OP", op).replace("$COMBINE", combine)
        for op, combine in _COMBINED.items()
    },
    "atomic_load": """$T f_atomic_load_$t($E* p) {
    return f_unbits_$t(*(volatile $U*)p);
}""",
    "atomic_store": """void f_atomic_store_$t($E* p, $T x) {
    *(volatile $U*)p = f_bits_$t(x);
}""",
    "atomic_compare_exchange": """$T f_atomic_compare_exchange_$t($E* p, $T expected, $T x) {
    return f_unbits_$t(f_swap_u$bits(($U*)p, f_bits_$t(expected), f_bits_$t(x)));
}""",
    "second": "$T f_second_$t($T, $T b) { return b; }",
    "bits": "$U f_bits_$t($T x) { return __builtin_bit_cast($U, x); }",
    "unbits": "$T f_unbits_$t($U x) { return __builtin_bit_cast($T, x); }",
    "bits.f16": "$U f_bits_$t($T x) { return f_pack_$t(x); }",
    "unbits.f16": "$T f_unbits_$t($U x) { return f_unpack_$t(x); }",
    "bits.bf16": "$U f_bits_$t($T x) { return f_pack_$t(x); }",
    "unbits.bf16": "$T f_unbits_$t($U x) { return f_unpack_$t(x); }",
    # Elements of less than 32 bits are exchanged with the aligned word that they stand in.
    "swap": """$U f_swap_$t($U* p, $U expected, $U x) {
    const unsigned long long address = (unsigned long long)p;
    unsigned* word = (unsigned*)(address & ~3ull);
    const unsigned shift = (unsigned)(address & 3ull) * 8u;
    const unsigned mask = (unsigned)($U)-1 << shift;
    unsigned old = *(volatile unsigned*)word;
    while (($U)(old >> shift) == expected) {
        const unsigned found = f_swap_u32(word, old, (old & ~mask) | (unsigned)x << shift);
        if (found == old) return expected;
        old = found;
    }
    return ($U)(old >> shift);
}""",
}

_REDUCE = """$T f_plane_$OP_$t($T x, unsigned lane, unsigned units) {
    for (unsigned step = 1; step < @plane; step *= 2) {
        const bool has = lane + step < units;
        const $T other = f_lane_$t(x, has ? lane + step : lane, units);
        if (has) x = f_$COMBINE_$t(x, other);
    }
    return f_lane_$t(x, 0u, units);
}"""
_SCAN = """$T f_plane_inclusive_$OP_$t($T x, unsigned lane, unsigned units) {
    for (unsigned step = 1; step < @plane; step *= 2) {
        const $T other = f_lane_$t(x, lane >= step ? lane - step : lane, units);
        if (lane >= step) x = f_$COMBINE_$t(other, x);
    }
    return x;
}"""
_SCAN_BEFORE = """$T f_plane_exclusive_$OP_$t($T x, unsigned lane, unsigned units) {
    const $T all = f_plane_inclusive_$OP_$t(x, lane, units);
    const $T before = f_lane_$t(all, lane == 0u ? lane : lane - 1u, units);
    return lane == 0u ? ($T)$NEUTRAL : before;
}"""
# A source that the plane does not have is the unit itself.
_EXCHANGE = """$T f_plane_$OP_$t($T x, unsigned n, unsigned lane, unsigned units) {
    const unsigned from = $FROM;
    return f_lane_$t(x, from < units ? from : lane, units);
}"""
_REDUCTIONS = {"sum": "add", "prod": "mul", "max": "max", "min": "min"}
_SOURCES = {
    "broadcast": "n", "shuffle": "n", "shuffle_xor": "lane ^ n",
    "shuffle_up": "lane >= n ? lane - n : lane",
    "shuffle_down": "n < units - lane ? lane + n : lane",
}  # fmt: skip

_PLANES = {
    **{
        f"plane_{op}": _REDUCE.replace("$OP", op).replace("$COMBINE", combine)
        for op, combine in _REDUCTIONS.items()
    },
    **{
        f"plane_inclusive_{op}": _SCAN.replace("$OP", op).replace("$COMBINE", _REDUCTIONS[op])
        for op in ("sum", "prod")
    },
    **{
        f"plane_exclusive_{op}": _SCAN_BEFORE.replace("$OP", op).replace("$NEUTRAL", neutral)
        for op, neutral in (("sum", "0"), ("prod", "1"))
    },
    **{
        f"plane_{op}": _EXCHANGE.replace("$OP", op).replace("$FROM", source)
        for op, source in _SOURCES.items()
    },
    "plane_elect": "bool f_plane_elect(unsigned lane, unsigned) { return lane == 0u; }",
    "plane_any": """bool f_plane_any(bool x, unsigned, unsigned units) {
    return f_vote(x, units) != 0;
}""",
    "plane_all": """bool f_plane_all(bool x, unsigned, unsigned units) {
    return f_vote(!x, units) == 0;
}""",
    "lane": """$T f_lane_$t($T x, unsigned from, unsigned units) {
    const $U bits = __builtin_bit_cast($U, x);
    return __builtin_bit_cast($T, ($U)f_lane_word(bits, from, units));
}""",
    **{
        f"lane.{type}": """$T f_lane_$t($T x, unsigned from, unsigned units) {
    return f_lane_f32(x, from, units);
}"""
        for type in ("f16", "bf16")
    },
    **{
        f"lane.{type}": """$T f_lane_$t($T x, unsigned from, unsigned units) {
    const unsigned long long bits = __builtin_bit_cast(unsigned long long, x);
    const unsigned low = f_lane_word((unsigned)bits, from, units);
    const unsigned high = f_lane_word((unsigned)(bits >> 32), from, units);
    return __builtin_bit_cast($T, (unsigned long long)high << 32 | low);
}"""
        for type in ("i64", "u64", "f64")
    },
}  # fmt: skip

_VECTORS = {
    f"vec{width}": f"struct alignas($bits / 8 * {width}) f_vec{width}_$t {{ $E e[{width}]; }};"
    for width in (2, 4)
}
_WIDE_BITS = {
    "count_ones": "$T f_count_ones_$t($T x) { return ($T)@popc64(($U)x); }",
    "reverse_bits": "$T f_reverse_bits_$t($T x) { return ($T)@brev64(($U)x); }",
    "leading_zeros": "$T f_leading_zeros_$t($T x) { return ($T)(x == 0 ? 64 : @clz64(($U)x)); }",
    "trailing_zeros": "$T f_trailing_zeros_$t($T x) { return ($T)(x == 0 ? 64 : @ctz64(($U)x)); }",
}


def _wrapping() -> dict[str, str]:
    """Integer arithmetic on unsigned numbers."""
    symbols = {"add": "+", "sub": "-", "mul": "*"}
    text = "$T f_$OP_$t($T a, $T b) { return ($T)(($W)a $SYMBOL ($W)b); }"
    return {
        f"{op}.{kind}": text.replace("$OP", op).replace("$SYMBOL", symbol)
        for op, symbol in symbols.items()
        for kind in ("int", "uint")
    }


_FUNCTIONS = {
    **_ARITHMETIC,
    **_wrapping(),
    **_MATHEMATICS,
    **{f"{stem}.{type}": text for stem, text in _WIDE_BITS.items() for type in ("i64", "u64")},
    **_CONVERSIONS,
    **_ATOMICS,
    **_PLANES,
}

SNIPPETS: dict[str, str] = {
    **{stem: f"{HEAD} {text}" for stem, text in _FUNCTIONS.items()},
    **_VECTORS,
}
"""What both targets share."""

INTEGERS = tuple(scalar for scalar in BITS if scalar[0] in "iu")
"""All integer types."""
