// Random weights in every supported tensor type.
//
// Values of float types follow a triangular distribution. Blocks of quantised
// types are made directly: random quants, scales such that the dequantised
// weights have the wanted standard deviation and a mean near 0. Block layouts:
// kernels/cpu/quant.h.

export const TYPES = {
    f32: { id: 0, elems: 1, bytes: 4, fileType: 0 },
    f16: { id: 1, elems: 1, bytes: 2, fileType: 1 },
    bf16: { id: 30, elems: 1, bytes: 2, fileType: 32 },
    q8_0: { id: 8, elems: 32, bytes: 34, fileType: 7, block: blockQ8 },
    q4_0: { id: 2, elems: 32, bytes: 18, fileType: 2, block: blockQ4 },
    q4_1: { id: 3, elems: 32, bytes: 20, fileType: 3, block: blockQ41 },
    q5_0: { id: 6, elems: 32, bytes: 22, fileType: 8, block: blockQ50 },
    q5_1: { id: 7, elems: 32, bytes: 24, fileType: 9, block: blockQ51 },
    q2_k: { id: 10, elems: 256, bytes: 84, fileType: 10, block: blockQ2K },
    q3_k: { id: 11, elems: 256, bytes: 110, fileType: 12, block: blockQ3K },
    q4_k: { id: 12, elems: 256, bytes: 144, fileType: 15, block: blockQ4K },
    q5_k: { id: 13, elems: 256, bytes: 176, fileType: 17, block: blockQ5K },
    q6_k: { id: 14, elems: 256, bytes: 210, fileType: 18, block: blockQ6K },
    iq4_nl: { id: 20, elems: 32, bytes: 18, fileType: 25, block: blockIQ4NL },
    iq4_xs: { id: 23, elems: 256, bytes: 136, fileType: 30,
        block: blockIQ4XS },
    mxfp4: { id: 39, elems: 32, bytes: 17, fileType: 38, block: blockMXFP4 },
};

for (const name of Object.keys(TYPES))
    TYPES[name].name = name;

// Mixtures of published files: matrices are of `type`, the tied embedding or
// the output matrix of `head`; where `more` says so, of `moreType`.
// Q4_K_M: the values and the way down of a layer get more bits in the first
// and the last eighth of the layers and in each third one between, the rule
// of llama.cpp's quantiser (src/llama-quant.cpp).
export const MIXES = {
    q4_k_m: {
        type: TYPES.q4_k, head: TYPES.q6_k, moreType: TYPES.q6_k,
        fileType: 15,
        more: (name, layer, layers) => {
            const eighth = Math.floor(layers / 8);

            return ['attn_v', 'ffn_down'].includes(name) &&
                (layer < eighth || layer >= Math.floor(7 * layers / 8) ||
                 (layer - eighth) % 3 === 2);
        },
    },
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
        // signed: the engine keeps such numbers unboxed
        [this.x, this.y, this.z, this.w] = Int32Array.from(state);
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
        let { x, y, z, w } = this;

        for (let i = 0; i < n; i++) {
            const t = x ^ x << 11;

            x = y;
            y = z;
            z = w;
            w = w ^ w >>> 19 ^ t ^ t >>> 8;
            words[at + i] = w;
        }
        Object.assign(this, { x, y, z, w });
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

// The scale of a block whose values have a minimum: -middle times the scale.
function scaleMin(b, at, random, d, middle) {
    const scale = Math.abs(jitter(random, d));

    u16(b, at, half(scale));
    u16(b, at + 2, half(middle * scale));
}

function blockQ41(b, at, random, std) {
    scaleMin(b, at, random, std / 4.61, -7.5);
}

function blockQ50(b, at, random, std) {
    u16(b, at, half(jitter(random, std / 9.25)));
}

function blockQ51(b, at, random, std) {
    scaleMin(b, at, random, std / 9.23, -15.5);
}

// Sixteen scales from 5 to 14, and mins as in the other K types.
function blockQ2K(b, at, random, std) {
    for (let i = at; i < at + 16; i++) {
        const v = random.next();
        const sc = 5 + ((v >>> 16) * 10 >>> 16);

        b[i] = sc | sc + ((v & 0xffff) * 3 >>> 16) - 1 << 4;
    }
    scaleMin(b, at + 80, random, std / 11.16, 1.5);
}

// A 6-bit scale from 1 to 24 or from 40 to 63: 32 is zero.
function scale6(random) {
    const v = random.next();
    const sc = 8 + ((v >>> 16) * 24 >>> 16);

    return v & 1 ? 32 + sc : 32 - sc;
}

function blockQ3K(b, at, random, std) {
    b.fill(0, at + 96, at + 108);
    for (let j = 0; j < 16; j++) {
        const sc = scale6(random);

        b[at + 96 + j % 8] |= (sc & 15) << (j < 8 ? 0 : 4);
        b[at + 104 + j % 4] |= sc >> 4 << 2 * (j >> 2);
    }
    u16(b, at + 108, half(Math.abs(jitter(random, std / 48.5))));
}

// The table of IQ4_NL has a root mean square of 67.4.
function blockIQ4NL(b, at, random, std) {
    u16(b, at, half(jitter(random, std / 67.4)));
}

function blockIQ4XS(b, at, random, std) {
    let high = 0;

    b.fill(0, at + 4, at + 8);
    for (let g = 0; g < 8; g++) {
        const sc = scale6(random);

        b[at + 4 + (g >> 1)] |= (sc & 15) << 4 * (g & 1);
        high |= sc >> 4 << 2 * g;
    }
    u16(b, at + 2, high);
    u16(b, at, half(Math.abs(jitter(random, std / (67.4 * 20.7)))));
}

// Scales are powers of 2: the two next to the wanted one, so often that the
// mean square is right. The root mean square of the doubled values is 5.85.
function blockMXFP4(b, at, random, std) {
    f32word[0] = std / 5.85;
    const e = u32word[0] >>> 23;

    u32word[0] = u32word[0] & 0x7fffff | 0x3f800000;
    const upper = (f32word[0] * f32word[0] - 1) / 3;

    b[at] = e + 1 + (random.next() < upper * 2 ** 32);
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
