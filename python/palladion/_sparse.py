"""Sparse tensors of PyTorch: of dense tensors each, indices and values, which are the host's by themselves."""
from __future__ import annotations

from typing import Any, List, Sequence

# Their operators that touch no element: sizes, parts, and tensors made of parts.
KEPT = {"_nnz", "_dimI", "_dimV", "sparse_dim", "dense_dim", "is_coalesced", "_coalesced_", "_sparse_coo_tensor_with_dims",
        "_sparse_coo_tensor_with_dims_and_tensors", "sparse_resize_", "sparse_resize_and_clear_", "resize_as_sparse_",
        "copy_", "copy_sparse_to_sparse_", "empty_like", "zeros"}


def is_sparse(tensor: Any) -> bool:
    import torch
    return tensor.layout in (torch.sparse_coo, torch.sparse_csr, torch.sparse_csc, torch.sparse_bsr, torch.sparse_bsc)


def parts(tensor: Any) -> List[Any]:
    """Indices and values, in the memory that they have."""
    import torch
    if tensor.layout == torch.sparse_coo:
        return [tensor._indices(), tensor._values()]
    if tensor.layout in (torch.sparse_csr, torch.sparse_bsr):
        return [tensor.crow_indices(), tensor.col_indices(), tensor.values()]
    return [tensor.ccol_indices(), tensor.row_indices(), tensor.values()]


def of_parts(like: Any, made: Sequence[Any]) -> Any:
    """The same tensor, of these parts."""
    import torch
    if like.layout == torch.sparse_coo:
        return torch.ops.aten._sparse_coo_tensor_unsafe(*made, like.size(), is_coalesced=like.is_coalesced())
    return torch.ops.aten._sparse_compressed_tensor_unsafe(*made, like.size(), dtype=like.dtype, layout=like.layout,
                                                  device=made[0].device)
