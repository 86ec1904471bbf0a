// llama.cpp's surprise at a text, in nats, summed window by window.
//
//   node perplexity-llama-cpp.mjs <REQUEST.json
//   REQUEST  { "models": [FILE...], "ids": [...], "window": 512 }
//   output   [{ "nats": [sum of each window], "n": ids that were predicted }...]
//
// Every window begins with an empty context; its first id is not predicted.
// CPU only, the prebuilt library of the npm package.

import { readFileSync } from 'node:fs';
import { getLlama } from 'node-llama-cpp';

const { models, ids, window } = JSON.parse(readFileSync(0, 'utf8'));
const llama = await getLlama({
    gpu: false, build: 'never', skipDownload: true, logLevel: 'error',
    progressLogs: false,
});
const answers = [];

async function nats(sequence, part) {
    const items = part.map((id, i) => i + 1 === part.length ? id
        : [id, { generateNext: { probabilities: true,
            options: { temperature: 1, topK: 0, topP: 1, minP: 0 } } }]);
    let sum = 0;

    (await sequence.controlledEvaluate(items)).forEach((output, i) => {
        if (output)
            sum -= Math.log(output.next.probabilities.get(part[i + 1]));
    });
    await sequence.clearHistory();
    return sum;
}

for (const modelPath of models) {
    const model = await llama.loadModel({ modelPath, gpuLayers: 0 });
    const context = await model.createContext({
        contextSize: window + 8, sequences: 1, threads: 1,
        flashAttention: false,
    });
    const sequence = context.getSequence();
    const answer = { nats: [], n: 0 };

    for (let at = 0; at + 1 < ids.length; at += window) {
        const part = ids.slice(at, at + window);

        answer.nats.push(await nats(sequence, part));
        answer.n += part.length - 1;
    }
    answers.push(answer);
    await model.dispose();
}
process.stdout.write(JSON.stringify(answers));
await llama.dispose();
