// Which texts match which regular expressions: the answers of another engine,
// RegExp of Node with the flag u (of V8, a backtracking matcher).
//   node t/data/gram/make-regex.mjs >t/data/gram/regex.json
// Patterns are trees made at random, and written twice: as gram/regex.h has
// them, and for RegExp, which has (?i: ) only in later versions and a . that
// leaves out more line ends. Texts are made of the tree, bent, or at random.

// xorshift32 (Marsaglia 2003): the same rows every time
let x = 2463534242;
function below(n) {
    x ^= x << 13;
    x ^= x >>> 17;
    x ^= x << 5;
    return (x >>> 0) % n;
}
const pick = (a) => a[below(a.length)];

const ascii = [...'abcABCkKsS019_-. "\\/{}]'];
const wide = [...'éÉßſ\u212aΣςσσ世界😀𐐀𐐨ǅǆǄİı\u0301٣Ⅷ€«»', '\n', '\t',
    '\x01', '\x1f', '\x7f', '\0', '\b', '\u2028', '\ufeff', '\xa0', '\u0085',
    '\ud7ff', '\ue000', '\uffff', '\u{10ffff}', '\u{10000}', '\u07ff', '\u0800',
    '\x80'];
const alphabet = [...ascii, ...ascii, ...wide];

// What differs from c only by case, c included, says RegExp.
const cased = new Map();
function folded(c) {
    if (!cased.has(c)) {
        const re = new RegExp(`^${literal(c)}$`, 'iu');
        const all = new Set([c]);
        for (const o of alphabet) if (re.test(o)) all.add(o);
        for (const o of [c.toLowerCase(), c.toUpperCase()])
            if (re.test(o)) all.add(o);
        cased.set(c, [...all]);
    }
    return cased.get(c);
}

const special = new Set([...'\\^$.*+?()[]{}|/']);
function literal(c, inClass) {
    if (special.has(c) || (inClass && c === '-')) return '\\' + c;
    const cp = c.codePointAt(0);
    if (cp < 32) return `\\x${cp.toString(16).padStart(2, '0')}`;
    return c;
}
// The same character, some other way.
function spelled(c, inClass) {
    const cp = c.codePointAt(0), hex = cp.toString(16);
    switch (below(12)) {
    case 0: return `\\u{${hex}}`;
    case 1:
        return [...Array(c.length).keys()].map((i) =>
            '\\u' + c.charCodeAt(i).toString(16).padStart(4, '0')).join('');
    case 2: if (cp < 256) return `\\x${hex.padStart(2, '0')}`; break;
    case 3: {
        const i = '\n\t\r\f\v'.indexOf(c);
        if (i >= 0) return '\\' + 'ntrfv'[i];
        break;
    }
    }
    return literal(c, inClass);
}

const sets = ['\\d', '\\w', '\\s', '\\D', '\\W', '\\S', '\\p{L}', '\\P{L}',
    '\\p{Lu}', '\\p{Ll}', '\\p{Letter}', '\\p{Nd}', '\\P{N}', '\\p{Punctuation}',
    '\\p{gc=Sc}', '\\p{General_Category=Space_Separator}', '\\p{Cc}', '\\p{Any}',
    '\\p{ASCII}', '\\p{White_Space}', '\\p{M}', '\\P{Lu}', '\\p{Lt}'];

// fold: 0 as it is, 1 in a (?i: ) of ours alone, 2 the flag of everything
function make(depth, fold) {
    const k = below(depth > 0 ? 18 : 10);
    if (k < 6) return {k: 'c', c: pick(alphabet), fold};
    if (k === 6) return {k: '.'};
    if (k === 7 && fold !== 1) return {k: 'set', set: pick(sets)};
    if (k < 10) {
        const items = [];
        for (let n = 1 + below(3); n; n--) {
            if (fold !== 1 && below(4) === 0) {
                items.push({set: pick(sets)});
            } else {
                let lo = pick(alphabet), hi = lo;
                if (below(2)) hi = pick(alphabet);
                if (fold === 1) hi = lo;
                if (lo.codePointAt(0) > hi.codePointAt(0)) [lo, hi] = [hi, lo];
                items.push({lo, hi});
            }
        }
        return {k: '[', not: below(4) === 0, items, fold};
    }
    if (k < 13)
        return {k: 'seq', of: [...Array(1 + below(4))].map(() =>
            make(depth - 1, fold))};
    if (k < 15)
        return {k: '|', of: [...Array(2 + below(2))].map(() =>
            make(depth - 1, fold))};
    if (k === 15 && fold === 0)
        return {k: 'i', of: make(depth - 1, 1)};
    const of = make(depth - 1, fold);
    const [min, max, op] = pick([[0, 9, '*'], [1, 9, '+'], [0, 1, '?'],
        [2, 2, '{2}'], [1, 9, '{1,}'], [0, 3, '{0,3}'], [2, 4, '{2,4}'],
        [0, 0, '{0}']]);
    return {k: 'q', of, min, max, op};
}

function write(t, ours) {
    switch (t.k) {
    case 'c':
        if (ours) return spelled(t.c);
        return t.fold === 1 && folded(t.c).length > 1
            ? `[${folded(t.c).map((c) => literal(c, true)).join('')}]`
            : literal(t.c);
    case '.': return ours ? '.' : '[^\\n]';
    case 'set': return t.set;
    case '[': {
        let s = '';
        for (const i of t.items) {
            if (i.set) s += i.set;
            else if (!ours && t.fold === 1)
                s += folded(i.lo).map((c) => literal(c, true)).join('');
            else {
                const one = (c) => ours ? spelled(c, true) : literal(c, true);
                s += i.lo === i.hi ? one(i.lo) : `${one(i.lo)}-${one(i.hi)}`;
            }
        }
        return `[${t.not ? '^' : ''}${s}]`;
    }
    case 'seq':
        return t.of.map((o) => o.k === '|' ? `(?:${write(o, ours)})`
            : write(o, ours)).join('');
    case '|': return t.of.map((o) => write(o, ours)).join('|');
    case 'i': return ours ? `(?i:${write(t.of, true)})`
        : `(?:${write(t.of, false)})`;
    case 'q': {
        const bare = ['c', '.', 'set', '[', 'i'].includes(t.of.k);
        const s = write(t.of, ours);
        return (bare ? s : `(${s})`) + t.op;
    }
    case '^': case '$': return t.k;
    }
}

// Some text that may match.
function text(t) {
    switch (t.k) {
    case 'c': return t.fold ? pick(folded(t.c)) : t.c;
    case '[':
    case 'set':
    case '.': {
        const re = new RegExp(`^${write(t, false)}$`, t.fold === 2 ? 'iu' : 'u');
        for (let i = 0; i < 20; i++) {
            const c = pick(alphabet);
            if (re.test(c)) return c;
        }
        return 'a';
    }
    case 'seq': return t.of.map(text).join('');
    case '|': return text(pick(t.of));
    case 'i': return text(t.of);
    case 'q': {
        let s = '';
        for (let n = t.min + below(Math.min(t.max, t.min + 3) - t.min + 1);
            n; n--) s += text(t.of);
        return s;
    }
    default: return '';
    }
}

function bent(s) {
    const a = [...s];
    const i = below(a.length + 1);
    switch (below(4)) {
    case 0: a.splice(i, 1); break;
    case 1: a.splice(i, 0, pick(alphabet)); break;
    case 2: a.splice(i, 1, pick(alphabet)); break;
    case 3: if (a.length) a.splice(i, 0, a[below(a.length)]);
    }
    return a.join('');
}

const cases = [];
while (cases.length < 500) {
    const flag = below(4) === 0;
    const search = cases.length % 5 === 4;
    const t = {k: 'seq', of: [...Array(1 + below(3))].map(() =>
        make(3, flag ? 2 : 0))};
    if (search || below(5) === 0) {
        if (below(2)) t.of.unshift({k: '^'});
        if (below(2)) t.of.push({k: '$'});
        if (below(6) === 0)
            t.of.splice(below(t.of.length), 0, {k: pick(['^', '$'])});
    }
    const p = (flag ? '(?i)' : '') + write(t, true);
    if (p.length > 300) continue;
    const theirs = write(t, false);
    const re = new RegExp(search ? theirs : `^(?:${theirs})$`,
        flag ? 'iu' : 'u');
    const texts = new Set(['']);
    for (let i = 0; i < 60 && texts.size < 11; i++) {
        let s = i % 3 < 2 ? text(t)
            : [...Array(below(6))].map(() => pick(alphabet)).join('');
        if (i % 3 === 1) s = bent(s);
        if (search && below(2)) s = pick(alphabet) + s;
        if (search && below(2)) s += pick(alphabet);
        if (s.isWellFormed && !s.isWellFormed()) continue;
        if (s.length < 40) texts.add(s);
    }
    const yes = [], no = [];
    for (const s of texts) (re.test(s) ? yes : no).push(s);
    cases.push({p, search, yes, no});
}
console.log(`{"oracle": "RegExp, flag u, of Node ${process.version} (V8 ${
    process.versions.v8}, Unicode ${process.versions.unicode})",\n"cases": [`);
console.log(cases.map((c) => JSON.stringify(c)).join(',\n') + '\n]}');
