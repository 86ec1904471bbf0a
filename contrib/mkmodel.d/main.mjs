// mkmodel: GGUF files of any supported shape and type with random weights.
//
// The same options give the same bytes on every little-endian machine: own
// generator, own rounding, no clock. Weights are written as they are made, so
// a file of many gigabytes needs a few megabytes beside its vocabulary.

import { closeSync, openSync, readFileSync, rmSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { openVocab } from './vocab.mjs';
import { MIXES, TYPES, writeTensor } from './weights.mjs';
import { GgufWriter } from './gguf.mjs';

const HELP = `Usage: contrib/mkmodel [OPTION]... -o FILE
Write a GGUF v3 file with random weights: for tests and measurements of speed.

  --arch qwen3|qwen2|llama   [qwen3]
  --layers N                 [2]
  --width N                  embedding length [256]
  --heads N                  query heads [4]
  --kv-heads N               key and value heads [2]
  --head-dim N               [width / heads]
  --ff N                     feed-forward length [3 * width]
  --ctx N                    context length [2048]
  --type T                   of matrices: f32 f16 bf16 q8_0 q4_0 q4_1 q5_0
                             q5_1 q2_k q3_k q4_k q5_k q6_k iq4_nl iq4_xs
                             mxfp4, or the mixture q4_k_m; vectors are F32
                             [q8_0]
  --head-type T              of the output matrix, or of the embedding that
                             stands for it too [the same; q4_k_m: q6_k]
  --vocab synthetic:N        a made-up byte-level BPE of N tokens, or
          npm:PACKAGE        the vocabulary of a tokenizer package: a folder,
                             or a name installed here or in t/js
                             [synthetic:512]
  --control TOKEN            add a control token; may be given again
  --user-token TOKEN         add a user-defined one; may be given again
  --bare                     leave the ChatML tokens of synthetic:N out
  --bos TOKEN, --eos TOKEN   which of the tokens these are
  --add-bos                  the file says that prompts begin with BOS
  --template [NAME=]FILE     a chat template, or a named variant of it; may be
                             given again
  --untied                   a separate output matrix
  --rope-base X              [10000]
  --rope-linear X            positions are divided by X
  --rope-yarn X,N            positions are spread by yarn: factor X, original
                             context N
  --rope-dims N              components of a head that turn [all]
  --rope-factors A,B,C       factors of the frequencies, repeated for all of
                             them (tensor rope_freqs.weight, as in llama 3.1)
  --logits X                 their standard deviation, about [1]
  --seed N                   [1]
  -o, --output FILE
`;

class Usage extends Error {}

const OPTIONS = {
    arch: { type: 'string', default: 'qwen3' },
    layers: { type: 'string', default: '2' },
    width: { type: 'string', default: '256' },
    heads: { type: 'string', default: '4' },
    'kv-heads': { type: 'string', default: '2' },
    'head-dim': { type: 'string' },
    ff: { type: 'string' },
    ctx: { type: 'string', default: '2048' },
    type: { type: 'string', default: 'q8_0' },
    'head-type': { type: 'string' },
    vocab: { type: 'string', default: 'synthetic:512' },
    control: { type: 'string', multiple: true, default: [] },
    'user-token': { type: 'string', multiple: true, default: [] },
    bare: { type: 'boolean', default: false },
    bos: { type: 'string' },
    eos: { type: 'string' },
    'add-bos': { type: 'boolean', default: false },
    template: { type: 'string', multiple: true, default: [] },
    untied: { type: 'boolean', default: false },
    'rope-base': { type: 'string', default: '10000' },
    'rope-linear': { type: 'string' },
    'rope-yarn': { type: 'string' },
    'rope-dims': { type: 'string' },
    'rope-factors': { type: 'string' },
    logits: { type: 'string', default: '1' },
    seed: { type: 'string', default: '1' },
    output: { type: 'string', short: 'o' },
    help: { type: 'boolean', default: false },
};

function whole(values, name, min, max) {
    const text = values[name];
    const n = Number(text);

    if (!/^\d+$/.test(text) || n < min || n > max)
        throw new Usage(`--${name} takes a number from ${min} to ${max}, ` +
            `not '${text}'`);
    return n;
}

function positive(values, name, text = values[name]) {
    const x = Number(text);

    if (!(x > 0 && Number.isFinite(x)))
        throw new Usage(`--${name} takes a positive number, not '${text}'`);
    return x;
}

// s.type of most matrices, s.head of the output, s.mix: which differ
function setTypes(s, values) {
    const named = (option, table) => table[values[option]] ??
        (() => {
            throw new Usage(`--${option} takes ${Object.keys(table)
                .join(', ')}, not '${values[option]}'`);
        })();
    const chosen = named('type', { ...TYPES, ...MIXES });
    const whole = (name, n, type) => {
        if (n % type.elems)
            throw new Usage(`${type.name} needs rows that are multiples of ` +
                `${type.elems}: ${name} is ${n}`);
    };

    s.mix = chosen.more ? chosen : undefined;
    s.type = s.mix?.type ?? chosen;
    s.head = s.mix?.head ?? s.type;
    s.fileType = chosen.fileType;
    if (values['head-type'] !== undefined)
        s.head = named('head-type', TYPES);
    whole('width', s.width, s.type);
    whole('width', s.width, s.head);
    whole('ff', s.ff, s.type);
    whole('heads * head-dim', s.heads * s.headDim, s.type);
}

function shapeOf(values) {
    const s = { arch: values.arch, untied: values.untied };

    if (!['qwen3', 'qwen2', 'llama'].includes(s.arch))
        throw new Usage(`--arch takes qwen3, qwen2 or llama, not '${s.arch}'`);
    s.layers = whole(values, 'layers', 1, 1000);
    s.width = whole(values, 'width', 1, 1 << 20);
    s.heads = whole(values, 'heads', 1, 65536);
    s.kvHeads = whole(values, 'kv-heads', 1, 65536);
    values['head-dim'] ??= String(Math.floor(s.width / s.heads));
    s.headDim = whole(values, 'head-dim', 2, 65536);
    values.ff ??= String(3 * s.width);
    s.ff = whole(values, 'ff', 1, 1 << 24);
    s.ctx = whole(values, 'ctx', 1, 1 << 30);
    s.seed = whole(values, 'seed', 0, 2 ** 32 - 1);
    s.logits = positive(values, 'logits');
    s.ropeBase = positive(values, 'rope-base');
    if (values['rope-linear'] !== undefined)
        s.ropeLinear = positive(values, 'rope-linear');
    if (values['rope-yarn'] !== undefined) {
        const [factor, original] = values['rope-yarn'].split(',');

        s.ropeYarn = positive(values, 'rope-yarn', factor);
        values['rope-yarn'] = original ?? '';
        s.ropeOriginal = whole(values, 'rope-yarn', 1, 1 << 30);
    }
    values['rope-dims'] ??= String(s.headDim);
    s.ropeDims = whole(values, 'rope-dims', 2, s.headDim);
    s.ropeFactors = values['rope-factors']?.split(',')
        .map((text) => positive(values, 'rope-factors', text));
    if (s.heads % s.kvHeads)
        throw new Usage(`--heads ${s.heads} is not a multiple of ` +
            `--kv-heads ${s.kvHeads}`);
    if (s.headDim % 2)
        throw new Usage(`--head-dim ${s.headDim} is odd: rotary positions ` +
            `turn pairs`);
    if (s.ropeDims % 2)
        throw new Usage(`--rope-dims ${s.ropeDims} is odd: pairs turn`);
    if (s.ropeLinear && s.ropeYarn)
        throw new Usage('--rope-linear and --rope-yarn exclude each other');
    setTypes(s, values);
    return s;
}

// Gains: every matrix keeps the size of what it is given, what a layer adds
// to the residual stream shrinks with their number, and the logits of a
// normalised state have a standard deviation of about 1, so that the rounding
// of another engine stays small beside 0.05. With tied matrices layers add
// far more than the embedding, or a model would say its last token for ever.
function tensorsOf(s, nTokens) {
    const list = [];
    const r = 1 / Math.sqrt(s.width);
    const add = (s.untied ? 3 * r : 2) / Math.sqrt(s.layers);
    const q = s.heads * s.headDim;
    const kv = s.kvHeads * s.headDim;
    const matrix = (name, rows, cols, gain, type = s.type) => list.push({
        name: `${name}.weight`, dims: [cols, rows], type,
        std: gain / Math.sqrt(cols),
    });
    const mixed = (name, l) => s.mix?.more(name, l, s.layers)
        ? s.mix.moreType : s.type;
    const vector = (name, n, mean, std) => list.push({
        name, dims: [n], type: TYPES.f32, mean, std,
    });

    matrix('token_embd', nTokens, s.width, r * Math.sqrt(s.width),
        s.untied ? s.type : s.head);
    for (let l = 0; l < s.layers; l++) {
        const b = `blk.${l}.`;

        vector(`${b}attn_norm.weight`, s.width, 1, 0.1);
        matrix(`${b}attn_q`, q, s.width, 1.5);
        matrix(`${b}attn_k`, kv, s.width, 1.5);
        matrix(`${b}attn_v`, kv, s.width, 1, mixed('attn_v', l));
        if (s.arch === 'qwen2') {
            vector(`${b}attn_q.bias`, q, 0, 0.2);
            vector(`${b}attn_k.bias`, kv, 0, 0.2);
            vector(`${b}attn_v.bias`, kv, 0, 0.2);
        }
        if (s.arch === 'qwen3') {
            vector(`${b}attn_q_norm.weight`, s.headDim, 1, 0.1);
            vector(`${b}attn_k_norm.weight`, s.headDim, 1, 0.1);
        }
        matrix(`${b}attn_output`, s.width, q, add);
        vector(`${b}ffn_norm.weight`, s.width, 1, 0.1);
        matrix(`${b}ffn_gate`, s.ff, s.width, 1);
        matrix(`${b}ffn_up`, s.ff, s.width, 1);
        matrix(`${b}ffn_down`, s.width, s.ff, add, mixed('ffn_down', l));
    }
    vector('output_norm.weight', s.width, s.logits, 0.1 * s.logits);
    if (s.ropeFactors)
        list.push({ name: 'rope_freqs.weight', dims: [s.ropeDims / 2],
            type: TYPES.f32, values: s.ropeFactors });
    if (s.untied)
        matrix('output', nTokens, s.width, r * Math.sqrt(s.width), s.head);
    return list;
}

function writeMeta(w, s, vocab) {
    const a = s.arch;

    w.str('general.architecture', a);
    w.str('general.name', `random ${a}, seed ${s.seed}`);
    w.u32('general.file_type', s.fileType);
    w.u32('general.quantization_version', 2);
    w.u32(`${a}.block_count`, s.layers);
    w.u32(`${a}.context_length`, s.ctx);
    w.u32(`${a}.embedding_length`, s.width);
    w.u32(`${a}.feed_forward_length`, s.ff);
    w.u32(`${a}.attention.head_count`, s.heads);
    w.u32(`${a}.attention.head_count_kv`, s.kvHeads);
    w.u32(`${a}.attention.key_length`, s.headDim);
    w.u32(`${a}.attention.value_length`, s.headDim);
    w.f32(`${a}.attention.layer_norm_rms_epsilon`, 1e-6);
    w.f32(`${a}.rope.freq_base`, s.ropeBase);
    w.u32(`${a}.rope.dimension_count`, s.ropeDims);
    if (s.ropeLinear) {
        w.str(`${a}.rope.scaling.type`, 'linear');
        w.f32(`${a}.rope.scaling.factor`, s.ropeLinear);
    }
    if (s.ropeYarn) {
        w.str(`${a}.rope.scaling.type`, 'yarn');
        w.f32(`${a}.rope.scaling.factor`, s.ropeYarn);
        w.u32(`${a}.rope.scaling.original_context_length`, s.ropeOriginal);
    }
    w.u32(`${a}.vocab_size`, vocab.tokens.length);
    vocab.write(w);
}

// What the options say beside --vocab.
function changeVocab(vocab, values) {
    for (const token of values.control)
        vocab.add(token, 'control', Usage);
    for (const token of values['user-token'])
        vocab.add(token, 'user', Usage);
    for (const role of ['bos', 'eos'])
        if (values[role] !== undefined)
            vocab.name(role, values[role], Usage);
    if (values['add-bos'])
        vocab.flags.add_bos_token = true;
    for (const text of values.template) {
        const [, name, file] = /^(?:([a-z0-9_]+)=)?(.+)$/.exec(text) ?? [];

        if (!file)
            throw new Usage(`--template takes [NAME=]FILE, not '${text}'`);
        vocab.templates.set(name ?? '', readFileSync(file, 'utf8'));
    }
}

function main() {
    let values;

    try {
        ({ values } = parseArgs({ options: OPTIONS }));
    } catch (e) {
        throw new Usage(e.message.split('\n')[0]);
    }
    if (values.help) {
        process.stdout.write(HELP);
        return;
    }
    if (!values.output)
        throw new Usage('-o FILE is missing');
    const s = shapeOf(values);
    const vocab = openVocab(values.vocab, values.bare, Usage);

    changeVocab(vocab, values);
    const tensors = tensorsOf(s, vocab.tokens.length);
    const fd = openSync(values.output, 'w');

    try {
        const w = new GgufWriter(fd);

        writeMeta(w, s, vocab);
        w.directory(tensors);
        for (const t of tensors) {
            writeTensor(w, t, s.seed);
            w.align();
        }
        w.flush();
    } catch (e) {
        rmSync(values.output, { force: true });
        throw e;
    } finally {
        closeSync(fd);
    }
}

try {
    main();
} catch (e) {
    process.stderr.write(`mkmodel: ${e.message}\n`);
    process.exitCode = e instanceof Usage ? 2 : 1;
}
