// A GGUF v3 writer that streams. Source: ggml docs/gguf.md.

import { writeSync } from 'node:fs';

const ALIGN = 32;
const CHUNK = 4 << 20;

const V = { u8: 0, i32: 5, f32: 6, bool: 7, str: 8, arr: 9, u32: 4 };

// Bytes that collect; nothing is copied twice but on growth.
class Bytes {
    constructor() {
        this.buf = Buffer.alloc(1 << 16);
        this.n = 0;
    }

    room(n) {
        if (this.n + n > this.buf.length) {
            const bigger = Buffer.alloc(Math.max(2 * this.buf.length,
                this.n + n));

            this.buf.copy(bigger, 0, 0, this.n);
            this.buf = bigger;
        }
        this.n += n;
        return this.n - n;
    }

    u8(v) { const at = this.room(1); this.buf.writeUInt8(v, at); }
    u32(v) { const at = this.room(4); this.buf.writeUInt32LE(v, at); }
    i32(v) { const at = this.room(4); this.buf.writeInt32LE(v, at); }
    f32(v) { const at = this.room(4); this.buf.writeFloatLE(v, at); }

    u64(v) {
        const at = this.room(8);

        this.buf.writeBigUInt64LE(BigInt(v), at);
    }

    str(s) {
        const n = Buffer.byteLength(s);

        this.u64(n);
        const at = this.room(n);

        this.buf.write(s, at);
    }

    bytes() { return this.buf.subarray(0, this.n); }
}

export class GgufWriter {
    // The caller opens and closes fd.
    constructor(fd) {
        this.fd = fd;
        this.kv = new Bytes();
        this.nKv = 0;
        this.at = 0; // bytes of the file so far, those that wait included
        this.wait = Buffer.alloc(CHUNK);
        this.waitN = 0;
    }

    key(key, type) {
        this.nKv++;
        this.kv.str(key);
        this.kv.u32(type);
    }

    str(key, v) { this.key(key, V.str); this.kv.str(v); }
    u32(key, v) { this.key(key, V.u32); this.kv.u32(v); }
    f32(key, v) { this.key(key, V.f32); this.kv.f32(v); }
    bool(key, v) { this.key(key, V.bool); this.kv.u8(v ? 1 : 0); }

    // type: 'str', 'i32' or 'f32'
    array(key, type, list) {
        this.key(key, V.arr);
        this.kv.u32(V[type]);
        this.kv.u64(list.length);
        for (const v of list)
            this.kv[type](v);
    }

    // Header, metadata and the tensor list; data follows in the same order,
    // each tensor through write() and then align().
    directory(tensors) {
        const head = new Bytes();
        let offset = 0;

        head.u32(0x46554747); // "GGUF"
        head.u32(3);
        head.u64(tensors.length);
        head.u64(this.nKv);
        this.write(head.bytes());
        this.write(this.kv.bytes());
        const dir = new Bytes();

        for (const t of tensors) {
            const elems = t.dims.reduce((a, b) => a * b, 1);
            const bytes = elems / t.type.elems * t.type.bytes;

            dir.str(t.name);
            dir.u32(t.dims.length);
            t.dims.forEach((d) => dir.u64(d));
            dir.u32(t.type.id);
            dir.u64(offset);
            offset += Math.ceil(bytes / ALIGN) * ALIGN;
        }
        this.write(dir.bytes());
        this.align();
    }

    align() {
        this.write(Buffer.alloc((ALIGN - this.at % ALIGN) % ALIGN));
    }

    write(bytes) {
        let done = 0;

        this.at += bytes.length;
        while (done < bytes.length) {
            const n = Math.min(bytes.length - done, CHUNK - this.waitN);

            this.wait.set(bytes.subarray(done, done + n), this.waitN);
            this.waitN += n;
            done += n;
            if (this.waitN === CHUNK)
                this.flush();
        }
    }

    flush() {
        let done = 0;

        while (done < this.waitN)
            done += writeSync(this.fd, this.wait, done, this.waitN - done);
        this.waitN = 0;
    }
}
