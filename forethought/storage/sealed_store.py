"""A Store whose values are sealed. Namespaces, keys and times stay plain: it is found by them."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from langgraph.store.base import BaseStore, Item, Op, PutOp, Result, SearchOp

from forethought.storage.errors import StorageError
from forethought.storage.sealing import Sealer

_SEALED = "sealed"


@dataclass(frozen=True)
class SealedStore(BaseStore):
    """Another Store, sealed. Nothing can be searched for in what is sealed: a filter raises ValueError."""

    inner: BaseStore
    sealer: Sealer

    def batch(self, ops: Iterable[Op]) -> list[Result]:
        """See BaseStore."""
        return [self._opened(result) for result in self.inner.batch([self._sealed(op) for op in ops])]

    async def abatch(self, ops: Iterable[Op]) -> list[Result]:
        """See BaseStore."""
        found = await self.inner.abatch([self._sealed(op) for op in ops])
        return [self._opened(result) for result in found]

    def _sealed(self, op: Op) -> Op:
        if isinstance(op, SearchOp):
            if op.filter:
                raise ValueError("what is sealed cannot be searched by its values")
            return op._replace(query=None)
        if isinstance(op, PutOp) and op.value is not None:
            text = json.dumps(op.value, ensure_ascii=False)
            return op._replace(value={_SEALED: self.sealer.seal_text(text)}, index=False)
        return op

    def _opened(self, result: Result) -> Result:
        if isinstance(result, Item):
            result.value = self._value(result.value)
        elif isinstance(result, list):
            for item in result:
                if isinstance(item, Item):
                    item.value = self._value(item.value)
        return result

    def _value(self, value: dict[str, Any]) -> dict[str, Any]:
        sealed = value.get(_SEALED)
        if not isinstance(sealed, str):
            raise StorageError("a lesson is not encrypted, as all others are")
        opened: dict[str, Any] = json.loads(self.sealer.open_text(sealed))
        return opened
