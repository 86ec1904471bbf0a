// Values compared with the types that a package declares: each value becomes a
// literal in a TypeScript module that exists in memory only, with the declared
// type, and the compiler says what does not fit. A literal may have no member
// that its type has not, so what is too much is found like what is missing.
//
//   const t = new Types({ Response: "openai/resources/responses/responses" });
//   t.claim("Response", value, "the whole answer");
//   t.faults()   ->   ["the whole answer: Property 'id' is missing ..."]
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import ts from "typescript";

// Packages are looked for from here: t/js/node_modules.
const file = join(dirname(fileURLToPath(import.meta.url)), "claims.mts");
const options = {
  strict: true, noEmit: true, skipLibCheck: true, types: [],
  module: ts.ModuleKind.NodeNext, target: ts.ScriptTarget.ES2022,
  moduleResolution: ts.ModuleResolutionKind.NodeNext,
};

// What the compiler says about a text: [[line from 0, message], ...].
function compile(text) {
  const host = ts.createCompilerHost(options);
  const { getSourceFile, fileExists, readFile } = host;
  host.fileExists = (f) => f === file || fileExists.call(host, f);
  host.readFile = (f) => (f === file ? text : readFile.call(host, f));
  host.getSourceFile = (f, version, ...more) => (f === file
    ? ts.createSourceFile(f, text, version, true)
    : getSourceFile.call(host, f, version, ...more));
  const program = ts.createProgram([file], options, host);
  return ts.getPreEmitDiagnostics(program).map((d) => [
    d.file ? d.file.getLineAndCharacterOfPosition(d.start).line : -1,
    ts.flattenDiagnosticMessageText(d.messageText, "; ")]);
}

export class Types {
  // names: the types and the modules that export them
  constructor(names) {
    this.head = Object.entries(names).map(([name, module]) =>
      `import type { ${name} } from ${JSON.stringify(module)};`);
    this.lines = [];
    this.said = [];
  }

  // A type of our own, in terms of the imported ones: for what one of them
  // has in it.
  define(name, type) {
    this.head.push(`type ${name} = ${type};`);
  }

  claim(type, value, name) {
    this.lines.push(`const v${this.lines.length}: ${type} = `
      + `${JSON.stringify(value).replace(/[\u2028\u2029]/g, "")};`);
    this.said.push(name);
  }

  get count() {
    return this.lines.length;
  }

  faults() {
    const text = [...this.head, ...this.lines, "export {};", ""].join("\n");
    return compile(text).map(([line, message]) => {
      const name = this.said[line - this.head.length] ?? `line ${line + 1}`;
      return `${name}: ${message}`;
    });
  }
}
