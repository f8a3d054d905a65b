# SPDX-License-Identifier: Apache-2.0
"""torch.backends: settings that have no effect here."""

from typing import Any


class _Settings:
    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        inner = _Settings()
        object.__setattr__(self, name, inner)
        return inner

    def __bool__(self) -> bool:
        return False

    def __call__(self, *_: Any, **__: Any) -> "_Settings":
        return self


cuda, cudnn, mkldnn = _Settings(), _Settings(), _Settings()
