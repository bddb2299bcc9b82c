"""Atomic accesses.

Shared memory belongs to the thread that runs the cube, so there a plain access will do. In buffers
integers use `atomicrmw`; floats, and operations that LLVM has no instruction for, a loop around
`cmpxchg` on their bits.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from firebrick.cube.codegen.llvm import arithmetic, conversions
from firebrick.cube.codegen.llvm.types import memory_type, size_bytes
from firebrick.cube.ir.nodes import Atomic, BinaryOp, Buffer

if TYPE_CHECKING:
    from firebrick.cube.codegen.llvm.expressions import Expressions
    from firebrick.cube.codegen.llvm.text import Value
    from firebrick.cube.ir.types import Type

_ORDER = "seq_cst"
_COMBINING: dict[str, BinaryOp] = {
    "add": "add", "sub": "sub", "max": "max", "min": "min", "and": "and", "or": "or", "xor": "xor",
}  # fmt: skip


def write_atomic(expressions: Expressions, atomic: Atomic) -> None:
    """One atomic statement."""
    index = expressions.index(atomic.index)
    operands = [expressions.value(operand) for operand in atomic.operands]
    address = expressions.address(atomic.memory, index)
    if isinstance(atomic.memory, Buffer):
        old = _in_buffer(atomic, address, operands)
    else:
        old = _in_shared(atomic, address, operands)
    if atomic.result is not None and old is not None:
        expressions.write(atomic.result, conversions.from_memory(atomic.memory.type, old))


def _bits_type(type: Type) -> str:
    return f"i{type.bits}"


def _to_bits(type: Type, value: Value) -> Value:
    return conversions.to_memory(type, value).convert("bitcast", _bits_type(type))


def _from_bits(type: Type, bits: Value) -> Value:
    stored = bits.convert("bitcast", memory_type(type))
    return conversions.from_memory(type, stored)


def _in_shared(atomic: Atomic, address: Value, operands: list[Value]) -> Value | None:
    """The old element; a plain load and store."""
    type, builder = atomic.memory.type, address.builder
    marks = f", align {size_bytes(type)}"
    old = None
    if atomic.op != "store" or atomic.result is not None:
        old = builder.load(memory_type(type), address, marks)
    if atomic.op != "load":
        new = _combined(atomic, old, operands)
        builder.store(new, address, marks)
    return old


def _combined(atomic: Atomic, old: Value | None, operands: list[Value]) -> Value:
    """The new element in memory."""
    type = atomic.memory.type
    if old is None or atomic.op in ("store", "exchange"):
        return conversions.to_memory(type, operands[0])
    if atomic.op == "compare_exchange":
        expected, new = (conversions.to_memory(type, operand) for operand in operands)
        bits = _bits_type(type)
        matches = old.convert("bitcast", bits).compare("eq", expected.convert("bitcast", bits))
        return matches.select(new, old)
    value = conversions.from_memory(type, old)
    done = arithmetic.binary(_COMBINING[atomic.op], value, operands[0], type)
    return conversions.to_memory(type, done)


def _in_buffer(atomic: Atomic, address: Value, operands: list[Value]) -> Value | None:
    """The old element, in its memory type."""
    type, builder = atomic.memory.type, address.builder
    bits, align = _bits_type(type), f"align {size_bytes(type)}"
    match atomic.op:
        case "load":
            old = builder.value(bits, f"load atomic {bits}, {address} {_ORDER}, {align}")
        case "store" if atomic.result is None:
            builder.add(f"store atomic {_to_bits(type, operands[0])}, {address} {_ORDER}, {align}")
            return None
        case "store" | "exchange":
            old = _read_modify_write("xchg", address, _to_bits(type, operands[0]), align)
        case "compare_exchange":
            expected, new = (_to_bits(type, operand) for operand in operands)
            old, _ = _compare_exchange(address, expected, new, align)
        case _ if type.is_float:
            old = _float_loop(_COMBINING[atomic.op], type, address, operands[0])
        case op:
            sign = "u" if type.kind == "uint" and op in ("min", "max") else ""
            old = _read_modify_write(f"{sign}{op}", address, operands[0], align)
    return old.convert("bitcast", memory_type(type))


def _read_modify_write(op: str, address: Value, value: Value, align: str) -> Value:
    return address.builder.value(value.type, f"atomicrmw {op} {address}, {value} {_ORDER}, {align}")


def _compare_exchange(
    address: Value, expected: Value, new: Value, align: str
) -> tuple[Value, Value]:
    """The old value, and whether it was the expected one."""
    builder = address.builder
    both = f"{{ {new.type}, i1 }}"
    pair = builder.value(both, f"cmpxchg {address}, {expected}, {new} {_ORDER} {_ORDER}, {align}")
    old = builder.value(new.type, f"extractvalue {pair}, 0")
    return old, builder.value("i1", f"extractvalue {pair}, 1")


def _float_loop(op: BinaryOp, type: Type, address: Value, operand: Value) -> Value:
    builder = address.builder
    bits, align = _bits_type(type), f"align {size_bytes(type)}"
    seen = builder.slot(bits, "seen")
    builder.store(builder.value(bits, f"load atomic {bits}, {address} {_ORDER}, {align}"), seen)
    again, done = builder.fresh("again"), builder.fresh("exchanged")
    builder.place(again)
    expected = builder.load(bits, seen)
    value = arithmetic.binary(op, _from_bits(type, expected), operand, type)
    old, is_done = _compare_exchange(address, expected, _to_bits(type, value), align)
    builder.store(old, seen)
    builder.branch(is_done, done, again)
    builder.place(done)
    return expected
