// Which ids no_repeat_ngram_size forbids: the answers of another program,
// @huggingface/transformers (npm, 4.3.2). In an empty folder:
//   npm install --ignore-scripts @huggingface/transformers@4.3.2
//   node .../t/data/gen/make-ngram.mjs >.../t/data/gen/ngram.tsv
import { pathToFileURL } from 'node:url';

const at = `${process.cwd()}/node_modules/@huggingface/transformers/`;
const { NoRepeatNGramLogitsProcessor, Tensor } =
    await import(pathToFileURL(`${at}dist/transformers.node.mjs`));
const VOCAB = 16;

// xorshift32 (Marsaglia 2003): the same rows every time
let x = 2463534242;
function below(n) {
    x ^= x << 13;
    x ^= x >>> 17;
    x ^= x << 5;
    return (x >>> 0) % n;
}

function banned(ids, n) {
    const row = new Float32Array(VOCAB);
    const big = ids.map(BigInt);
    new NoRepeatNGramLogitsProcessor(n)([big],
        new Tensor('float32', row, [1, VOCAB]));
    return [...row.keys()].filter((id) => row[id] === -Infinity);
}

console.log('# Written by t/data/gen/make-ngram.mjs with ' +
    '@huggingface/transformers 4.3.2');
console.log('# history, no_repeat_ngram_size, forbidden ids; ids are 0 to ' +
    (VOCAB - 1));
const rows = [[[], 2], [[3], 2], [[3, 3], 2], [[3, 3, 3], 3], [[1, 2, 1], 2],
    [[1, 2, 3, 1, 2], 3], [[1, 2, 3, 1, 2], 4], [[1, 2, 3, 1, 2, 4, 1, 2], 3]];
for (let i = 0; i < 112; i++) {
    const kinds = 1 + below(5);
    rows.push([Array.from({ length: below(40) }, () => below(kinds)),
        2 + below(5)]);
}
for (const [ids, n] of rows)
    console.log([ids.join(','), n, banned(ids, n).join(',')].join('\t'));
