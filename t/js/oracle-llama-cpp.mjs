// llama.cpp as an oracle: greedy continuations of ids, with the distance
// between best and second log-probability at every step.
//
//   node oracle-llama-cpp.mjs <REQUEST.json
//   REQUEST  [{ "model": FILE, "n": 48, "prompts": [[id, ...], ...] }, ...]
//   output   [[{ "ids": [...], "gaps": [...], "top": [id, logprob][] }, ...]]
//
// An end-of-generation token ends a text and belongs to it. CPU only, the
// prebuilt library of the npm package: nothing is downloaded or compiled.

import { readFileSync } from 'node:fs';
import { getLlama } from 'node-llama-cpp';

// The best five of a map from id to probability, in nats.
function best(probabilities) {
    const list = [...probabilities].sort((a, b) => b[1] - a[1]).slice(0, 5);

    return list.map(([id, p]) => [id, Math.log(p)]);
}

async function greedy(context, ids, n) {
    const sequence = context.getSequence();
    const out = { ids: [], gaps: [], top: [] };
    const steps = sequence.evaluateWithMetadata(ids, { probabilities: true },
        { temperature: 0, yieldEogToken: true });

    for await (const { token, probabilities } of steps) {
        const top = best(probabilities);

        out.ids.push(token);
        out.gaps.push(top[0][1] - top[1][1]);
        if (!out.top.length)
            out.top = top;
        if (out.ids.length === n || context.model.isEogToken(token))
            break;
    }
    await sequence.clearHistory();
    sequence.dispose();
    return out;
}

const llama = await getLlama({
    gpu: false, build: 'never', skipDownload: true, logLevel: 'error',
    progressLogs: false,
});
const answers = [];

for (const { model: modelPath, n, prompts } of
    JSON.parse(readFileSync(0, 'utf8'))) {
    const model = await llama.loadModel({ modelPath, gpuLayers: 0 });
    const contextSize = n + 8 + Math.max(...prompts.map((p) => p.length));
    const list = [];

    for (const ids of prompts) {
        const context = await model.createContext({
            contextSize, sequences: 1, threads: 1, flashAttention: false,
        });

        list.push(await greedy(context, ids, n));
        await context.dispose();
    }
    await model.dispose();
    answers.push(list);
}
process.stdout.write(JSON.stringify(answers));
await llama.dispose();
