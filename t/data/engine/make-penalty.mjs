// What a repetition penalty makes of logits: the answers of another program,
// @huggingface/transformers (npm, 4.3.2). In an empty folder:
//   npm install --ignore-scripts @huggingface/transformers@4.3.2
//   node .../t/data/engine/make-penalty.mjs >.../t/data/engine/penalty.tsv
//
// It has no presence and frequency penalty: those columns are OpenAI's
// published formula, mu[j] - c[j] * frequency - (c[j] > 0) * presence, in
// double precision over the row that its repetition penalty left.
import { pathToFileURL } from 'node:url';

const at = `${process.cwd()}/node_modules/@huggingface/transformers/`;
const { RepetitionPenaltyLogitsProcessor, Tensor } =
    await import(pathToFileURL(`${at}dist/transformers.node.mjs`));
const VOCAB = 12;

// xorshift32 (Marsaglia 2003): the same rows every time
let x = 2463534242;
function below(n) {
    x ^= x << 13;
    x ^= x >>> 17;
    x ^= x << 5;
    return (x >>> 0) % n;
}

// exact in binary and short in decimal
const eighths = (n) => (below(2 * n * 8 + 1) - n * 8) / 8;
const pick = (list) => list[below(list.length)];

console.log('# Written by t/data/engine/make-penalty.mjs with ' +
    '@huggingface/transformers 4.3.2');
console.log('# history, repetition, presence, frequency, logits, logits ' +
    'afterwards');
for (let i = 0; i < 96; i++) {
    const only = i % 4; // each alone first
    const r = only === 0 || only === 3 ? pick([0.5, 0.9, 1.1, 1.3, 2, 8]) : 1;
    const p = only === 1 || only === 3 ? eighths(2) : 0;
    const f = only === 2 || only === 3 ? eighths(2) : 0;
    const kinds = 1 + below(VOCAB);
    const ids = Array.from({ length: 1 + below(30) }, () => below(kinds));
    const logits = Array.from({ length: VOCAB },
        () => below(9) ? eighths(20) : 0);
    const row = Float32Array.from(logits);
    new RepetitionPenaltyLogitsProcessor(Math.fround(r))([ids.map(BigInt)],
        new Tensor('float32', row, [1, VOCAB]));
    const count = ids.reduce((c, id) => c.set(id, (c.get(id) ?? 0) + 1),
        new Map());
    const after = [...row].map((mu, j) => {
        const c = count.get(j) ?? 0;
        return mu - c * f - (c > 0 ? 1 : 0) * p;
    });
    console.log([ids.join(','), r, p, f, logits.join(','),
        after.join(',')].join('\t'));
}
