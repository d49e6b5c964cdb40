"""Device copies through PyTorch, each between two events, as bench_device_kernels --time times kernels: medians of 30."""

import statistics

import torch


def microseconds(count: int, repeats: int = 30) -> float:
    source = torch.randint(0, 255, (count,), dtype=torch.uint8, device="cuda")
    target = torch.empty_like(source)
    for _ in range(5):
        target.copy_(source)
    events = [[torch.cuda.Event(enable_timing=True) for _ in range(2)] for _ in range(repeats)]
    torch.cuda.synchronize()
    for start, end in events:
        start.record()
        target.copy_(source)
        end.record()
    torch.cuda.synchronize()
    return 1e3 * statistics.median(start.elapsed_time(end) for start, end in events)


for mib in (32, 64, 128, 256, 512, 1024):
    us = microseconds(mib << 20)
    print(f"{mib:5} MiB in, {mib:5} MiB out: {us:8.1f} us {(mib << 21) / us / 1e3:8.1f} GB/s", flush=True)
