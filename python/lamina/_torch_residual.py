"""The residual block of PyTorch that a network's blocks become. Imported where torch is."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    Sequential = Any
else:
    from torch.nn import Sequential


class Residual(Sequential):
    """x plus what the modules make of x."""

    def forward(self, x: Any) -> Any:
        """The sum, for rows × features."""
        return x + super().forward(x)
