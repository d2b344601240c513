"""An attribute computed when first asked for, without a lock."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Generic, TypeVar, overload

__all__ = ["computed_once"]

T = TypeVar("T")


class computed_once(Generic[T]):  # noqa: N801 (a decorator, as property is)
    """As ``functools.cached_property``, which before Python 3.12 holds a lock.

    That lock belongs to the class and is held while the value is computed: a process
    forked meanwhile by another thread inherits it locked and waits for ever. Without
    one, two threads that ask at the same time both compute, and one result is kept.
    """

    def __init__(self, compute: Callable[[Any], T]) -> None:
        self._compute = compute
        self.__doc__ = compute.__doc__

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name

    @overload
    def __get__(self, instance: None, owner: type) -> computed_once[T]: ...
    @overload
    def __get__(self, instance: object, owner: type) -> T: ...
    def __get__(self, instance: object | None, owner: type) -> computed_once[T] | T:
        if instance is None:
            return self
        value = self._compute(instance)
        # Where attribute lookup finds it next time, before it comes here; the first
        # result stays, so that everybody holds the same one.
        kept: T = instance.__dict__.setdefault(self._name, value)
        return kept
