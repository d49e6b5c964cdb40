"""PyTorch's operators of fused attention, which exist for the device alone: computed by plain operators in f32.

Dense queries, keys and values, without dropout; anything else raises NotImplementedError, by name."""
from __future__ import annotations

from typing import Any, Callable, Dict, Optional, Tuple


def _refuse(what: str) -> None:
    raise NotImplementedError(f"palladion: PyTorch's fused attention with {what}, for which the device alone has a kernel")


def _scores(query: Any, key: Any, causal: bool, scale: Optional[float], left: Optional[int] = None,
            right: Optional[int] = None, slopes: Any = None, bias: Any = None) -> Any:
    """Of (batch, heads, positions, features), in f32. Keys end where queries do; heads of keys are shared by those of queries."""
    import torch
    heads, queries, keys = query.shape[1], query.shape[2], key.shape[2]
    scores = query.float() @ _for_heads(key, heads).transpose(-1, -2) * _scale(query, scale)
    ahead = torch.arange(keys) - (torch.arange(queries)[:, None] + keys - queries)  # of a key, of its query's own
    if slopes is not None:
        scores = scores - (slopes.float().reshape(-1, heads, 1, 1) * ahead.abs())
    if bias is not None:
        scores = scores + bias.float()
    for outside, bound in ((-ahead, left), (ahead, 0 if causal else right)):
        if bound is not None and bound >= 0:
            scores = scores.masked_fill(outside > bound, float("-inf"))
    return scores


def _for_heads(tensor: Any, heads: int) -> Any:
    return tensor.repeat_interleave(heads // tensor.shape[1], 1).float()


def _scale(query: Any, scale: Optional[float]) -> float:
    return float(query.shape[-1] ** -0.5 if scale is None else scale)


def _attend(query: Any, key: Any, value: Any, *more: Any, **bias: Any) -> Tuple[Any, Any]:
    """The output, and the logarithms of the sums, in f32; infinity for a query without keys."""
    import torch
    scores = _scores(query, key, *more, **bias)
    sums = scores.logsumexp(-1)
    weights = torch.exp(scores - sums[..., None]).nan_to_num(0)
    out = weights @ _for_heads(value, query.shape[1])
    return out.to(query.dtype), sums.masked_fill(sums == float("-inf"), float("inf"))


def _none(dtype: Any = None) -> Any:
    import torch
    return torch.empty(0, dtype=dtype or torch.int32)


def _numbers() -> Any:
    """The state of no random numbers."""
    import torch
    return torch.zeros((), dtype=torch.int64)


def _scaled_flash(query: Any, key: Any, value: Any, dropout: float = 0.0, causal: bool = False, debug: bool = False, *,
                  scale: Optional[float] = None) -> Tuple[Any, ...]:
    if dropout or debug:
        _refuse("dropout")
    if causal and query.shape[2] != key.shape[2]:
        _refuse("a causal mask of another number of keys")
    out, sums = _attend(query, key, value, causal, scale)
    return out, sums, _none(), _none(), query.shape[2], key.shape[2], _numbers(), _numbers(), _none(query.dtype)


def _scaled_flash_backward(gradient: Any, query: Any, key: Any, value: Any, out: Any, sums: Any, _q: Any, _k: Any, _mq: int,
                           _mk: int, dropout: float, causal: bool, _seed: Any, _offset: Any, *,
                           scale: Optional[float] = None) -> Tuple[Any, ...]:
    if dropout:
        _refuse("dropout")
    gradient, result = gradient.float(), out.float()
    weights = (_scores(query, key, causal, scale) - sums[..., None]).exp()
    of_scores = weights * (gradient @ value.float().transpose(-1, -2) - (gradient * result).sum(-1, keepdim=True))
    of_scores = of_scores * _scale(query, scale)
    of_query, of_key = of_scores @ key.float(), of_scores.transpose(-1, -2) @ query.float()
    of_value = weights.transpose(-1, -2) @ gradient
    return of_query.to(query.dtype), of_key.to(key.dtype), of_value.to(value.dtype)


def _scaled_efficient(query: Any, key: Any, value: Any, bias: Any, sums_wanted: bool, dropout: float = 0.0,
                      causal: bool = False, *, scale: Optional[float] = None) -> Tuple[Any, ...]:
    if dropout:
        _refuse("dropout")
    if causal and query.shape[2] != key.shape[2]:
        _refuse("a causal mask of another number of keys")
    out, sums = _attend(query, key, value, causal, scale, bias=bias)
    return out, sums if sums_wanted else _none(sums.dtype), _numbers(), _numbers()


def _flash_forward(query: Any, key: Any, value: Any, starts_q: Any, starts_k: Any, _mq: int, _mk: int, dropout: float,
                   causal: bool, debug: bool, *, scale: Optional[float] = None, window_size_left: Optional[int] = None,
                   window_size_right: Optional[int] = None, seqused_k: Any = None, alibi_slopes: Any = None,
                   block_table: Any = None, num_splits: Any = None) -> Tuple[Any, ...]:
    """Positions come before heads here."""
    if dropout or debug:
        _refuse("dropout")
    if any(t is not None for t in (starts_q, starts_k, seqused_k, block_table)):
        _refuse("sequences of several lengths")
    query, key, value = (t.transpose(1, 2) for t in (query, key, value))
    out, sums = _attend(query, key, value, causal, scale, window_size_left, window_size_right, alibi_slopes)
    return out.transpose(1, 2).contiguous(), sums, _numbers(), _numbers(), _none(query.dtype)


OPERATORS: Dict[str, Callable[..., Any]] = {
    "aten::_scaled_dot_product_flash_attention": _scaled_flash,
    "aten::_scaled_dot_product_flash_attention_backward": _scaled_flash_backward,
    "aten::_scaled_dot_product_efficient_attention": _scaled_efficient,
    "aten::_flash_attention_forward": _flash_forward,
}
