"""The mechanism that every operation uses: declarations, plans, structs, dispatch, forms."""

from __future__ import annotations

from firebrick.opset.backend_root import BackendRoot, Role
from firebrick.opset.bridge import from_dispatch, install_tensor, into_dispatch, is_user_tensor
from firebrick.opset.declaration import OpSet, backend_extension, bind_instance, implement_empty
from firebrick.opset.dispatch_source import compile_run, parameters_text
from firebrick.opset.dispatched import dispatch, dispatcher_for, dispatcher_of
from firebrick.opset.dispatcher import Dispatcher, Entry, kind_or_none
from firebrick.opset.extension_type import ExtensionType
from firebrick.opset.features import feature
from firebrick.opset.forms import FusionForm, fusion, scalar, views
from firebrick.opset.gradient import Cost, GradientRule, Grads, Need, gradient
from firebrick.opset.implementation import own_member
from firebrick.opset.inner import InnerOpSet
from firebrick.opset.kinds import (
    Bool,
    BoolTensor,
    Float,
    FloatTensor,
    Int,
    IntTensor,
    P,
    Primitive,
    QuantizedTensor,
)
from firebrick.opset.leaves import Leaf, Misfit, describe_node, describe_value, leaves
from firebrick.opset.linkage import Linker, install_linker, linker
from firebrick.opset.metadata import outputs_bound
from firebrick.opset.no_default import NoDefault, raising_frame
from firebrick.opset.report import ReportRow, place
from firebrick.opset.selectors import Conditional, Selector, when
from firebrick.opset.short_form import Operation as ShortOperation
from firebrick.opset.short_form import op
from firebrick.opset.signature import Operation, Parameter
from firebrick.opset.specs import mismatch, output_specs
from firebrick.opset.traversal import Source, UnusualValueError, compile_convert

__all__ = [
    "BackendRoot",
    "Bool",
    "BoolTensor",
    "Conditional",
    "Cost",
    "Dispatcher",
    "Entry",
    "ExtensionType",
    "Float",
    "FloatTensor",
    "FusionForm",
    "GradientRule",
    "Grads",
    "InnerOpSet",
    "Int",
    "IntTensor",
    "Leaf",
    "Linker",
    "Misfit",
    "Need",
    "NoDefault",
    "OpSet",
    "Operation",
    "P",
    "Parameter",
    "Primitive",
    "QuantizedTensor",
    "ReportRow",
    "Role",
    "Selector",
    "ShortOperation",
    "Source",
    "UnusualValueError",
    "backend_extension",
    "bind_instance",
    "compile_convert",
    "compile_run",
    "describe_node",
    "describe_value",
    "dispatch",
    "dispatcher_for",
    "dispatcher_of",
    "feature",
    "from_dispatch",
    "fusion",
    "gradient",
    "implement_empty",
    "install_linker",
    "install_tensor",
    "into_dispatch",
    "is_user_tensor",
    "kind_or_none",
    "leaves",
    "linker",
    "mismatch",
    "op",
    "output_specs",
    "outputs_bound",
    "own_member",
    "parameters_text",
    "place",
    "raising_frame",
    "scalar",
    "views",
    "when",
]
