// Random weights in every supported tensor type.
//
// Values of float types follow a triangular distribution. Blocks of quantised
// types are made directly: random quants, scales such that the dequantised
// weights have the wanted standard deviation and a mean near 0. Block layouts:
// ggml's block_q8_0, block_q4_0, block_q4_K, block_q5_K, block_q6_K.

export const TYPES = {
    f32: { id: 0, elems: 1, bytes: 4, fileType: 0 },
    f16: { id: 1, elems: 1, bytes: 2, fileType: 1 },
    bf16: { id: 30, elems: 1, bytes: 2, fileType: 32 },
    q8_0: { id: 8, elems: 32, bytes: 34, fileType: 7, block: blockQ8 },
    q4_0: { id: 2, elems: 32, bytes: 18, fileType: 2, block: blockQ4 },
    q4_k: { id: 12, elems: 256, bytes: 144, fileType: 15, block: blockQ4K },
    q5_k: { id: 13, elems: 256, bytes: 176, fileType: 17, block: blockQ5K },
    q6_k: { id: 14, elems: 256, bytes: 210, fileType: 18, block: blockQ6K },
};

// Numbers of a generator, 32 bits at a time: xorshift128 (Marsaglia, 2003),
// started from a hash of seed and name so that a tensor's weights do not
// depend on the others.
class Random {
    constructor(seed, name) {
        let h = seed >>> 0;
        const state = new Uint32Array(4);

        for (let i = 0; i < 4; i++) {
            for (const c of Buffer.from(`${i}:${name}`))
                h = Math.imul(h ^ c, 0x01000193) + 0x9e3779b9 >>> 0;
            state[i] = h ^ h >>> 15;
        }
        [this.x, this.y, this.z, this.w] = state;
        this.w |= 1; // never all zero
        for (let i = 0; i < 16; i++)
            this.next();
    }

    next() {
        const t = this.x ^ this.x << 11;

        this.x = this.y;
        this.y = this.z;
        this.z = this.w;
        this.w = this.w ^ this.w >>> 19 ^ t ^ t >>> 8;
        return this.w >>> 0;
    }

    // a whole number from 0 to n - 1, n at most 65536
    below(n) { return (this.next() >>> 16) * n >>> 16; }

    // 4 * n random bytes at buf[at]
    fill(words, at, n) {
        for (let i = 0; i < n; i++)
            words[at + i] = this.next();
    }
}

const f32word = new Float32Array(1);
const u32word = new Uint32Array(f32word.buffer);

// Nearest half, ties to even; finite for |v| up to 65504.
export function half(v) {
    f32word[0] = v;
    const sign = u32word[0] >>> 16 & 0x8000;
    const a = Math.abs(f32word[0]);

    if (a < 2 ** -14) {
        const n = a * 2 ** 24; // subnormal steps
        let r = Math.floor(n);

        if (n - r > 0.5 || (n - r === 0.5 && r & 1))
            r++;
        return sign | r;
    }
    f32word[0] = a;
    const bits = u32word[0];
    const kept = bits - (112 << 23) >>> 13;
    const rest = bits & 0x1fff;

    return sign | kept + (rest > 0x1000 || (rest === 0x1000 && kept & 1));
}

function brain(v) {
    f32word[0] = v;
    const bits = u32word[0];

    return (bits + 0x7fff + (bits >>> 16 & 1)) >>> 16;
}

// The sum of two 16-bit numbers is triangular with 131,071 values: a table of
// them makes large tensors as fast as the generator.
const TRI = 131071;
const TRI_STD = 65536 / Math.sqrt(6);

function floatTable(t) {
    const table = t.type.bytes === 4 ? new Float32Array(TRI)
        : new Uint16Array(TRI);
    const encode = t.type === TYPES.f16 ? half
        : t.type === TYPES.bf16 ? brain : (v) => v;

    for (let i = 0; i < TRI; i++)
        table[i] = encode((t.mean ?? 0) + (i - 65535) / TRI_STD * t.std);
    return table;
}

function writeFloats(w, t, random, elems) {
    const table = floatTable(t);
    const part = new table.constructor(65536);
    const bytes = Buffer.from(part.buffer);

    for (let done = 0; done < elems; done += part.length) {
        const n = Math.min(part.length, elems - done);

        for (let i = 0; i < n; i++) {
            const v = random.next();

            part[i] = table[(v & 0xffff) + (v >>> 16)];
        }
        w.write(bytes.subarray(0, n * t.type.bytes));
    }
}

function u16(b, at, v) {
    b[at] = v & 255;
    b[at + 1] = v >>> 8;
}

// A scale within a quarter of the wanted one, of either sign.
function jitter(random, d) {
    const v = random.next();

    return d * (0.75 + (v >>> 1) / 2 ** 32) * (v & 1 ? 1 : -1);
}

// Blocks begin as random bytes; each function sets what must not be random.

function blockQ8(b, at, random, std) {
    u16(b, at, half(jitter(random, std / 73.3)));
    for (let i = at + 2; i < at + 34; i++)
        if (b[i] === 128) // -128: quantisers never write it
            b[i] = 0;
}

function blockQ4(b, at, random, std) {
    u16(b, at, half(jitter(random, std / 4.64)));
}

// Eight 6-bit scales and mins in 12 bytes; a min is near its scale, so that
// with dmin = d * (middle quant) the mean of a sub-block is near 0.
function scalesK(b, at, random) {
    const sc = [], m = [];

    for (let j = 0; j < 8; j++) {
        sc[j] = 20 + random.below(40);
        m[j] = sc[j] + random.below(7) - 3;
    }
    for (let j = 0; j < 4; j++) {
        b[at + j] = sc[j] | sc[j + 4] >>> 4 << 6;
        b[at + 4 + j] = m[j] | m[j + 4] >>> 4 << 6;
        b[at + 8 + j] = sc[j + 4] & 15 | (m[j + 4] & 15) << 4;
    }
}

function blockQ4K(b, at, random, std) {
    const d = Math.abs(jitter(random, std / (4.61 * 41.2)));

    u16(b, at, half(d));
    u16(b, at + 2, half(d * 7.5));
    scalesK(b, at + 4, random);
}

function blockQ5K(b, at, random, std) {
    const d = Math.abs(jitter(random, std / (9.23 * 41.2)));

    u16(b, at, half(d));
    u16(b, at + 2, half(d * 15.5));
    scalesK(b, at + 4, random);
}

function blockQ6K(b, at, random, std) {
    for (let j = 0; j < 16; j++) {
        const v = 32 + random.below(96);

        b[at + 192 + j] = v & 1 ? v : 256 - v;
    }
    u16(b, at + 208, half(Math.abs(jitter(random, std / (18.5 * 84.3)))));
}

function writeBlocks(w, t, random, elems) {
    const { type } = t;
    const blocks = elems / type.elems;
    const per = 4 * Math.floor(262144 / type.bytes / 4) || 4;
    const words = new Uint32Array(per * type.bytes / 4);
    const bytes = Buffer.from(words.buffer);

    for (let done = 0; done < blocks; done += per) {
        const n = Math.min(per, blocks - done);

        random.fill(words, 0, Math.ceil(n * type.bytes / 4));
        for (let i = 0; i < n; i++)
            type.block(bytes, i * type.bytes, random, t.std);
        w.write(bytes.subarray(0, n * type.bytes));
    }
}

// t: { name, dims, type, std, mean }, or { name, dims, type: f32, values }:
// these values, over and over.
export function writeTensor(w, t, seed) {
    const random = new Random(seed, t.name);
    const elems = t.dims.reduce((a, b) => a * b, 1);

    if (t.values)
        w.write(Buffer.from(Float32Array.from({ length: elems },
            (_, i) => t.values[i % t.values.length]).buffer));
    else if (t.type.block)
        writeBlocks(w, t, random, elems);
    else
        writeFloats(w, t, random, elems);
}
