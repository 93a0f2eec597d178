#!/usr/bin/env python3
"""Predicts the time of programs on many GPUs from a few rates: docs/scale.md says where they are from.

    python3 bench/world_model.py                       # the tables of that page
    python3 bench/world_model.py --link 300e9 --all-reduce 6e-6     # of another machine
"""

import argparse
import math

GPUS_OF_NODE = 8


def all_reduce_one_shot(size, ranks, rates):
    """Each rank stores its contents to all others, and adds: seconds."""
    return 0.0 if ranks == 1 else rates.all_reduce + (ranks - 1) * size / rates.link


def all_reduce_ring(size, ranks, bandwidth, latency):
    """2 (ranks - 1) steps, each of a part of the contents: Patarasuk and Yuan, 2009."""
    return 2 * (ranks - 1) * (latency + size / ranks / bandwidth)


def all_reduce_tree(size, ranks, bandwidth, latency):
    """A reduction up a binary tree and a broadcast down it, both in a pipeline."""
    return 2 * math.ceil(math.log2(ranks)) * latency + 2 * size / bandwidth


def decode(model, ranks, rates):
    """One token, batch 1, tensor-parallel: each rank reads its part of the weights."""
    reading = model.weights / ranks / rates.memory
    exchange = 2 * model.layers * all_reduce_one_shot(2 * model.hidden, ranks, rates)
    return reading + model.layers * rates.layer + exchange


def gradients(size, nodes, rates):
    """Sums gradients: inside each node, then between the nodes by the faster way, then back."""
    inside = 2 * (GPUS_OF_NODE - 1) / GPUS_OF_NODE * size / rates.link
    if nodes == 1:
        return inside
    part = size / GPUS_OF_NODE
    between = min(way(part, nodes, rates.network, rates.hop)
                  for way in (all_reduce_ring, all_reduce_tree))
    return inside + between


class Model:
    def __init__(self, name, weights, layers, hidden):
        self.name, self.weights, self.layers, self.hidden = name, weights, layers, hidden


MODELS = [Model("Llama-3.2-1B", 2.47e9, 16, 2048), Model("Llama-3-8B", 15.0e9, 32, 4096),
          Model("Llama-3-70B", 139e9, 80, 8192)]
TRAINED = MODELS[1]
TOKENS_OF_STEP = 8192  # of each GPU
STAGES = (2, 4, 8)


def table(head, rows):
    widths = [max(len(str(row[k])) for row in [head, *rows]) for k in range(len(head))]
    for row in [head, *rows]:
        cells = [str(cell).ljust(width) if k == 0 else str(cell).rjust(width)
                 for k, (cell, width) in enumerate(zip(row, widths))]
        print("  ".join(cells).rstrip())
    print()


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--memory", type=float, default=4.48e12, help="bytes a second of a GPU's memory")
    parser.add_argument("--layer", type=float, default=16e-6, help="seconds of a layer besides its bytes")
    parser.add_argument("--link", type=float, default=450e9, help="bytes a second between two GPUs of a node")
    parser.add_argument("--all-reduce", type=float, default=3e-6, help="seconds of a small all_reduce in a node")
    parser.add_argument("--network", type=float, default=50e9, help="bytes a second of a GPU to other nodes")
    parser.add_argument("--hop", type=float, default=5e-6, help="seconds of a small message between nodes")
    parser.add_argument("--flops", type=float, default=400e12, help="operations a second of a GPU in training")
    rates = parser.parse_args()

    print("one token, batch 1, tensor-parallel in one node, microseconds")
    rows = []
    for model in MODELS:
        times = [decode(model, ranks, rates) for ranks in (1, 2, 4, 8)]
        rows.append([model.name, *(f"{1e6 * t:,.0f}" for t in times), f"{times[0] / times[3]:.1f}x"])
    table(["model", "1 GPU", "2", "4", "8", "8 against 1"], rows)

    print(f"one training step of {TRAINED.name}, {TOKENS_OF_STEP} tokens a GPU, data-parallel")
    compute = 6 * TRAINED.weights / 2 * TOKENS_OF_STEP / rates.flops
    rows = []
    for nodes in (1, 8, 1000):
        exchange = gradients(TRAINED.weights, nodes, rates)
        rows.append([f"{nodes * GPUS_OF_NODE} GPUs", f"{compute:.2f} s", f"{exchange:.2f} s",
                     f"{compute / (compute + exchange):.0%}",
                     f"{compute / max(compute, exchange):.0%}"])
    table(["ranks", "kernels", "gradients", "one after the other", "overlapped"], rows)

    print("share of time that stages of a pipeline work")
    rows = [[f"{stages} stages", *(f"{batches / (batches + stages - 1):.0%}"
                                   for batches in (1, 4, 16, 64))] for stages in STAGES]
    table(["micro-batches", "1", "4", "16", "64"], rows)

    print("connections of Baton's ranks")
    rows = [[f"{ranks} ranks", ranks - 1, f"{ranks * (ranks - 1) // 2:,}"] for ranks in (8, 64, 8000)]
    table(["", "of each rank", "of all"], rows)


if __name__ == "__main__":
    main()
