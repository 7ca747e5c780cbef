import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { levelsOfLines } from '../../shared/base/kernels/line-levels.ts';
import { DEFAULT_LIMITS } from '../../shared/base/model/limits.ts';
import { levelFields } from '../../shared/write/ingest/level-fields.ts';
import {
  DETECTED_LEVELS,
  levelOfSeverityNumber,
  normalizeLevel,
} from '../../shared/write/ingest/level-words.ts';

const FIELDS = DEFAULT_LIMITS.logLevelFields;

function detect(line: string, fields: readonly string[] = FIELDS, maxDepth = 2): string {
  // Bytes around the line that would change the answer if they were read.
  const bytes = Buffer.from(`error ${line}{"level":"fatal"} error`);
  const end = 6 + Buffer.byteLength(line);
  const lines = { bytes, starts: Uint32Array.of(6), ends: Uint32Array.of(end) };
  return DETECTED_LEVELS[levelsOfLines(lines, Uint32Array.of(0), levelFields(fields), maxDepth)[0]];
}

describe('detectLevel', () => {
  // [line, level]
  const rows: [string, string][] = [
    ['', 'unknown'],
    ['nothing to see', 'unknown'],
    // JSON
    ['{"level":"info"}', 'info'],
    ['  {"msg":"error","level":"WARN"} \n', 'warn'],
    ['{"level":"warning","severity":"error"}', 'warn'],
    ['{"severity":"error","level":"warn"}', 'error'],
    ['{"log.level":"dbg"}', 'debug'],
    ['{"SeverityText":"Information"}', 'info'],
    ['{"LeVel":"error","a":1}', 'error'],
    ['{"a":{"level":"error"},"level":"info"}', 'error'],
    ['{"a":{"b":{"level":"error"}},"level":"info"}', 'info'],
    ['{"a":[{"level":"error"}],"level":"info"}', 'info'],
    ['{"a":["]",{"b":"}"}],"level":"info"}', 'info'],
    ['{"a":1.5,"b":null,"c":true,"level":"critical"}', 'critical'],
    ['{"level":3,"lvl":"fatal"}', 'fatal'],
    ['{"level":"notice","msg":"an error"}', 'error'],
    ['{"level":"notice","severity":"info"}', 'info'],
    ['{"level":"","msg":"x"}', 'unknown'],
    ['{"a":"\\"level\\":\\"fatal\\"","level":"trc"}', 'trace'],
    ['{ "level" :\t"inf" }', 'info'],
    ['{"a":"b" oops}', 'unknown'],
    ['{"a" "b","level":"info","x":"[error]"}', 'info'],
    ['{broken level=error}', 'error'],
    ['{"a":{"level":"info"', 'info'],
    ['{}', 'unknown'],
    ['{', 'unknown'],
    ['}', 'unknown'],
    // logfmt
    ['level=info', 'info'],
    ['ts=1 LEVEL=Error msg="warn"', 'error'],
    ['severity=warn level=debug', 'debug'],
    ['lvl=warn severity=error', 'error'],
    ['level=debug level=error', 'debug'],
    ['msg="level=error" level=info', 'info'],
    ['msg="a \\" level=error" level=info', 'info'],
    ['level="WARNING" x=1', 'warn'],
    ['level="debug"x=1', 'debug'],
    ['level= msg=fatal', 'fatal'],
    ['level=notice msg="an error"', 'error'],
    ['err=oops', 'error'],
    ['error.kind=oops', 'unknown'],
    ['a=b=c level=info msg=error', 'info'],
    ['"quoted" msg=error level=info', 'error'],
    ['=x msg=error level=info', 'error'],
    ['lvl=info msg="not closed level=error', 'info'],
    ['severity_text=err', 'error'],
    ['level', 'unknown'],
    ['xlevel=info levels=warn', 'info'],
    // Text
    ['ERROR: it broke', 'error'],
    ['[warn] and error', 'warn'],
    ['it was an error, fatal', 'error'],
    ['errors and xerror', 'unknown'],
    ['errors then error', 'error'],
    ['time:error', 'unknown'],
    ['a,error', 'unknown'],
    ['error.', 'unknown'],
    ['error!', 'error'],
    ['(Critical)', 'critical'],
    ['<error>', 'unknown'],
    ['|trace|', 'trace'],
    ["'debug'", 'debug'],
    ['warning', 'warn'],
    ['wrn trc dbg inf', 'unknown'],
    ['warn\tx', 'warn'],
    ['x\nfatal\ny', 'fatal'],
    ['x\rfatal', 'unknown'],
    ['erro', 'unknown'],
    ['err', 'error'],
    ['\x1b[31mERROR\x1b[0m', 'unknown'],
    ['żółć error 日本', 'error'],
    ['éerror', 'unknown'],
  ];
  test.each(rows)('%j', (line, want) => {
    expect(detect(line)).toBe(want);
    expect(byTheBook(line, FIELDS, 2)).toBe(want);
  });

  // [depth, level]
  const depths: [number, string][] = [
    [1, 'unknown'],
    [2, 'unknown'],
    [3, 'trace'],
    [0, 'trace'],
    [-1, 'trace'],
  ];
  test.each(depths)('finds the level in JSON up to depth %d', (depth, want) => {
    // No word of the text scan.
    expect(detect('{"a":{"b":{"level":"trc"}}}', FIELDS, depth)).toBe(want);
  });

  test('uses configured fields of any length', () => {
    const long = 'l'.repeat(40);
    expect(detect(`{"${long}":"warn","level":"info"}`, [long])).toBe('warn');
    expect(detect(`${long.toUpperCase()}=warn level=info`, ['x', long])).toBe('warn');
    expect(detect('level=info', [])).toBe('info');
    expect(detect('{"level":"inf"}', [])).toBe('unknown');
  });

  const word = fc.constantFrom(
    ...'trace debug fatal critical error err warning warn info inf trc notice level LEVEL lvl severity Severity msg a'.split(
      ' ',
    ),
  );
  const spelled = fc.tuple(word, fc.boolean()).map(([text, upper]) => (upper ? text.toUpperCase() : text));
  const mark = fc.constantFrom(...' \t\n[](){}"\'=|:,!.-\\é');

  test('agrees with a plain implementation of the rules: text and pairs', () => {
    const line = fc.array(fc.oneof(spelled, mark), { maxLength: 14 }).map(parts => parts.join(''));
    fc.assert(
      fc.property(line, text => {
        expect(detect(text)).toBe(byTheBook(text, FIELDS, 2));
      }),
      { numRuns: 5000 },
    );
  });

  test('agrees with a plain implementation of the rules: logfmt', () => {
    const value = fc.oneof(
      spelled,
      spelled.map(text => `"${text} x"`),
      fc.constantFrom('', '"', '1', 'a"b'),
    );
    const pair = fc.tuple(spelled, value).map(([key, text]) => `${key}=${text}`);
    fc.assert(
      fc.property(fc.array(fc.oneof(pair, spelled), { maxLength: 6 }), pairs => {
        expect(detect(pairs.join(' '))).toBe(byTheBook(pairs.join(' '), FIELDS, 2));
      }),
      { numRuns: 3000 },
    );
  });

  test('agrees with a plain implementation of the rules: JSON', () => {
    const { tree } = fc.letrec<{ tree: unknown; value: unknown }>(tie => ({
      value: fc.oneof(
        { depthSize: 'small' },
        spelled,
        fc.nat(9),
        fc.constant(null),
        fc.array(spelled),
        tie('tree'),
      ),
      tree: fc
        .array(fc.tuple(spelled, tie('value')), { maxLength: 4 })
        .map(pairs => Object.fromEntries(pairs)),
    }));
    fc.assert(
      fc.property(
        tree,
        fc.integer({ min: 0, max: 3 }),
        fc.constantFrom(undefined, 1),
        (value, depth, indent) => {
          const line = JSON.stringify(value, null, indent);
          expect(detect(line, FIELDS, depth)).toBe(byTheBook(line, FIELDS, depth));
        },
      ),
      { numRuns: 3000 },
    );
  });
});

/** The rules of docs/dev/wire-format.md#detected_level, steps 4 to 6, on strings and with JSON.parse; knows no broken JSON. */
function byTheBook(line: string, fields: readonly string[], maxDepth: number): string {
  const trimmed = line.replace(/^[ \t-\r]+|[ \t-\r]+$/g, '');
  const looksLikeJson = trimmed.length > 1 && trimmed.startsWith('{') && trimmed.endsWith('}');
  const found = looksLikeJson
    ? jsonLevel(trimmed, fields, maxDepth)
    : line.includes('=')
      ? logfmtLevel(line, fields)
      : undefined;
  const level = normalizeLevel(found ?? '');
  if ((DETECTED_LEVELS as readonly string[]).includes(level) && level !== 'unknown') return level;
  let best = Number.POSITIVE_INFINITY;
  let winner = 'unknown';
  for (const word of ['trace', 'debug', 'fatal', 'critical', 'error', 'err', 'warning', 'warn', 'info']) {
    const match = new RegExp(`(?<=^|[ \\t\\n[({"'=|])${word}(?=$|[ \\t\\n[\\](){}"'=|:,!])`, 'd').exec(
      line.replace(/[A-Z]/g, letter => letter.toLowerCase()),
    );
    if (match !== null && match.index < best) {
      best = match.index;
      winner = normalizeLevel(word);
    }
  }
  return winner;
}

function jsonLevel(text: string, fields: readonly string[], maxDepth: number): string | undefined {
  let root: object;
  try {
    root = JSON.parse(text);
  } catch {
    return undefined;
  }
  const walk = (object: object, depth: number): string | undefined => {
    for (const [key, value] of Object.entries(object)) {
      if (typeof value === 'string' && fields.includes(key)) return value;
      const isObject = typeof value === 'object' && value !== null && !Array.isArray(value);
      if (isObject && (maxDepth <= 0 || depth < maxDepth)) {
        const found = walk(value, depth + 1);
        if (found !== undefined) return found;
      }
    }
    return undefined;
  };
  return walk(root, 1);
}

function logfmtLevel(line: string, fields: readonly string[]): string | undefined {
  // A key, then nothing, or a quoted or bare value that ends correctly.
  const pair =
    /[\0-\x20]*([^\0-\x20="]+)(?:="((?:[^"\\]|\\[\s\S])*)"|=([^\0-\x20="]*)(?=[\0-\x20]|$)|(?=[\0-\x20]|$))/y;
  let best = fields.length;
  let level: string | undefined;
  for (let match = pair.exec(line); match !== null; match = pair.exec(line)) {
    const rank = fields.findIndex(field => field.toLowerCase() === match[1].toLowerCase());
    if (rank >= 0 && rank < best) {
      best = rank;
      level = match[2] ?? match[3] ?? '';
    }
  }
  return level;
}

// [value, level]
const values: [string, string][] = [
  ['TRACE', 'trace'],
  ['trc', 'trace'],
  ['Dbg', 'debug'],
  ['inf', 'info'],
  ['Information', 'info'],
  ['wrn', 'warn'],
  ['warning', 'warn'],
  ['ERR', 'error'],
  ['critical', 'critical'],
  ['FATAL', 'fatal'],
  ['Notice', 'Notice'],
  ['', ''],
];
test.each(values)('normalizeLevel %j', (value, want) => {
  expect(normalizeLevel(value)).toBe(want);
});

// [severity number, level]
const severities: [string, string][] = [
  ['0', 'unknown'],
  ['1', 'trace'],
  ['4', 'trace'],
  ['5', 'debug'],
  ['8', 'debug'],
  ['9', 'info'],
  ['12', 'info'],
  ['13', 'warn'],
  ['16', 'warn'],
  ['17', 'error'],
  ['20', 'error'],
  ['21', 'fatal'],
  ['24', 'fatal'],
  ['25', 'unknown'],
  ['x', 'info'],
  ['1.5', 'info'],
  ['', 'info'],
];
test.each(severities)('levelOfSeverityNumber converts %j', (text, want) => {
  expect(levelOfSeverityNumber(text)).toBe(want);
});
