"""The `@fusion` forms that several built-in operations share, by what they say of the output.

A form reads the operands by name: `tensor`, or `lhs` and `rhs`, and the arguments of the
operation. What the shapes and dtypes are is in `shapes.py`, `dtypes.py` and `positions.py`.
"""

from __future__ import annotations

from firebrick.backend import dtypes, shapes
from firebrick.backend import positions as places
from firebrick.opset import fusion

# Creation; the requested dtype is `dtype`, host data is `data`.
new_float = fusion(dtype=dtypes.new_float, shape=shapes.sizes)
new_int = fusion(dtype=dtypes.new_int, shape=shapes.sizes)
new_bool = fusion(dtype=dtypes.new_bool, shape=shapes.sizes)
filled_int = fusion(dtype=dtypes.new_integer, shape=shapes.sizes)
number_range = fusion(dtype=dtypes.of_range, shape=shapes.of_range)
number_steps = fusion(dtype=dtypes.of_steps, shape=shapes.stepped)
float_data = fusion(dtype=dtypes.float_data, shape=shapes.of_data)
int_data = fusion(dtype=dtypes.int_data, shape=shapes.of_data)
bool_data = fusion(dtype=dtypes.bool_data, shape=shapes.of_data)
host_read = fusion(sync=True)

# Conversion; the requested dtype is `out_dtype`, or `dtype` inside a kind.
as_float = fusion(dtype=dtypes.as_float, shape="tensor")
as_int = fusion(dtype=dtypes.as_int, shape="tensor")
as_bool = fusion(dtype=dtypes.as_bool, shape="tensor")
cast_float = fusion(dtype=dtypes.new_float, shape="tensor")
cast_int = fusion(dtype=dtypes.new_int, shape="tensor")

# Elementwise.
elementwise = fusion(dtype="tensor", shape="tensor")
binary = fusion(dtype=dtypes.equal, shape=shapes.broadcast)
with_integers = fusion(dtype="lhs", shape=shapes.broadcast)
comparison = fusion(dtype=dtypes.compared, shape=shapes.broadcast)
with_scalar = fusion(dtype="lhs", shape="lhs")
with_integer = fusion(dtype=dtypes.with_scalar, shape="lhs")
with_integer_power = fusion(dtype=dtypes.with_power, shape="lhs")
comparison_with_scalar = fusion(dtype=dtypes.as_bool, shape="lhs")
choice = fusion(dtype=dtypes.stored, shape=shapes.masked_where)
fill = fusion(dtype="tensor", shape=shapes.masked)
fill_integer = fusion(dtype=dtypes.filled, shape=shapes.masked)


# Activations, whose second operand is a gradient or a slope.
output_gradient = fusion(dtype="output", shape=shapes.output_gradient)
input_gradient = fusion(dtype="x", shape=shapes.input_gradient)
with_slopes = fusion(dtype="tensor", shape=shapes.with_slopes)

# Matrices and vectors.
vector_product = fusion(dtype=dtypes.equal, shape=shapes.cross)
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
total_truth = fusion(dtype=dtypes.as_bool, shape=shapes.total)
truth = fusion(dtype=dtypes.as_bool, shape=shapes.reduced)
top = fusion(dtype="tensor", shape=shapes.top)

# Positions along a dimension, in a dtype that is asked for or (`own`) that of the tensor.
position = fusion(meta=places.of_one)
positions = fusion(meta=places.of_all)
top_positions = fusion(meta=places.of_top)
extreme_pair = fusion(meta=places.with_one)
sorted_pair = fusion(meta=places.with_all)
top_pair = fusion(meta=places.with_top)
own_position = fusion(meta=places.own_of_one)
own_positions = fusion(meta=places.own_of_all)
own_top_positions = fusion(meta=places.own_of_top)
own_extreme_pair = fusion(meta=places.own_with_one)
own_sorted_pair = fusion(meta=places.own_with_all)
own_top_pair = fusion(meta=places.own_with_top)
