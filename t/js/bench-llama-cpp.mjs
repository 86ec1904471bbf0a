// bench-llama-cpp FILE [PROMPT] [TOKENS] [THREADS]: prefill and decode speed of
// llama.cpp (through node-llama-cpp) on a model file, to set beside
//   penstock bench -m FILE -p PROMPT -n TOKENS -t THREADS
// in the same run. A benchmark, not a test.
import { getLlama } from "node-llama-cpp";

const [file, prompt = 128, tokens = 32, threads = 2] = process.argv.slice(2);
if (!file) throw new Error("usage: bench-llama-cpp.mjs FILE [PROMPT] [TOKENS] [THREADS]");
const llama = await getLlama({ build: "never", gpu: false,
  maxThreads: Number(threads), skipDownload: true });
const model = await llama.loadModel({ modelPath: file, useMmap: true });
const context = await model.createContext({ threads: Number(threads),
  contextSize: Number(prompt) + Number(tokens) + 32, batchSize: 256 });
const ids = Array.from({ length: Number(prompt) }, (_, i) => 100 + i);
const start = performance.now();
let first = 0;
let n = 0;
for await (const id of context.getSequence().evaluate(ids, { temperature: 0 })) {
  if (n === 0) first = performance.now();
  if (++n > Number(tokens)) break;
}
const end = performance.now();
const rate = (count, ms) => (count * 1000 / ms).toFixed(1).padStart(10);
console.log(`prefill          ${rate(Number(prompt), first - start)} tokens/s`);
console.log(`decode           ${rate(n - 1, end - first)} tokens/s`);
process.exit(0);
