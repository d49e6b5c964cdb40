"""PyTorch's operators that exist for the device alone: fused cells of recurrent layers, softmax of halves in f32, and choices
of cuDNN. Computed by plain operators."""
from __future__ import annotations

from typing import Any, Callable, Dict, Tuple


def _sum(x: Any, y: Any, *biases: Any) -> Any:
    for bias in biases:
        x = x if bias is None else x + bias
    return x + y


def _lstm_cell(of_input: Any, of_hidden: Any, cell: Any, input_bias: Any = None, hidden_bias: Any = None) -> Tuple[Any, Any, Any]:
    """The hidden state, the cell, and the gates behind their functions, for the gradient."""
    import torch
    i, f, g, o = _sum(of_input, of_hidden, input_bias, hidden_bias).chunk(4, 1)
    i, f, g, o = i.sigmoid(), f.sigmoid(), g.tanh(), o.sigmoid()
    after = f * cell + i * g
    return o * after.tanh(), after, torch.cat([i, f, g, o], 1)


def _lstm_cell_backward(of_hidden: Any, of_cell: Any, before: Any, after: Any, gates: Any, has_bias: bool) -> Tuple[Any, ...]:
    import torch
    i, f, g, o = gates.chunk(4, 1)
    of_hidden = torch.zeros_like(after) if of_hidden is None else of_hidden
    tanh = after.tanh()
    of_after = of_hidden * o * (1 - tanh * tanh) + (0 if of_cell is None else of_cell)
    of_gates = torch.cat([of_after * g * i * (1 - i), of_after * before * f * (1 - f), of_after * i * (1 - g * g),
                          of_hidden * tanh * o * (1 - o)], 1)
    return of_gates, of_after * f, of_gates.sum(0) if has_bias else _none(of_gates)


def _gru_cell(of_input: Any, of_hidden: Any, hidden: Any, input_bias: Any = None, hidden_bias: Any = None) -> Tuple[Any, Any]:
    import torch
    of_input = of_input if input_bias is None else of_input + input_bias
    of_hidden = of_hidden if hidden_bias is None else of_hidden + hidden_bias
    (ir, iz, ia), (hr, hz, ha) = of_input.chunk(3, 1), of_hidden.chunk(3, 1)
    r, z = (ir + hr).sigmoid(), (iz + hz).sigmoid()
    new = (ia + r * ha).tanh()
    return new + z * (hidden - new), torch.cat([r, z, new, hidden, ha], 1)


def _gru_cell_backward(gradient: Any, kept: Any, has_bias: bool) -> Tuple[Any, ...]:
    import torch
    r, z, new, hidden, ha = kept.chunk(5, 1)
    of_z = gradient * (hidden - new) * z * (1 - z)
    of_new = gradient * (1 - z) * (1 - new * new)
    of_r = of_new * ha * r * (1 - r)
    of_input, of_hidden = torch.cat([of_r, of_z, of_new], 1), torch.cat([of_r, of_z, of_new * r], 1)
    biases = (of_input.sum(0), of_hidden.sum(0)) if has_bias else (_none(of_input), _none(of_input))
    return (of_input, of_hidden, gradient * z, *biases)


def _none(like: Any) -> Any:
    return like.new_empty(0)


def _softmax(name: str) -> Callable[..., Any]:
    def call(x: Any, dim: int, half_to_float: bool) -> Any:
        import torch
        return getattr(torch, name)(x.float() if half_to_float else x, dim, False)

    return call


def _softmax_backward(name: str) -> Callable[..., Any]:
    def call(gradient: Any, output: Any, dim: int, input_dtype: Any) -> Any:
        import torch
        return getattr(torch, name)(gradient, output, dim, gradient.dtype).to(input_dtype)

    return call


def _no(*_args: Any) -> bool:
    return False


OPERATORS: Dict[str, Callable[..., Any]] = {
    "aten::_thnn_fused_lstm_cell": _lstm_cell,
    "aten::_thnn_fused_lstm_cell_backward_impl": _lstm_cell_backward,
    "aten::_thnn_fused_gru_cell": _gru_cell,
    "aten::_thnn_fused_gru_cell_backward": _gru_cell_backward,
    "aten::_softmax": _softmax("_softmax"),
    "aten::_log_softmax": _softmax("_log_softmax"),
    "aten::_softmax_backward_data": _softmax_backward("_softmax_backward_data"),
    "aten::_log_softmax_backward_data": _softmax_backward("_log_softmax_backward_data"),
    "aten::_use_cudnn_ctc_loss": _no,
    "aten::_use_miopen_ctc_loss": _no,
}
