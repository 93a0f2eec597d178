"""What llama.toml computes, in NumPy: the tokens, and the scores of the last step.

Sums are in float64. What the kernels round to bf16 is rounded here too: the vectors of products, the rows
of the caches, the outputs of the heads, and the inner vector.
"""

import pathlib
import sys

import numpy

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
import baton_random  # noqa: E402


def bf16(x):
    """Rounds to bf16, to nearest even, as float64."""
    bits = numpy.asarray(x, numpy.float32).view(numpy.uint32)
    bits = bits + 0x7FFF + ((bits >> 16) & 1)
    return (bits & numpy.uint32(0xFFFF0000)).view(numpy.float32).astype(float)


def random_weights(shape, seed, mean, deviation):
    """As the kernel random_weights makes them."""
    u64 = numpy.uint64
    with numpy.errstate(over="ignore"):
        z = (u64(seed << 40) + numpy.arange(1, numpy.prod(shape) + 1, dtype=u64)) * u64(0x9E3779B97F4A7C15)
        z = (z ^ (z >> u64(30))) * u64(0xBF58476D1CE4E5B9)
        z = (z ^ (z >> u64(27))) * u64(0x94D049BB133111EB)
        z = z ^ (z >> u64(31))
    f32 = numpy.float32
    unit = ((z >> u64(40)).astype(f32) + f32(0.5)) * f32(2.0**-24) - f32(0.5)
    return bf16(f32(mean) + unit * f32(3.4641016) * f32(deviation)).reshape(shape)


def weights(s):
    """The buffers of weights-random.toml, by name."""
    k, i, layers, v = s["K"], s["I"], s["LAYERS"], s["V"]
    shapes = {"embedding": (v, k), "wq": (layers, s["H"] * s["D"], k), "wk": (layers, s["G"] * s["D"], k),
              "wv": (layers, s["G"] * s["D"], k), "wo": (layers, k, s["H"] * s["D"]), "gate": (layers, i, k),
              "up": (layers, i, k), "down": (layers, k, i), "norm1": (layers, k), "norm2": (layers, k),
              "norm": (k,), "head": (v, k)}
    return {name: random_weights(shape, seed, *((1.0, 0.1) if name.startswith("norm") else (0.0, 0.02)))
            for seed, (name, shape) in enumerate(shapes.items(), 1)}


def rope(s, position):
    """Cosine and sine of each pair of columns."""
    half = s["D"] // 2
    frequency = float(s["THETA"]) ** (-numpy.arange(half) / half)
    if s["ROPE_FACTOR"] > 1:
        wave = 2 * numpy.pi / frequency
        smooth = (8192 / wave - 1) / (4 - 1)
        middle = (1 - smooth) * frequency / s["ROPE_FACTOR"] + smooth * frequency
        frequency = numpy.where(wave > 8192, frequency / s["ROPE_FACTOR"],
                                numpy.where(wave < 2048, frequency, middle))
    return numpy.cos(position * frequency), numpy.sin(position * frequency)


def norm(x, weight):
    """The vector that products take, and what their sums are multiplied by: only the vector is rounded."""
    return bf16(x * weight), 1 / numpy.sqrt(numpy.mean(x * x) + 1e-5)


def step(s, w, caches, token, position):
    """The scores behind one token, whose keys and values join the caches."""
    heads, groups, width = s["H"], s["G"], s["D"]
    cosine, sine = rope(s, position)

    def turn(vectors):
        low, high = vectors[:, :width // 2], vectors[:, width // 2:]
        return numpy.concatenate((low * cosine - high * sine, high * cosine + low * sine), axis=1)

    x = w["embedding"][token]
    for layer in range(s["LAYERS"]):
        normed, scale = norm(x, w["norm1"][layer])
        query = turn((w["wq"][layer] @ normed * scale).reshape(heads, width))
        keys, values = caches[layer]
        keys.append(bf16(turn((w["wk"][layer] @ normed * scale).reshape(groups, width))))
        values.append(bf16((w["wv"][layer] @ normed * scale).reshape(groups, width)))
        attended = numpy.empty((heads, width))
        for head in range(heads):
            group = head * groups // heads
            scores = numpy.array([key[group] for key in keys]) @ query[head] / numpy.sqrt(width)
            shares = numpy.exp(scores - scores.max())
            attended[head] = shares @ numpy.array([value[group] for value in values]) / shares.sum()
        x = x + w["wo"][layer] @ bf16(attended.reshape(-1))
        normed, scale = norm(x, w["norm2"][layer])
        gate, up = w["gate"][layer] @ normed * scale, w["up"][layer] @ normed * scale
        x = x + w["down"][layer] @ bf16(gate / (1 + numpy.exp(-gate)) * up)
    normed, scale = norm(x, w["norm"])
    return w["head"] @ normed * scale


def noise(s, position):
    """Gumbel noise for each token, as the kernel head adds it."""
    u64, f32 = numpy.uint64, numpy.float32
    with numpy.errstate(over="ignore"):
        z = u64(s["SEED"]) + ((u64(position) << u64(32)) | numpy.arange(s["V"], dtype=u64)) + u64(1)
        z = z * u64(0x9E3779B97F4A7C15)
        z = (z ^ (z >> u64(30))) * u64(0xBF58476D1CE4E5B9)
        z = (z ^ (z >> u64(27))) * u64(0x94D049BB133111EB)
        z = z ^ (z >> u64(31))
    uniform = ((z >> u64(41)).astype(f32) + f32(0.5)) * f32(2.0**-23)
    return -numpy.log(-numpy.log(uniform.astype(float)))


def choose(s, logits, position):
    if s["TEMPERATURE"] > 0:
        logits = logits / (s["TEMPERATURE"] / 100) + noise(s, position)
    return numpy.argmax(logits)


def decode(s, w, tokens):
    """Writes the text behind the prompt into `tokens`. Returns its last position, and the scores there."""
    caches = [([], []) for _ in range(s["LAYERS"])]
    for position in range(s["LIMIT"]):
        logits = step(s, w, caches, tokens[position], position)
        after = position + 1
        if after >= s["PROMPT"]:
            tokens[after] = choose(s, logits, position)
            if tokens[after] == s["STOP"]:
                break
    return after, logits


def continued(s, w, prompt, count):
    """The tokens that follow a prompt: at most `count`."""
    tokens = numpy.zeros(len(prompt) + count, numpy.int32)
    tokens[:len(prompt)] = prompt
    last, _ = decode(dict(s, PROMPT=len(prompt), LIMIT=len(tokens) - 1), w, tokens)
    return tokens[len(prompt):last + 1].tolist()


def reference(symbols, seed):
    tokens = baton_random.random("tokens", (symbols["T"],), numpy.int32, seed)
    last, logits = decode(symbols, weights(symbols), tokens)
    return {"tokens": tokens, "logits": logits.astype(numpy.float32),
            "position": numpy.array([last], numpy.int32)}


if __name__ == "__main__":
    baton_random.main(pathlib.Path(__file__).with_name("llama.toml"), reference)
