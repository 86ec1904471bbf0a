#!/usr/bin/env python3
"""Writes blocks.txt: weight blocks of every format and what they decode to.

Needs numpy. Written from the format descriptions (ggml's block layouts), not
from Penstock's C code: an element is taken out of the block, seen as one long
little-endian number, by its bit position, and computed alone in float32.

  python3 t/data/kernels/make-blocks.py > t/data/kernels/blocks.txt
"""
import numpy as np

rng = np.random.default_rng(20261130)
F = np.float32


def bits(block, first, n):
    return int.from_bytes(block, "little") >> first & ((1 << n) - 1)


def half(block, byte):
    return F(np.frombuffer(block[byte:byte + 2], np.float16)[0])


def signed(v, n):
    return v - (1 << n) if v >> (n - 1) else v


def q8_0(b, i):
    return half(b, 0) * F(signed(bits(b, 16 + 8 * i, 8), 8))


def q4_0(b, i):
    nibble = 2 * (i % 16) + i // 16
    return half(b, 0) * F(bits(b, 16 + 4 * nibble, 4) - 8)


def k_pair(b, g):
    """6-bit scale and minimum of group g; the 12 bytes begin at byte 4."""
    base = 32
    if g < 4:
        return bits(b, base + 8 * g, 6), bits(b, base + 32 + 8 * g, 6)
    low = base + 64 + 8 * (g - 4)
    scale = bits(b, low, 4) + 16 * bits(b, base + 8 * (g - 4) + 6, 2)
    least = bits(b, low + 4, 4) + 16 * bits(b, base + 32 + 8 * (g - 4) + 6, 2)
    return scale, least


def k45(b, i, first, fifth):
    g, j = divmod(i, 32)
    scale, least = k_pair(b, g)
    v = bits(b, 8 * (first + 32 * (g // 2) + j) + 4 * (g % 2), 4)
    if fifth is not None:
        v += 16 * bits(b, 8 * (fifth + j) + g, 1)
    return (half(b, 0) * F(scale)) * F(v) - half(b, 2) * F(least)


def q4_k(b, i):
    return k45(b, i, 16, None)


def q5_k(b, i):
    return k45(b, i, 48, 16)


def q6_k(b, i):
    part, rest = divmod(i, 128)
    quarter, j = divmod(rest, 32)
    low = 64 * part + 32 * (quarter & 1) + j
    v = bits(b, 8 * low + 4 * (quarter >> 1), 4)
    v += 16 * bits(b, 8 * (128 + 32 * part + j) + 2 * quarter, 2)
    scale = signed(bits(b, 8 * (192 + i // 16), 8), 8)
    return (half(b, 208) * F(scale)) * F(v - 32)


def f32(b, i):
    return np.frombuffer(b, np.float32)[i]


def f16(b, i):
    return half(b, 2 * i)


def bf16(b, i):
    return np.array([bits(b, 16 * i, 16) << 16], np.uint32).view(F)[0]


# name, number in GGUF, bytes, elements, decoder, bytes of f16 scales
FORMATS = [
    ("F32", 0, 32, 8, f32, []), ("F16", 1, 48, 24, f16, []),
    ("BF16", 30, 48, 24, bf16, []), ("Q8_0", 8, 34, 32, q8_0, [0]),
    ("Q4_0", 2, 18, 32, q4_0, [0]), ("Q4_K", 12, 144, 256, q4_k, [0, 2]),
    ("Q5_K", 13, 176, 256, q5_k, [0, 2]), ("Q6_K", 14, 210, 256, q6_k, [208]),
]


def block(bytes_n, scales, kind):
    b = bytearray(rng.integers(0, 256, bytes_n, np.uint8).tobytes())
    for at in scales:
        s = np.float16(rng.normal() * (0.02, 3e-6, 40)[kind])
        b[at:at + 2] = s.tobytes()
    return bytes(b)


print("# Written by t/data/kernels/make-blocks.py with numpy", np.__version__)
print("# A block: type number, bytes in hex; next line: f32 bits in hex.")
for name, number, size, n, decode, scales in FORMATS:
    for kind in range(3):
        b = block(size, scales, kind)
        y = np.array([decode(b, i) for i in range(n)], F)
        if not np.isfinite(y).all():  # plain formats: random bits may be NaN
            b = bytes(v & 0xBF for v in b)
            y = np.array([decode(b, i) for i in range(n)], F)
        assert np.isfinite(y).all(), name
        print(number, b.hex())
        print("".join("%08x" % v for v in y.view(np.uint32)))
