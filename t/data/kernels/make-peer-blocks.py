#!/usr/bin/env python3
"""Writes peer-blocks.txt: weight blocks as ggml quantises them, and the
numbers it decodes them to.

Needs libggml-base.so of a llama.cpp build for a plain x86-64 (its to_float
without fused multiply-add):

  python3 t/data/kernels/make-peer-blocks.py LIBGGML_BASE \\
      > t/data/kernels/peer-blocks.txt
"""
import ctypes as C
import random
import struct
import sys

TO_FLOAT = C.CFUNCTYPE(None, C.c_void_p, C.c_void_p, C.c_int64)


class Traits(C.Structure):  # struct ggml_type_traits of ggml.h
    _fields_ = [("name", C.c_char_p), ("elems", C.c_int64),
                ("interleave", C.c_int64), ("bytes", C.c_size_t),
                ("quantised", C.c_bool), ("to_float", TO_FLOAT),
                ("from_float", C.c_void_p)]


lib = C.CDLL(sys.argv[1])
lib.ggml_get_type_traits.restype = C.POINTER(Traits)
lib.ggml_quantize_chunk.restype = C.c_size_t
lib.ggml_quantize_chunk.argtypes = [C.c_int, C.c_void_p, C.c_void_p,
                                    C.c_int64, C.c_int64, C.c_int64,
                                    C.c_void_p]
lib.ggml_commit.restype = C.c_char_p

rng = random.Random(20261130)


def normal(n):
    return [rng.gauss(0, 0.02) for _ in range(n)]


def peaky(n):
    """Nearly all small, some far out."""
    return [rng.gauss(0, 1) ** 5 * 0.003 for _ in range(n)]


def zeros(n):
    return [0.0] * n


def extreme(n):
    """Groups of sixteen from 2^-30 to 2^10, with one sign in some."""
    out = []
    while len(out) < n:
        scale = 2.0 ** rng.randrange(-30, 11)
        sign = rng.choice((0, 0, 1, -1))
        for _ in range(16):
            x = rng.gauss(0, 1) * scale
            out.append(sign * abs(x) if sign else x)
    return out[:n]


def random_bytes(t, number, size, n):
    """Any bytes that decode to finite numbers; MXFP4 at its ends."""
    raw = (C.c_uint8 * size)()
    dst = (C.c_float * n)()
    while True:
        raw[:] = rng.randbytes(size)
        if number == 39:
            raw[0] = rng.choice((0, 1, 2, 253))
        t.to_float(C.addressof(raw), C.addressof(dst), n)
        if all(abs(v) < float("inf") for v in dst):
            return raw, dst


def hex_floats(values):
    """f32 bits, without leading zeros; a repetition is one number and *n."""
    words, out = [struct.unpack("<I", struct.pack("<f", v))[0]
                  for v in values], []
    i = 0
    while i < len(words):
        n = 1
        while i + n < len(words) and words[i + n] == words[i]:
            n += 1
        out.append("%x*%d" % (words[i], n) if n > 1 else "%x" % words[i])
        i += n
    return " ".join(out)


print("# Written by t/data/kernels/make-peer-blocks.py with the quantiser and")
print("# the decoder of ggml, commit %s." % lib.ggml_commit().decode())
print("# ggml: MIT License, Copyright (c) 2023-2026 The ggml authors.")
print("# A block: type number, bytes in hex; next line: f32 bits in hex, *n")
print("# means n times.")
for number in (0, 1, 30, 8, 2, 3, 6, 7, 20, 39, 10, 11, 12, 13, 14, 23):
    t = lib.ggml_get_type_traits(number).contents
    many = 8 if t.elems == 1 else t.elems
    size = many // t.elems * t.bytes
    for kind in (normal, peaky, zeros, extreme):
        for _ in range(1 if kind is zeros else 4 if t.elems < 256 else 2):
            src = (C.c_float * many)(*kind(many))
            raw = (C.c_uint8 * size)()
            dst = (C.c_float * many)()
            if number == 0:
                C.memmove(raw, src, size)
                dst = src
            else:
                n = lib.ggml_quantize_chunk(number, src, raw, 0, 1, many,
                                            None)
                assert n == size, (number, n, size)
                t.to_float(C.addressof(raw), C.addressof(dst), many)
            print(number, bytes(raw).hex())
            print(hex_floats(dst))
    for _ in range(3 if t.to_float else 0):
        raw, dst = random_bytes(t, number, size, many)
        print(number, bytes(raw).hex())
        print(hex_floats(dst))
