/** The kernels of JSON members and logfmt pairs find what a plain reader finds, of any bytes, and touch nothing else. */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import {
  type FieldParser,
  FieldScanner,
  type KeyList,
  LEFT_TO_PARSER,
  UNWANTED,
} from '../../shared/base/kernels/field-scanner.ts';
import { TermSet } from '../../shared/base/kernels/term-set.ts';
import { isRecordedValue, valueTerm } from '../../shared/execution/text-index/value-terms.ts';
import { VALUE } from '../../shared/storage/columns/line-members.ts';
import { jsonLines, logfmtLines } from '../fields/lines.ts';
import { bySuite } from '../support/suite.ts';
import { type Guard, guardKernels } from './guard.ts';
import { hostilePage, mixedText, type Page, pageOf } from './hostile.ts';
import { jsonMembers, Keys, logfmtMembers, type Member } from './oracles/field-members.ts';

const isReserved = (key: string) => key === '__error__' || key === 'k';

class TestKeys implements KeyList {
  readonly texts: Buffer[] = [];
  readonly parents: number[] = [];
  readonly flags: number[] = [];

  add(text: Buffer, parent: number): void {
    this.texts.push(Buffer.from(text));
    this.parents.push(parent);
    this.flags.push(isReserved(text.toString('latin1')) ? LEFT_TO_PARSER : 0);
  }
}

interface Found {
  readonly parserOf: number[];
  readonly json: (Member & { row: number })[];
  readonly logfmt: (Member & { row: number })[];
}

function expectedOf({ lines, lineOffsets, rows }: Page, jsonKeys: Keys, logfmtKeys: Keys): Found {
  const found: Found = { parserOf: [], json: [], logfmt: [] };
  for (let row = 0; row < rows; row++) {
    const base = lineOffsets[row];
    const line = lines.subarray(base, lineOffsets[row + 1]);
    const isJson = line[0] === 0x7b;
    const members = isJson ? jsonMembers(line, jsonKeys) : logfmtMembers(line, logfmtKeys);
    found.parserOf.push(members === undefined ? 0 : isJson ? 1 : 2);
    const all = (members ?? []).map(({ entry, start, end, kind }) => {
      return { entry, start: start + base, end: end + base, kind, row };
    });
    (isJson ? found.json : found.logfmt).push(...all);
  }
  return found;
}

let scanner: FieldScanner;
let guard: Guard | undefined;

function found(page: Page, json: TestKeys, logfmt: TestKeys, parser?: FieldParser): Found {
  const { lines, lineOffsets, rows } = page;
  const parserOf = new Uint8Array(rows);
  let longest = Math.min(lines.length, 2 * 1024 * 1024);
  for (let row = 0; row < rows; row++) longest = Math.max(longest, lineOffsets[row + 1] - lineOffsets[row]);
  // Keys are in the memory of lines.
  guard?.allow([[4096, scanner.memoryBytes(Math.max(longest, 112))]]);
  scanner.begin(lines, { json, logfmt }, parser);
  scanner.read(lineOffsets, 0, rows, parserOf);
  const members = scanner.end();
  const list = ({ count, entries, rows, starts, ends, kinds, first, order }: (typeof members)['json']) => {
    for (let entry = 0; entry + 1 < first.length; entry++) {
      for (let i = first[entry]; i < first[entry + 1]; i++) {
        if (entries[order[i]] !== entry || (i > first[entry] && order[i] <= order[i - 1]))
          throw new Error('order');
      }
    }
    if (first[first.length - 1] !== count) throw new Error('first');
    return Array.from({ length: count }, (_, i) => {
      return { entry: entries[i], start: starts[i], end: ends[i], kind: kinds[i], row: rows[i] };
    });
  };
  return { parserOf: [...parserOf], json: list(members.json), logfmt: list(members.logfmt) };
}

function expectMembers(page: Page): Found {
  const want = expectedOf(page, new Keys(isReserved), new Keys(isReserved));
  expect(found(page, new TestKeys(), new TestKeys())).toEqual(want);
  expect(guard?.faults ?? []).toEqual([]);
  return want;
}

const likelyPage: fc.Arbitrary<Page> = fc
  .array(fc.oneof(jsonLines, logfmtLines), { maxLength: 8 })
  .map(lines => pageOf(lines.map(line => Buffer.from(line))));

describe.each(['as compiled', 'under guard'])('members of lines, %s', kind => {
  const numRuns = kind === 'under guard' ? 500 : 4_000;
  beforeAll(() => {
    guard = kind === 'under guard' ? guardKernels() : undefined;
    scanner = new FieldScanner();
  });
  afterAll(() => guard?.release());

  test('reads lines that are nearly JSON or logfmt as the plain version does', () => {
    let sound = 0;
    fc.assert(
      fc.property(likelyPage, page => {
        for (const parser of expectMembers(page).parserOf) if (parser > 0) sound++;
      }),
      { numRuns },
    );
    // The property would hold if no line were read.
    expect(sound).toBeGreaterThan(numRuns / bySuite({ fast: 4, full: 1 }));
  });

  test('reads members of one parser, and of the keys that are wanted', () => {
    const isUnwanted = (key: Buffer) => key.length % 2 === 0;
    class SomeKeys extends TestKeys {
      override add(text: Buffer, parent: number): void {
        super.add(text, parent);
        if (isUnwanted(text)) this.flags[this.flags.length - 1] |= UNWANTED;
      }
    }
    let left = 0;
    for (const [parser, mark] of [
      ['json', 1],
      ['logfmt', 2],
    ] as const) {
      fc.assert(
        fc.property(likelyPage, page => {
          const all = expectedOf(page, new Keys(isReserved), new Keys(isReserved));
          const keys = { json: new SomeKeys(), logfmt: new SomeKeys() };
          const some = found(page, keys.json, keys.logfmt, parser);
          expect(some.parserOf).toEqual(all.parserOf.map(own => (own === mark ? own : 0)));
          // Numbers of keys are those of the whole: unwanted ones are numbered too.
          const wanted = all[parser].filter(({ entry }) => !isUnwanted(keys[parser].texts[entry]));
          expect(some[parser]).toEqual(wanted);
          expect(some[parser === 'json' ? 'logfmt' : 'json']).toEqual([]);
          expect(guard?.faults ?? []).toEqual([]);
          left += all[parser].length - wanted.length;
        }),
        { numRuns: numRuns / 4 },
      );
    }
    expect(left).toBeGreaterThan(numRuns / bySuite({ fast: 16, full: 4 }));
  });

  test('reads members of any bytes as the plain version does', () => {
    fc.assert(
      fc.property(hostilePage, page => void expectMembers(page)),
      { numRuns },
    );
  });

  test('reads members of a line with one byte changed', () => {
    const lines = [
      '{"a":"b\\"c","d":{"e":[1,{"f":"]"}],"g":null} , "h" : true,"i":-1.5e3}',
      'a=b c="d \\"e\\u00e9\\t" f= g=1 é="ü" h',
    ];
    for (const line of lines) {
      const pages = Array.from({ length: line.length }, (_, at) =>
        ['"', '\\', '{', '}', ' ', '=', '\0', '\xff', ','].map(byte => {
          const bytes = Buffer.from(line);
          bytes.write(byte, at, 'latin1');
          return bytes;
        }),
      );
      expectMembers(pageOf(pages.flat()));
    }
  });

  test('reads lines that continue nearly as lines before them', () => {
    const long = 'k'.repeat(40);
    const lines = [
      ['{"a":1,"b":2}', '{"a": 1,"b":2}', '{"a":1 ,"b":  2}', '{"b":2,"a":1}', '{"a":1', '{"a":1,"b":'],
      ['{"a":{"b":1},"c":2}', '{"a":1{"b":1}}', '{"a":"x"{"b":1}}', '{"a":"x""b":1}', '{"a":{"b":1}}'],
      ['{"a":[1],"b":2}', '{"a":[1]{"b":2}', '{"a":{},"b":2}', '{"a":{"b":2}}', '{"a":{,"b":2}}'],
      [`{"a":1,"${long}":2,"c":3}`, `{"a":1,"${long}x":2,"c":3}`, '{"a":1,"c":3}', '{"a":1, "c":3}'],
      ['a=1 b=2', 'a=1  b=2', 'a=1 b', 'a=1 b= c=3', 'a=1 b="2"c=3', 'a=1 b=2c=3', ' a=1', 'a=', 'a=1 b='],
      [`a=1 ${long}=2 c=3`, `a=1 ${long}x=2 c=3`, 'a=1 c=3', 'b=2 a=1 b=2'],
    ];
    for (const group of lines) {
      const pairs = group.flatMap(first => group.flatMap(second => [first, first, second]));
      expectMembers(pageOf(pairs.map(line => Buffer.from(line))));
    }
  });

  test('reads strings and keys of every length around the blocks', () => {
    for (let length = 0; length < 140; length++) {
      const text = 'x'.repeat(length);
      const escaped = `${text}\\"`;
      const lines = [`{"${text}":"${text}","b":"${escaped}"}`, `${text}=${text} b="${escaped}" c="${text}"`];
      // Twice: the second line finds the key behind the one before.
      expectMembers(pageOf([...lines, ...lines].map(line => Buffer.from(line))));
    }
  });

  test('reads up to the limits: fields of a line, levels of objects and of arrays', () => {
    const fields = (count: number) => Array.from({ length: count }, (_, i) => `"k${i}":${i}`).join();
    const pairs = (count: number) => Array.from({ length: count }, (_, i) => `k${i}=${i}`).join(' ');
    const nested = (levels: number) => `${'{"a":'.repeat(levels)}1${'}'.repeat(levels)}`;
    const array = (levels: number) => `{"a":${'['.repeat(levels)}${']'.repeat(levels)}}`;
    const texts = [256, 257].flatMap(count => [`{${fields(count)}}`, pairs(count)]);
    texts.push(...[8, 9, 10].map(nested), ...[29, 30, 31, 32].map(array));
    const { parserOf } = expectMembers(pageOf(texts.map(text => Buffer.from(text))));
    expect(parserOf).toEqual([1, 2, 0, 0, 1, 1, 0, 1, 1, 0, 0]);
  });

  test('reads lines with more keys than a page may have', () => {
    const page = pageOf(Array.from({ length: 4_200 }, (_, i) => Buffer.from(`{"key${i}":1}`)));
    const { parserOf } = expectMembers(page);
    expect(parserOf.filter(parser => parser === 1).length).toBe(4_096);
  });

  test('reads keys that the extractor brings from the page before', () => {
    const [json, logfmt] = [new TestKeys(), new TestKeys()];
    const [jsonKeys, logfmtKeys] = [new Keys(isReserved), new Keys(isReserved)];
    for (const text of ['{"a":{"b":1,"__error__":2}}', '{"c":1,"a":{"d":{"b":1}}}', '{"a":{"b":"x"}}']) {
      const page = pageOf([Buffer.from(text), Buffer.from('x=1 y="2" k=3'), Buffer.from('y=1 x=2')]);
      expect(found(page, json, logfmt)).toEqual(expectedOf(page, jsonKeys, logfmtKeys));
      // Another one's page in between.
      found(pageOf([Buffer.from('{"z":1}')]), new TestKeys(), new TestKeys());
    }
    expect(json.texts.map(String)).toEqual(['a', 'b', '__error__', 'c', 'd', 'b']);
  });

  test('reads lines of 10 MB between others, and no lines at all', () => {
    const long = 'value_of/10.MB:'.repeat(700_000);
    const texts = ['{"a":1}', `{"a":"${long}"}`, `a="${long}" b=1`, long, `{"a":"${long}`, 'a=1', ''];
    expect(expectMembers(pageOf(texts.map(text => Buffer.from(text)))).parserOf).toEqual([
      1, 1, 2, 0, 0, 2, 0,
    ]);
    expectMembers(
      pageOf([mixedText(10_000_000), Buffer.concat([Buffer.from('{"a":"'), mixedText(10_000_000)])]),
    );
    expectMembers(pageOf([]));
  });

  test('reads no members of a line over 16 MiB', () => {
    const texts = [`{"a":"${'x'.repeat(16 * 1024 * 1024)}"}`, '{"a":1}'];
    expect(
      found(pageOf(texts.map(text => Buffer.from(text))), new TestKeys(), new TestKeys()).parserOf,
    ).toEqual([0, 1]);
  });

  test('reads lines with more members than a page may have', () => {
    const line = Buffer.from(`{${Array.from({ length: 250 }, (_, i) => `"${i % 9}":${i % 7}`).join()}}`);
    const page = pageOf(Array.from({ length: 2_100 }, () => line));
    const { parserOf, json } = found(page, new TestKeys(), new TestKeys());
    const sound = Math.floor((512 * 1024) / 250);
    expect([parserOf.indexOf(0), parserOf.lastIndexOf(1), json.length]).toEqual([
      sound,
      sound - 1,
      250 * sound,
    ]);
    expect(guard?.faults ?? []).toEqual([]);
  });

  test('terms of values are those of value-terms.ts', () => {
    const set = new TermSet();
    fc.assert(
      fc.property(likelyPage, page => {
        const [json, logfmt] = [new TestKeys(), new TestKeys()];
        const members = found(page, json, logfmt);
        guard?.allow([[4096, scanner.memoryBytes(0) + 2 * 1024 * 1024]]);
        for (const parser of ['json', 'logfmt'] as const) {
          const words = Uint32Array.from({ length: 60 }, (_, i) => Math.imul(i + 1, 0x9e3779b1));
          set.clear();
          scanner.addValueTerms(parser, words, set);
          const want = new Set(
            members[parser]
              .filter(({ kind, start, end }) => kind === VALUE && isRecordedValue(page.lines, start, end))
              .map(({ entry, start, end }) => valueTerm(words[entry], page.lines, start, end)),
          );
          expect(new Set(set.terms)).toEqual(want);
        }
      }),
      { numRuns },
    );
    expect(guard?.faults ?? []).toEqual([]);
  });

  test('terms of values of a page that takes several calls', () => {
    const filler = Buffer.from(`{"a":"${'x'.repeat(900_000)}","b":"y${kind}"}`);
    const page = pageOf(
      Array.from({ length: 5 }, (_, i) => [filler, Buffer.from(`{"b":"v ${i}","c":"w-${i}"}`)]).flat(),
    );
    const set = new TermSet();
    found(page, new TestKeys(), new TestKeys());
    guard?.allow([[4096, Number.MAX_SAFE_INTEGER]]);
    set.clear();
    scanner.addValueTerms('json', Uint32Array.of(1, 2, 3), set);
    expect(set.terms.length).toBe(5);
  });
});
