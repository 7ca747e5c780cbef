import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { createFormat, type FormatName } from '../../bin/cli/import/formats.ts';
import { type ImportEntry, MAX_INPUT_STREAMS } from '../../bin/cli/import/import-plan.ts';
import { ImportReader } from '../../bin/cli/import/import-reader.ts';
import {
  type JoinedEntry,
  LineJoiner,
  type Multiline,
  parseMultiline,
} from '../../bin/cli/import/line-joiner.ts';
import { timeReader } from '../../bin/cli/import/time-reader.ts';

const times = timeReader(undefined, 0);
const TEN = '2026-01-05T10:00:00.000000000Z';

function join(name: FormatName, multiline: Multiline, lines: readonly string[]): string[] {
  const entries: JoinedEntry[] = [];
  const joiner = new LineJoiner(createFormat(name, { times }), multiline, entry => entries.push(entry));
  for (const [startBytes, text] of lines.entries()) joiner.add({ text, startBytes });
  joiner.finish();
  expect(joiner.heldFrom).toBeUndefined();
  return entries.map(({ line }) => line);
}

const JAVA = [
  'Exception in thread "main" java.lang.IllegalStateException: x',
  '\tat a.b.C.d(C.java:1)',
  'Caused by: java.io.IOException: y',
  '\t... 3 more',
];
const PYTHON = [
  'Traceback (most recent call last):',
  '  File "a.py", line 1, in <module>',
  '    f()',
  'ValueError: x',
];
const GO = ['panic: x', 'goroutine 1 [running]:', '\tmain.go:7', 'created by main.main'];

describe('entries of several lines', () => {
  test.each<readonly [string, FormatName, string, readonly string[], readonly string[]]>([
    ['Java', 'plain', 'stack', ['a', ...JAVA, 'b'], ['a', JAVA.join('\n'), 'b']],
    ['Python', 'plain', 'stack', ['a', ...PYTHON, 'b'], [['a', ...PYTHON].join('\n'), 'b']],
    ['Go', 'plain', 'stack', [...GO, 'b'], [GO.join('\n'), 'b']],
    ['text with times', 'text', 'time', [`${TEN} a`, 'b', '', `${TEN} c`], [`${TEN} a\nb\n`, `${TEN} c`]],
    ['a first line', 'plain', '^--', ['x', '-- a', 'b', '-- c'], ['x', '-- a\nb', '-- c']],
    ['nothing', 'plain', 'off', JAVA, JAVA],
    ['objects', 'json', 'stack', ['{"a":1}', '  at x', '{"a":2}'], ['{"a":1}\n  at x', '{"a":2}']],
  ])('%s', (_, name, multiline, lines, want) => {
    expect(join(name, parseMultiline(multiline), lines)).toEqual(want);
  });

  test('stack traces in wrapped lines are joined', () => {
    const lines = ['a', ...JAVA, 'b'].map(line => `${TEN} stderr F ${line}`);
    expect(join('cri', parseMultiline('stack'), lines)).toEqual(['a', JAVA.join('\n'), 'b']);
  });

  test('parts of a message are joined, separately for stdout and stderr', () => {
    const lines = [
      `${TEN} stdout P a`,
      `${TEN} stderr P x`,
      `${TEN} stdout P b`,
      `${TEN} stderr F y`,
      `${TEN} stdout F c`,
    ];
    expect(join('cri', { kind: 'off' }, lines)).toEqual(['xy', 'abc']);
    const docker = [
      '{"log":"a","stream":"stdout","time":"x"}',
      '{"log":"b\\n","stream":"stdout","time":"x"}',
    ];
    expect(join('docker', { kind: 'off' }, docker)).toEqual(['ab']);
  });

  test('a CSV record has line breaks between quotes', () => {
    const lines = ['a,b', '1,"x', 'y"', '2,z', '3,"open'];
    expect(join('csv', { kind: 'off' }, lines)).toEqual([
      '{"a":"1","b":"x\\ny"}',
      '{"a":"2","b":"z"}',
      '3,"open',
    ]);
  });

  test('are limited in lines and characters, and nothing is lost', () => {
    const many = Array.from({ length: 5000 }, (_, i) => `  line ${i}`);
    const joined = join('plain', { kind: 'stack' }, ['x', ...many]);
    expect(joined.map(each => each.split('\n').length)).toEqual([2000, 2000, 1001]);
    expect(joined.join('\n').split('\n')).toEqual(['x', ...many]);
    const long = Array.from({ length: 10 }, () => ` ${'x'.repeat(90_000)}`);
    const entries = join('plain', { kind: 'stack' }, long);
    expect(Math.max(...entries.map(each => each.length))).toBeLessThan(300_000);
    expect(entries.join('\n')).toBe(long.join('\n'));
    const parts = Array.from({ length: 10 }, () => `${TEN} stdout P ${'x'.repeat(90_000)}`);
    expect(join('cri', { kind: 'off' }, parts).join('')).toBe('x'.repeat(900_000));
  });

  test('an invalid pattern is refused', () => {
    expect(() => parseMultiline('(')).toThrow('is not a valid regular expression');
  });
});

function reader(format: FormatName, plan = {}) {
  const entries: ImportEntry[] = [];
  const ends: number[] = [];
  const read: ImportReader = new ImportReader(
    format,
    { format, labelFields: [], metadataFields: [], ...plan },
    { labels: { job: 'x' }, fileNs: 7n, nowNs: () => 9n },
    entry => {
      entries.push(entry);
      ends.push(read.endBytes);
    },
  );
  return { read, entries, ends };
}

describe('reading of an input', () => {
  test('reports a position from which no pending entry is missing', () => {
    const text = Buffer.from(`${TEN} a\n b\n${TEN} c\nd\n`);
    const first = reader('text');
    first.read.feed(text);
    expect(first.entries.map(({ line }) => line)).toEqual([`${TEN} a\n b`]);
    expect(text.toString('utf8', first.ends[0])).toBe(`${TEN} c\nd\n`);
    expect(first.read.endBytes).toBe(first.ends[0]);
    first.read.finish();
    expect(first.read.endBytes).toBe(text.length);
    expect(first.entries[1].line).toBe(`${TEN} c\nd`);
  });

  test('returns the same entries for chunks of any size, and continues from any position', () => {
    const line = fc.constantFrom(
      `${TEN} stdout P a`,
      `${TEN} stdout F b`,
      `${TEN} stderr P c`,
      `${TEN} stderr F d`,
      'x',
      '',
    );
    fc.assert(
      fc.property(fc.array(line, { maxLength: 12 }), fc.array(fc.nat(40)), (lines, cuts) => {
        const bytes = Buffer.from(lines.map(each => `${each}\n`).join(''));
        const whole = reader('cri');
        whole.read.feed(bytes);
        whole.read.finish();
        const cut = reader('cri');
        let at = 0;
        for (const size of cuts) {
          cut.read.feed(bytes.subarray(at, at + size));
          at = Math.min(at + size, bytes.length);
        }
        cut.read.feed(bytes.subarray(at));
        cut.read.finish();
        expect(cut.entries).toEqual(whole.entries);
        const all = whole.entries.map(entry => entry.line);
        whole.ends.slice(0, -1).forEach((end, i) => {
          const rest = reader('cri');
          rest.read.feed(bytes.subarray(end));
          rest.read.finish();
          // Some that were handed on may come again, none is missing.
          for (const missing of all.slice(i + 1))
            expect(rest.entries.map(entry => entry.line)).toContain(missing);
        });
      }),
    );
  });

  test('makes labels and metadata from fields', () => {
    const plan = {
      labelFields: [{ name: 'level', field: 'level' }],
      metadataFields: [{ name: 'user', field: 'user.id' }],
    };
    const { read, entries } = reader('json', plan);
    read.feed(Buffer.from('\ufeff{"level":"info","user":{"id":7}}\n{"user":{"id":""}}\nno object\n'));
    expect(entries.map(({ labels, metadata, timeNs }) => [labels, metadata, timeNs])).toEqual([
      [{ job: 'x', level: 'info' }, { user: '7' }, 7n],
      [{ job: 'x' }, {}, 8n],
      [{ job: 'x' }, {}, 9n],
    ]);
    expect([read.streams, read.unrecognized, read.withoutTime]).toEqual([3, 1, 3]);
  });

  test('refuses a label with too many values', () => {
    const { read } = reader('json', { labelFields: [{ name: 'id', field: 'id' }] });
    const lines = Array.from({ length: MAX_INPUT_STREAMS + 1 }, (_, i) => `{"id":${i}}\n`).join('');
    expect(() => read.feed(Buffer.from(lines))).toThrow('--metadata-field');
  });
});
