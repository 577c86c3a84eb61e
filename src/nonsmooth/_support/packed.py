"""Many arrays behind one pointer, for kernels.

A kernel that receives a NamedTuple of arrays receives each array's address, shape and strides as separate
arguments, and so does every kernel that it calls: for a dozen arrays a kilobyte is copied, which takes more
time than the arithmetic of a small kernel. `Packed` keeps addresses and shapes in a table. Kernels receive
the table's address; a field becomes an array when it is read. The code of a kernel is the same for both.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from llvmlite import ir
from numba import typeof
from numba.core import cgutils, types
from numba.core.datamodel import models
from numba.core.extending import infer_getattr, lower_getattr_generic
from numba.core.typing.templates import AttributeTemplate
from numba.extending import NativeValue, register_model, typeof_impl, unbox
from numba.np.arrayobj import populate_array


class PackedType(types.Type):
    """The type of a `Packed` tuple: the offset of each field in the table, and its type."""

    def __init__(self, name: str, fields: tuple[tuple[str, types.Type], ...]) -> None:
        self.fields, self.begin, self.slots = dict(fields), {}, 0
        for field, kind in fields:
            self.begin[field] = self.slots
            self.slots += kind.slots if isinstance(kind, PackedType) else 1 + kind.ndim
        super().__init__(name=f"Packed({name}: " + ", ".join(f"{f}={k}" for f, k in fields) + ")")


class Packed:
    """A NamedTuple of C-contiguous arrays, and of such tuples, that kernels receive as one pointer.

    Fields are read as from the tuple. The arrays live as long as this object; they cannot be exchanged.
    """

    def __init__(self, fields: Any) -> None:
        self._fields_of = fields
        rows: list[int] = []
        self.packed_type = _add(fields, rows)
        self._table = np.array(rows, dtype=np.int64)
        self.address = self._table.ctypes.data
        self._numba_type_ = self.packed_type

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") or name == "_fields_of":
            raise AttributeError(name)
        value = getattr(self._fields_of, name)
        if not isinstance(value, np.ndarray):
            value = self.__dict__[name] = Packed(value)
        return value


def _add(fields: Any, rows: list[int]) -> PackedType:
    """Append the addresses and shapes of a tuple's arrays to the rows of a table; the tuple's type."""
    kinds = []
    for name in fields._fields:
        value = getattr(fields, name)
        if isinstance(value, np.ndarray):
            if not value.flags.c_contiguous:
                raise ValueError(f"{type(fields).__name__}.{name} is not contiguous: copy it first.")
            rows += [value.ctypes.data, *value.shape]
            kinds.append((name, types.Array(typeof(value).dtype, value.ndim, "C")))
        else:
            kinds.append((name, _add(value, rows)))
    return PackedType(type(fields).__name__, tuple(kinds))


@typeof_impl.register(Packed)
def _typeof(value: Packed, _: Any) -> PackedType:
    return value.packed_type


@register_model(PackedType)
class _Model(models.PrimitiveModel):
    def __init__(self, manager: Any, kind: PackedType) -> None:
        super().__init__(manager, kind, ir.IntType(64).as_pointer())


@unbox(PackedType)
def _unbox(kind: PackedType, value: Any, c: Any) -> NativeValue:
    number = c.pyapi.object_getattr_string(value, "address")
    address = c.pyapi.long_as_longlong(number)
    c.pyapi.decref(number)
    return NativeValue(c.builder.inttoptr(address, ir.IntType(64).as_pointer()))


@infer_getattr
class _Field(AttributeTemplate):
    key = PackedType

    def generic_resolve(self, kind: PackedType, field: str) -> types.Type | None:
        return kind.fields.get(field)


@lower_getattr_generic(PackedType)
def _read(context: Any, builder: Any, kind: PackedType, table: Any, field: str) -> Any:
    """An array from its address and shape, or the part of the table that holds a tuple."""
    begin, of_field = kind.begin[field], kind.fields[field]
    if isinstance(of_field, PackedType):
        return builder.gep(table, [cgutils.intp_t(begin)])
    row = [builder.load(builder.gep(table, [cgutils.intp_t(begin + k)])) for k in range(1 + of_field.ndim)]
    item = context.get_data_type(of_field.dtype)
    size = context.get_constant(types.intp, context.get_abi_sizeof(item))
    strides = [size]
    for length in reversed(row[2:]):
        strides.insert(0, builder.mul(strides[0], length))
    array = context.make_array(of_field)(context, builder)
    data = builder.inttoptr(row[0], item.as_pointer())
    populate_array(array, data=data, shape=row[1:], strides=strides, itemsize=size, meminfo=None)
    return array._getvalue()
