#!/usr/bin/env python3
"""all_reduce of bf16 rows by PyTorch, as all_reduce.toml does it: a chain in one CUDA graph on each rank.

    torchrun --nproc-per-node 2 bench/all_reduce_torch.py [ROWS ...]

Prints the median time of one all_reduce, in microseconds: by NCCL, and by PyTorch's kernels over symmetric memory
(one shot and two shots). A row is 8 KiB.
"""

import os
import statistics
import sys

import torch
import torch.distributed as dist
import torch.distributed._symmetric_memory as symmetric

LINKS, ROUNDS = 200, 20


def microseconds(step):
    stream = torch.cuda.Stream()
    with torch.cuda.stream(stream):
        for _ in range(3):
            step()
        stream.synchronize()
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph, stream=stream):
            for _ in range(LINKS):
                step()
        times = []
        for _ in range(ROUNDS):
            begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
            dist.barrier()
            begin.record()
            graph.replay()
            end.record()
            end.synchronize()
            times.append(1e3 * begin.elapsed_time(end) / LINKS)
    return statistics.median(times)


def main():
    rank = int(os.environ["LOCAL_RANK"])
    torch.cuda.set_device(rank)
    dist.init_process_group("nccl", device_id=torch.device("cuda", rank))
    group = dist.group.WORLD.group_name
    for rows in map(int, sys.argv[1:] or ("1", "9", "128")):
        plain = torch.zeros(rows, 4096, dtype=torch.bfloat16, device="cuda")
        shared = symmetric.empty(rows, 4096, dtype=torch.bfloat16, device="cuda")
        symmetric.rendezvous(shared, group)
        shared.zero_()
        out = torch.empty_like(plain)
        arms = {
            "NCCL": lambda: dist.all_reduce(plain),
            "one shot": lambda: torch.ops.symm_mem.one_shot_all_reduce_out(shared, "sum", group, out),
            "two shots": lambda: torch.ops.symm_mem.two_shot_all_reduce_(shared, "sum", group),
        }
        for name, step in arms.items():
            try:
                time = microseconds(step)
            except (RuntimeError, TypeError) as error:
                print(f"{rows:4} rows  {name}: {error}", flush=True)
                continue
            if rank == 0:
                print(f"{rows:4} rows  {name:10} {time:7.2f} us", flush=True)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
