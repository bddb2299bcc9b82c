"""The `@fusion` forms that several built-in operations share, by what they say of the output.

A form reads the operands by name: `tensor`, or `lhs` and `rhs`, and the arguments of the
operation. What the shapes and dtypes are is in `shapes.py` and `dtypes.py`.
"""

from __future__ import annotations

from firebrick.backend import dtypes, shapes
from firebrick.core import DType, Shape, TensorSpec
from firebrick.opset import fusion

# Creation; the requested dtype is `dtype`, host data is `data`.
new_float = fusion(dtype=lambda dtype: dtypes.of_kind(dtype, "float"), shape=shapes.sizes)
new_int = fusion(dtype=lambda dtype: dtypes.of_kind(dtype, "int"), shape=shapes.sizes)
new_bool = fusion(dtype=lambda dtype: dtypes.of_kind(dtype, "bool"), shape=shapes.sizes)
float_data = fusion(
    dtype=lambda data: dtypes.of_data(data, "float"), shape=lambda data: data.shape
)
int_data = fusion(dtype=lambda data: dtypes.of_data(data, "int"), shape=lambda data: data.shape)
bool_data = fusion(dtype=lambda data: dtypes.of_data(data, "bool"), shape=lambda data: data.shape)
host_read = fusion(sync=True)

# Conversion; the requested dtype is `out_dtype`, or `dtype` inside a kind.
as_float = fusion(dtype=lambda out_dtype: dtypes.of_kind(out_dtype, "float"), shape="tensor")
as_int = fusion(dtype=lambda out_dtype: dtypes.of_kind(out_dtype, "int"), shape="tensor")
as_bool = fusion(dtype=lambda out_dtype: dtypes.of_kind(out_dtype, "bool"), shape="tensor")
cast_float = fusion(dtype=lambda dtype: dtypes.of_kind(dtype, "float"), shape="tensor")
cast_int = fusion(dtype=lambda dtype: dtypes.of_kind(dtype, "int"), shape="tensor")

# Elementwise.
elementwise = fusion(dtype="tensor", shape="tensor")
binary = fusion(dtype=dtypes.equal, shape=shapes.broadcast)
with_shape_of_both = fusion(dtype="lhs", shape=shapes.broadcast)
comparison = fusion(dtype=dtypes.compared, shape=shapes.broadcast)
with_scalar = fusion(dtype="lhs", shape="lhs")
with_integer = fusion(dtype=dtypes.with_scalar, shape="lhs")
with_integer_power = fusion(dtype=dtypes.with_power, shape="lhs")
comparison_with_scalar = fusion(
    dtype=lambda out_dtype: dtypes.of_kind(out_dtype, "bool"), shape="lhs"
)
choice = fusion(dtype=dtypes.stored, shape=shapes.masked_where)
fill = fusion(dtype="tensor", shape=shapes.masked)
fill_integer = fusion(dtype=dtypes.filled, shape=shapes.masked)

# Activations, whose second operand is a gradient or a slope.
output_gradient = fusion(dtype="output", shape=lambda output, grad: shapes.broadcast(output, grad))
input_gradient = fusion(dtype="x", shape=lambda x, grad: shapes.broadcast(x, grad))
with_slopes = fusion(dtype="tensor", shape=lambda tensor, alpha: shapes.broadcast(tensor, alpha))

# Matrices.
matrix_product = fusion(dtype=dtypes.equal, shape=shapes.matmul)

# Layout.
transposed = fusion(dtype="tensor", shape=shapes.transposed)
swapped = fusion(dtype="tensor", shape=shapes.swapped)
permuted = fusion(dtype="tensor", shape=shapes.permuted)
flipped = fusion(dtype="tensor", shape=shapes.flipped)
reshaped = fusion(dtype="tensor", shape=shapes.reshaped)
expanded = fusion(dtype="tensor", shape=shapes.expanded)
repeated = fusion(dtype="tensor", shape=shapes.repeated)
unfolded = fusion(dtype="tensor", shape=shapes.unfolded)
concatenated = fusion(dtype=dtypes.of_all, shape=shapes.concatenated)

# Indexing.
sliced = fusion(dtype="tensor", shape=shapes.sliced)
slice_assigned = fusion(dtype=dtypes.stored, shape=shapes.slice_assigned)
gathered = fusion(dtype="tensor", shape=shapes.gathered)
scattered = fusion(dtype=dtypes.stored, shape=shapes.scattered)
selected = fusion(dtype="tensor", shape=shapes.selected)
select_assigned = fusion(dtype=dtypes.stored, shape=shapes.select_assigned)

# Reductions and what goes along a dimension. `some`: needs at least one element.
along = fusion(dtype="tensor", shape=shapes.along)
total = fusion(dtype="tensor", shape=shapes.total)
total_of_some = fusion(dtype="tensor", shape=shapes.total_of_some)
reduced = fusion(dtype="tensor", shape=shapes.reduced)
reduced_of_some = fusion(dtype="tensor", shape=shapes.reduced_of_some)
total_truth = fusion(dtype=lambda out_dtype: dtypes.of_kind(out_dtype, "bool"), shape=shapes.total)
truth = fusion(dtype=lambda out_dtype: dtypes.of_kind(out_dtype, "bool"), shape=shapes.reduced)

# Positions along a dimension, in a dtype that is asked for or that of an integer tensor.
top = fusion(dtype="tensor", shape=shapes.top)


def _positions(tensor: Shape, dim: int, shape: Shape, dtype: DType) -> TensorSpec:
    dtypes.check_positions(tensor, dim, dtypes.of_kind(dtype, "int"))
    return TensorSpec(shape, dtype)


def _of_one(tensor: TensorSpec, dim: int, out_dtype: DType) -> TensorSpec:
    shape = shapes.reduced_of_some(tensor.shape, dim)
    return _positions(tensor.shape, dim, shape, out_dtype)


def _of_all(tensor: TensorSpec, dim: int, out_dtype: DType) -> TensorSpec:
    return _positions(tensor.shape, dim, shapes.along(tensor.shape, dim), out_dtype)


def _of_top(tensor: TensorSpec, dim: int, k: int, out_dtype: DType) -> TensorSpec:
    return _positions(tensor.shape, dim, shapes.top(tensor.shape, dim, k), out_dtype)


def _with_values(tensor: TensorSpec, positions: TensorSpec) -> tuple[TensorSpec, TensorSpec]:
    return TensorSpec(positions.shape, tensor.dtype), positions


position = fusion(meta=_of_one)
positions = fusion(meta=_of_all)
top_positions = fusion(meta=_of_top)
extreme_pair = fusion(
    meta=lambda tensor, dim, indices_dtype: _with_values(
        tensor, _of_one(tensor, dim, indices_dtype)
    )
)
sorted_pair = fusion(
    meta=lambda tensor, dim, indices_dtype: _with_values(
        tensor, _of_all(tensor, dim, indices_dtype)
    )
)
top_pair = fusion(
    meta=lambda tensor, dim, k, out_dtype: _with_values(
        tensor, _of_top(tensor, dim, k, out_dtype)
    )
)
own_position = fusion(meta=lambda tensor, dim: _of_one(tensor, dim, tensor.dtype))
own_positions = fusion(meta=lambda tensor, dim: _of_all(tensor, dim, tensor.dtype))
own_top_positions = fusion(meta=lambda tensor, dim, k: _of_top(tensor, dim, k, tensor.dtype))
own_extreme_pair = fusion(
    meta=lambda tensor, dim: _with_values(tensor, _of_one(tensor, dim, tensor.dtype))
)
own_sorted_pair = fusion(
    meta=lambda tensor, dim: _with_values(tensor, _of_all(tensor, dim, tensor.dtype))
)
own_top_pair = fusion(
    meta=lambda tensor, dim, k: _with_values(tensor, _of_top(tensor, dim, k, tensor.dtype))
)
