"""Shapes of outputs from shapes of inputs, for the `@fusion` forms of the built-in operations.

A function takes the operands by the names that the operations give them, so that it can stand
in a form as it is. It raises `ShapeError` with the fact; the dispatcher adds the operation.
What a function refuses, no backend needs to refuse by itself. Negative dimensions count from
the end. Dtypes are not here: see `dtypes.py`.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from firebrick.backend.options import Array
from firebrick.core import Shape, broadcast_shapes, normalize_dim
from firebrick.errors import ShapeError


def sizes(shape: Sequence[int]) -> Shape:
    """The shape of a new tensor."""
    if any(size < 0 for size in shape):
        raise ShapeError(f"sizes are not negative; got {list(shape)}.")
    return Shape(shape)


def stepped(range: range, step: int) -> Shape:  # named as the operation names it
    """Every `step`-th number of a range."""
    if step < 1:
        raise ShapeError(f"`step` is at least 1; got {step}.")
    return Shape((len(range[::step]),))


def of_data(data: Array) -> Shape:
    """The shape of data on the host."""
    return Shape(data.shape)


def of_range(range: range) -> Shape:  # named as the operation names it
    """The numbers of a range."""
    return Shape((len(range),))


def broadcast(lhs: Shape, rhs: Shape) -> Shape:
    """Two operands, elementwise."""
    return broadcast_shapes(lhs, rhs)


def output_gradient(output: Shape, grad: Shape) -> Shape:
    """An activation's output and the gradient that comes in."""
    return broadcast_shapes(output, grad)


def input_gradient(x: Shape, grad: Shape) -> Shape:
    """An activation's input and the gradient that comes in."""
    return broadcast_shapes(x, grad)


def with_slopes(tensor: Shape, alpha: Shape) -> Shape:
    """A tensor and the slopes of its negative elements."""
    return broadcast_shapes(tensor, alpha)


def masked(tensor: Shape, mask: Shape) -> Shape:
    """A choice between a tensor and a scalar."""
    return broadcast_shapes(tensor, mask)


def masked_where(tensor: Shape, mask: Shape, value: Shape) -> Shape:
    """A choice between two tensors."""
    return broadcast_shapes(tensor, mask, value)


def matmul(lhs: Shape, rhs: Shape) -> Shape:
    """`[..., m, k]` and `[..., k, n]` give `[..., m, n]`."""
    if len(lhs) < 2 or len(rhs) < 2:
        raise ShapeError(
            f"both operands have at least 2 dimensions; got shapes {list(lhs)} and {list(rhs)}."
        )
    if lhs[-1] != rhs[-2]:
        raise ShapeError(
            f"the last size of the first operand meets the last but one of the second; "
            f"got {lhs[-1]} and {rhs[-2]} in shapes {list(lhs)} and {list(rhs)}."
        )
    return Shape((*broadcast_shapes(lhs[:-2], rhs[:-2]), lhs[-2], rhs[-1]))


def cross(lhs: Shape, rhs: Shape, dim: int) -> Shape:
    """Vectors of 3 elements along a dimension."""
    shape = broadcast_shapes(lhs, rhs)
    position = normalize_dim(dim, len(shape)) - len(shape)
    if any(len(operand) < -position or operand[position] != 3 for operand in (lhs, rhs)):
        raise ShapeError(
            f"both operands have size 3 along dimension {dim}; got shapes {list(lhs)} and "
            f"{list(rhs)}."
        )
    return shape


def along(tensor: Shape, dim: int) -> Shape:
    """Something done along a dimension that keeps all sizes."""
    normalize_dim(dim, len(tensor))
    return tensor


def total(tensor: Shape) -> Shape:
    """A reduction of everything."""
    return Shape()


def total_of_some(tensor: Shape) -> Shape:
    """A reduction of everything that needs at least one element."""
    if 0 in tensor:
        raise ShapeError(f"there is nothing to choose from in a tensor of shape {list(tensor)}.")
    return Shape()


def reduced(tensor: Shape, dim: int) -> Shape:
    """A reduction of one dimension, which stays with size 1."""
    return tensor.replace(dim, 1)


def reduced_of_some(tensor: Shape, dim: int) -> Shape:
    """A reduction of one dimension that needs at least one element there."""
    if tensor[normalize_dim(dim, len(tensor))] == 0:
        raise ShapeError(
            f"there is nothing to choose from along dimension {dim} of shape {list(tensor)}."
        )
    return tensor.replace(dim, 1)


def top(tensor: Shape, dim: int, k: int) -> Shape:
    """The `k` first of a dimension."""
    size = tensor[normalize_dim(dim, len(tensor))]
    if not 0 <= k <= size:
        raise ShapeError(
            f"`k` is from 0 to {size}, the size of dimension {dim} of shape {list(tensor)}; "
            f"got {k}."
        )
    return tensor.replace(dim, k)


def transposed(tensor: Shape) -> Shape:
    """The last two dimensions exchanged."""
    if len(tensor) < 2:
        raise ShapeError(f"at least 2 dimensions are needed; got shape {list(tensor)}.")
    return tensor.swap(-2, -1)


def swapped(tensor: Shape, dim1: int, dim2: int) -> Shape:
    """Two dimensions exchanged."""
    return tensor.swap(dim1, dim2)


def permuted(tensor: Shape, axes: Sequence[int]) -> Shape:
    """All dimensions in another order."""
    order = [normalize_dim(axis, len(tensor)) for axis in axes]
    if sorted(order) != list(range(len(tensor))):
        raise ShapeError(
            f"`axes` names each of the {len(tensor)} dimensions of shape {list(tensor)} once; "
            f"got {list(axes)}."
        )
    return Shape(tensor[axis] for axis in order)


def flipped(tensor: Shape, axes: Sequence[int]) -> Shape:
    """Some dimensions reversed."""
    order = [normalize_dim(axis, len(tensor)) for axis in axes]
    if len(set(order)) != len(order):
        raise ShapeError(f"`axes` names no dimension twice; got {list(axes)}.")
    return tensor


def reshaped(tensor: Shape, shape: Sequence[int]) -> Shape:
    """The same elements in another shape; one size may be -1 and is worked out."""
    known = prod(size for size in shape if size != -1)
    count = tensor.num_elements()
    if list(shape).count(-1) == 1 and known > 0 and count % known == 0:
        return Shape(count // known if size == -1 else size for size in shape)
    if any(size < 0 for size in shape) or known != count:
        raise ShapeError(
            f"shape {list(tensor)} has {count} elements, which do not fit in {list(shape)}."
        )
    return Shape(shape)


def expanded(tensor: Shape, shape: Sequence[int]) -> Shape:
    """Sizes of 1 repeated, and dimensions added in front."""
    wanted = sizes(shape)
    pairs = zip(reversed(tensor), reversed(wanted), strict=False)
    if len(wanted) < len(tensor) or any(have not in (1, want) for have, want in pairs):
        raise ShapeError(
            f"shape {list(tensor)} does not expand to {list(shape)}: counted from the end, sizes "
            "must be equal or 1."
        )
    return wanted


def repeated(tensor: Shape, dim: int, times: int) -> Shape:
    """A dimension tiled."""
    if times < 0:
        raise ShapeError(f"`times` is not negative; got {times}.")
    return tensor.replace(dim, tensor[normalize_dim(dim, len(tensor))] * times)


def concatenated(tensors: Sequence[Shape], dim: int) -> Shape:
    """Tensors joined along a dimension; the other sizes are equal."""
    if not tensors:
        raise ShapeError("at least one tensor is needed; got none.")
    first = tensors[0]
    position = normalize_dim(dim, len(first))
    for shape in tensors:
        if len(shape) != len(first) or shape.replace(position, 0) != first.replace(position, 0):
            raise ShapeError(
                f"sizes are equal except along dimension {dim}; got shapes "
                f"{list(first)} and {list(shape)}."
            )
    return first.replace(position, sum(shape[position] for shape in tensors))


def unfolded(tensor: Shape, dim: int, size: int, step: int) -> Shape:
    """Windows of a dimension; their elements become the last dimension."""
    length = tensor[normalize_dim(dim, len(tensor))]
    if size < 1 or step < 1:
        raise ShapeError(f"`size` and `step` are at least 1; got {size} and {step}.")
    windows = max(0, (length - size) // step + 1)
    return Shape((*tensor.replace(dim, windows), size))


def sliced(tensor: Shape, slices: Sequence[slice]) -> Shape:
    """A block; dimensions without a slice are kept whole."""
    if len(slices) > len(tensor):
        raise ShapeError(
            f"{len(slices)} slices were given for the {len(tensor)} dimensions of shape "
            f"{list(tensor)}."
        )
    if any(part.step == 0 for part in slices):
        raise ShapeError("the step of a slice is not 0.")
    block = (len(range(size)[part]) for size, part in zip(tensor, slices, strict=False))
    return Shape((*block, *tensor[len(slices) :]))


def slice_assigned(tensor: Shape, slices: Sequence[slice], value: Shape) -> Shape:
    """A tensor in which a block is replaced."""
    block = sliced(tensor, slices)
    if value != block:
        raise ShapeError(
            f"the slices pick a block of shape {list(block)} from {list(tensor)}, so the value "
            f"has that shape; got {list(value)}."
        )
    return tensor


def gathered(dim: int, tensor: Shape, indices: Shape) -> Shape:
    """One element per index; other dimensions of the indices may be shorter."""
    position = normalize_dim(dim, len(tensor))
    if len(indices) != len(tensor) or any(
        wanted > size
        for axis, (wanted, size) in enumerate(zip(indices, tensor, strict=True))
        if axis != position
    ):
        raise ShapeError(
            f"indices have as many dimensions as the tensor and, except along dimension {dim}, no "
            f"larger sizes; got shapes {list(indices)} and {list(tensor)}."
        )
    return indices


def scattered(dim: int, tensor: Shape, indices: Shape, value: Shape) -> Shape:
    """A tensor in which one element per index is changed."""
    gathered(dim, tensor, indices)
    if value != indices:
        raise ShapeError(
            f"there is one value per index; got shapes {list(value)} and {list(indices)}."
        )
    return tensor


def selected(tensor: Shape, dim: int, indices: Shape) -> Shape:
    """Rows picked along a dimension."""
    if len(indices) != 1:
        raise ShapeError(f"indices have 1 dimension; got shape {list(indices)}.")
    return tensor.replace(dim, indices[0])


def select_assigned(tensor: Shape, dim: int, indices: Shape, value: Shape) -> Shape:
    """A tensor in which rows are changed."""
    rows = selected(tensor, dim, indices)
    if value != rows:
        raise ShapeError(
            f"the indices pick rows of shape {list(rows)}, so the value has that shape; "
            f"got {list(value)}."
        )
    return tensor
