/**
 * Line filters over one decoded page of about 1 MiB (4,000 JSON lines): the first cost of a query for each
 * page. `run()` filters the page once and returns the number of rows kept; `bytes` is its input.
 */
import { compileRegex } from '../../shared/language/regex/regex.ts';
import { selectAny, selectContaining, selectMatching } from '../../shared/language/regex/search.ts';

interface Case {
  readonly name: string;
  readonly bytes: number;
  run(): number;
}

const ROWS = 4_000;

function makePage(): { lines: Buffer; lineOffsets: Uint32Array } {
  let state = 42;
  const random = (below: number) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
  const texts: string[] = [];
  for (let i = 0; i < ROWS; i++) {
    const level = random(100) < 2 ? 'error' : 'info';
    const status = random(100) < 3 ? 500 + random(4) : 200;
    texts.push(
      `{"ts":"2026-01-01T00:00:${10 + (i % 50)}Z","level":"${level}","msg":"request handled","method":"GET",` +
        `"path":"/api/v1/items/${random(1e6)}","status":${status},"latency_ms":${random(1000)},` +
        `"trace_id":"${random(2 ** 31).toString(16)}${random(2 ** 31).toString(16)}","user":"user-${random(1e4)}",` +
        `"region":"eu-west-1","pod":"api-7d9f8b6c5-x${random(100)}"}`,
    );
  }
  const lineOffsets = new Uint32Array(ROWS + 1);
  texts.forEach((text, i) => {
    lineOffsets[i + 1] = lineOffsets[i] + Buffer.byteLength(text);
  });
  return { lines: Buffer.from(texts.join('')), lineOffsets };
}

const { lines, lineOffsets } = makePage();
const allRows = Uint32Array.from({ length: ROWS }, (_, row) => row);
const selection = new Uint32Array(ROWS);

function filterCase(name: string, filter: (count: number) => number): Case {
  return {
    name,
    bytes: lines.length,
    run() {
      selection.set(allRows);
      return filter(ROWS);
    },
  };
}

function contains(needle: string, negate = false): Case {
  const bytes = Buffer.from(needle);
  return filterCase(`${negate ? '!=' : '|='} ${needle}`, count =>
    selectContaining(lines, lineOffsets, selection, count, bytes, negate),
  );
}

function matches(pattern: string, negate = false): Case {
  const regex = compileRegex(pattern);
  return filterCase(`${negate ? '!~' : '|~'} ${pattern}`, count =>
    selectMatching(lines, lineOffsets, selection, count, regex, negate),
  );
}

export const cases: readonly Case[] = [
  contains('"level":"error"'),
  contains('no such text'),
  contains('request handled'),
  contains('"level":"info"', true),
  matches('(?i)ERROR'),
  matches('(?i)task failed'),
  matches('error|failed|panic'),
  matches('error.*user-1'),
  matches('"status":5\\d\\d'),
  matches('status":[45]\\d\\d,.*latency_ms":9'),
  matches('(?i)error.*user-1'),
  matches('\\bx42\\b'),
  matches('\\d{3}Z'),
  matches('[a-z]+-[0-9]+x'),
  matches('(a+)+x42'),
  matches('error', true),
  filterCase('|= error or (?i)PANIC or 503', count =>
    selectAny(
      lines,
      lineOffsets,
      selection,
      count,
      [Buffer.from('"error"'), compileRegex('(?i)panic'), Buffer.from(':503,')],
      false,
    ),
  ),
];
