/** Captures of single lines on a split page with many others. Texts are latin1: each character is a byte. */
import { describe, expect, test } from '@jest/globals';
import { bytesOfText, textOfBytes } from '../../shared/base/model/byte-text.ts';
import { parseQuery } from '../../shared/language/logql/parse.ts';
import type { QueryEngine } from '../../shared/read/query/engine.ts';
import { PageCache } from '../../shared/read/query/page-cache.ts';
import { DAY, DAY_START_NS, rangeQuery, requester } from '../support/engine.ts';
import { PATTERN_CASES, type Texts } from '../support/pattern-cases.ts';
import { capturesOf } from '../support/pattern-oracle.ts';
import type { DatedEntry } from '../support/pushes.ts';
import { splitStore } from '../support/split-store.ts';
import { bySuite } from '../support/suite.ts';

/** Neighbors, whose texts together have a literal that neither has. */
const NEIGHBORS = ['took 15', ' ms 7', '', 'n=1 v=', '"x" w=2', 'a', 'a 1 b'];
const OF_NEIGHBORS: readonly (readonly [pattern: string, captures: readonly Texts[]])[] = [
  ['took 15 ms <x>', [{}, {}, {}, {}, {}, {}, {}]],
  ['aa<x>', [{}, {}, {}, {}, {}, {}, {}]],
  ['a<x>a', [{}, {}, {}, {}, {}, { x: '' }, { x: ' 1 b' }]],
  [
    '<x>5 m<y>',
    [{ x: 'took 15' }, { x: ' ms 7' }, {}, { x: 'n=1 v=' }, { x: '"x" w=2' }, { x: 'a' }, { x: 'a 1 b' }],
  ],
  ['<_>v="<y>" w=<z>', [{}, {}, {}, {}, {}, {}, {}]],
  ['<_>v=<y>', [{}, {}, {}, { y: '' }, {}, {}, {}]],
  ['<_>7<y>', [{}, { y: '' }, {}, {}, {}, {}, {}]],
];

/** An hour into the day, and 7 ms. */
const TIME = 3_600_007_000_000;
const QUARTER = 900_000_000_000;

/** Lines like some of the cases, which make it worth to split the page. */
const filler = Array.from({ length: 900 }, (_, i): DatedEntry => {
  const line = [
    `10.0.0.${i % 250} - - [20/Nov/2025:10:00:00 +0000] "GET /a/${i} HTTP/1.1" ${i % 3 ? 200 : 404} ${i * 7}`,
    `n=${i} v=${i % 10} w=${i % 7} msg="the request ${i} is done, and its result was sent to the client"`,
    `a ${i} b ${i * 3} c ${i % 5}`,
    `t=${i - 450} u=${i} k=${i % 7}- k - ${i} - z`,
    `msg="a ${i}" to "b ${i}" to ${i}`,
    `from 10.0.0.${i % 9}:80 to 10.0.0.9:${i} took ${i} ms ${i % 10}`,
    `${new Date(20_000 * 86_400_000 + TIME / 1e6 + i).toISOString()} n=${i}`,
  ][i % 7];
  return {
    stream: { case: 'filler' },
    day: DAY,
    time: TIME + i * 1_000_000,
    line: line.padEnd(100, ' constant'),
    metadata: {},
  };
});
const entries = PATTERN_CASES.map(([line], i): DatedEntry => {
  const text = textOfBytes(Buffer.from(line.replace('{clock}', '2024-10-04T01:00:00.007Z'), 'latin1'));
  return { stream: { case: `${i}` }, day: DAY, time: TIME, line: text, metadata: {} };
});
const neighbors = NEIGHBORS.map(
  (line, i): DatedEntry => ({ stream: { case: 'x' }, day: DAY, time: TIME + i, line, metadata: {} }),
);
const store = await splitStore([...filler, ...entries, ...neighbors], {
  isIndexed: false,
  cache: new PageCache(16 * 1024 * 1024, { keepsFirst: true }),
});

const quoted = (text: string) => JSON.stringify(Buffer.from(text, 'latin1').toString());
const latin1 = (text: string) => bytesOfText(text).toString('latin1');
const range = {
  startNs: DAY_START_NS + BigInt(TIME - QUARTER),
  endNs: DAY_START_NS + BigInt(TIME + QUARTER),
};

/** Labels of the only entry that a query finds, without `case`; undefined if there is none. */
async function labelsOf(engine: QueryEngine, query: string): Promise<Texts | undefined> {
  const { result } = query.startsWith('{')
    ? await engine.range(rangeQuery(query, range), requester())
    : await engine.instant({ text: query, expr: parseQuery(query), timeNs: range.endNs }, requester());
  const found = result.kind === 'streams' ? result.streams : result.kind === 'vector' ? result.samples : [];
  expect(found.length).toBeLessThan(2);
  if (found.length === 0) return undefined;
  return Object.fromEntries(
    found[0].labels.filter(({ name }) => name !== 'case').map(({ name, value }) => [name, latin1(value)]),
  );
}

test('the page is split', () => {
  expect(store.splitPages).toEqual([true]);
});

describe.each([
  ['whole lines', store.plain],
  ['split lines', store.cold],
  ['cached lines', store.warm],
])('captures of %s', (_, engine) => {
  test.each(
    PATTERN_CASES.map(([line, pattern, captures], i) => [i, line.slice(0, 80), pattern, captures] as const),
  )('case %i: %j by %j', async (i, _line, pattern, captures) => {
    const stages = `{case="${i}"} | pattern ${quoted(pattern)}`;
    const names = [...pattern.matchAll(/<([a-z]\w*)>/g)].map(([, name]) => name);
    expect(await labelsOf(engine, stages)).toEqual(captures);
    const countBy = (by: readonly string[], filter = '') =>
      labelsOf(engine, `sum by (${by.join(', ')}) (count_over_time(${stages} ${filter} [30m]))`);
    expect(await countBy(names)).toEqual(captures);
    for (const name of names.slice(0, bySuite({ fast: 1, full: 6 }))) {
      const value = Object.hasOwn(captures, name) ? captures[name] : undefined;
      expect(await countBy([name])).toEqual(value === undefined ? {} : { [name]: value });
      // A filter accepts an absent label as an empty one.
      const isText = !/[\x80-\uffff]/.test(value ?? '');
      if (isText) expect(await countBy([], `| ${name}=${quoted(value ?? '')}`)).toEqual({});
      expect(await countBy([], `| ${name}="another"`)).toBeUndefined();
    }
  });
});

describe.each([
  ['whole lines', store.plain],
  ['split lines', store.cold],
  ['cached lines', store.warm],
])('neighbors of %s', (_, engine) => {
  test.each(OF_NEIGHBORS)('%j', async (pattern, captures) => {
    const stages = `{case="x"} | pattern ${quoted(pattern)}`;
    const names = [...pattern.matchAll(/<([a-z])>/g)].map(([, name]) => name);
    for (const name of names) {
      const text = `sum by (${name}) (count_over_time(${stages} [30m]))`;
      const { result } = await engine.instant(
        { text, expr: parseQuery(text), timeNs: range.endNs },
        requester(),
      );
      if (result.kind !== 'vector') throw new TypeError(result.kind);
      const counts = new Map<string | undefined, number>();
      for (const texts of captures) counts.set(texts[name], (counts.get(texts[name]) ?? 0) + 1);
      const found = result.samples.map(({ labels, value }) => [labels[0]?.value, value] as const);
      expect(new Map(found)).toEqual(counts);
    }
    const { result } = await engine.range(rangeQuery(stages, range), requester());
    if (result.kind !== 'streams') throw new TypeError(result.kind);
    for (const { labels, entries: ofStream } of result.streams) {
      const shown = Object.fromEntries(
        labels.flatMap(({ name, value }) => (name === 'case' ? [] : [[name, value]])),
      );
      for (const { line } of ofStream) expect(shown).toEqual(captures[NEIGHBORS.indexOf(line)]);
    }
  });
});

test.each(PATTERN_CASES)('the plain evaluation of %j by %j', (line, pattern, captures) => {
  const shown = line.replace('{clock}', '2024-10-04T01:00:00.007Z');
  expect(Object.fromEntries(capturesOf(pattern, shown))).toEqual(captures);
});
