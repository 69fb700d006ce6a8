"""Functions that are compiled by themselves, once for all games: what is large and has many compiled callers.

A compiled caller reaches such a function through a pointer in memory that the linker finds by name. The pointer is
null until the first call, which compiles the function, or loads it from disk, as any `entry`.
"""

from __future__ import annotations

import ctypes
import inspect
from collections.abc import Callable
from typing import Any

from llvmlite import binding, ir
from numba import extending, types
from numba.core import cgutils as untyped_cgutils
from numba.core.errors import TypingError

from phantom_envs.core.jit import JIT_DISABLED, F, entry

intrinsic: Any = extending.intrinsic  # numba's own types miss that callers leave the typing context out
cgutils: Any = untyped_cgutils

_slots: list[Any] = []
"""What compiled code has the addresses of; it must stay where it is."""


def late(tag: str, result: types.Type, *arguments: types.Type) -> Callable[[F], F]:
    """Make a function callable from compiled code, compiled for these types only, and only when it is first called.

    Args:
        tag: As for `entry`.
        result: Type of what it returns.
        arguments: Types of its arguments; calls with others do not compile.

    Returns:
        A decorator. Uncompiled it leaves the function as it is.
    """

    def decorate(function: F) -> F:
        if JIT_DISABLED:
            return function
        compiled: Any = entry(tag, allocates=True)(function)
        slot = ctypes.c_void_p(None)

        @ctypes.CFUNCTYPE(None)
        def provide() -> None:
            compiled.compile(arguments)
            made = compiled.overloads[arguments]
            slot.value = made.library.get_pointer_to_function(made.fndesc.llvm_func_name)

        name = f"phantom_envs.late.{function.__module__}.{function.__qualname__}"
        provider = ctypes.c_void_p(ctypes.cast(provide, ctypes.c_void_p).value)
        for part, where in (("slot", slot), ("provider", provider)):
            binding.add_symbol(f"{name}.{part}", ctypes.addressof(where))
        _slots.extend((slot, provider, provide))

        def define(typingctx: Any, *given: Any) -> Any:
            def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
                kind = context.call_conv.get_function_type(result, arguments).as_pointer()
                at_slot = _external(builder.module, f"{name}.slot", kind)
                with builder.if_then(cgutils.is_null(builder, builder.load(at_slot)), likely=False):
                    ensure = ir.FunctionType(ir.VoidType(), ()).as_pointer()
                    builder.call(builder.load(_external(builder.module, f"{name}.provider", ensure)), ())
                callee = builder.load(at_slot)
                status, answer = context.call_conv.call_function(builder, callee, result, arguments, args)
                with cgutils.if_unlikely(builder, status.is_error):
                    context.call_conv.return_status_propagate(builder, status)
                return answer

            if tuple(map(_shape, given)) != tuple(map(_shape, arguments)):
                raise TypingError(f"{name} takes {arguments}, not {given}")
            return result(*given), codegen

        named = inspect.signature(function)
        context = inspect.Parameter("typingctx", inspect.Parameter.POSITIONAL_OR_KEYWORD)
        vars(define)["__signature__"] = named.replace(parameters=[context, *named.parameters.values()])
        call: Any = intrinsic(define)
        call.py_func = function  # what it does, for the fingerprint of its callers
        return call  # type: ignore[no-any-return]  # an intrinsic, called like the function

    return decorate


def _shape(kind: Any) -> Any:
    """What of an argument's type decides how it is passed: arrays may be aligned or not, read-only or not."""
    return (kind.dtype, kind.ndim, kind.layout) if isinstance(kind, types.Array) else kind


def _external(module: Any, name: str, kind: Any) -> Any:
    """A pointer that lies outside the module, at a symbol."""
    if name in module.globals:
        return module.get_global(name)
    return ir.GlobalVariable(module, kind, name)
