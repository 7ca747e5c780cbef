/** Models of the label browser, the patterns and the explanation. */
import { describe, expect, test } from '@jest/globals';
import { barsPath } from '../../ui/src/components/sparkline-path.ts';
import { percentText } from '../../ui/src/time/quantities.ts';
import { adviceFor, explainSteps, sparedShare } from '../../ui/src/views/explain/explain-model.ts';
import { labelRows, matching, valueRows } from '../../ui/src/views/labels/labels-model.ts';
import {
  levelCounts,
  patternGrid,
  patternRows,
  piecesOfPattern,
  sortedRows,
} from '../../ui/src/views/patterns/patterns-model.ts';

describe('labels', () => {
  test('largest first; values that the store does not report are not invented', () => {
    const rows = labelRows(
      ['app', 'env', 'pod', '__shard__'],
      [
        { label: 'app', bytes: 10 },
        { label: 'env', bytes: 20 },
      ],
      [{ label: 'app', cardinality: 3 }],
    );
    expect(rows).toEqual([
      { name: 'env', bytes: 20, values: undefined },
      { name: 'app', bytes: 10, values: 3 },
      { name: 'pod', bytes: undefined, values: undefined },
    ]);
  });

  test('values have shares; a chosen one that is gone stays to be taken back', () => {
    const volumes = [
      { labels: { app: 'a' }, bytes: 30 },
      { labels: { app: 'b' }, bytes: 10 },
    ];
    expect(valueRows('app', volumes, ['b', 'z'])).toEqual([
      { value: 'a', bytes: 30, share: 0.75 },
      { value: 'b', bytes: 10, share: 0.25 },
      { value: 'z', bytes: 0, share: 0 },
    ]);
  });

  test.each([
    ['', ['eu-west', 'EU-east', 'us']],
    ['eu', ['eu-west', 'EU-east']],
    [' east  eu ', ['EU-east']],
    ['x', []],
  ])('a search for “%s”', (text, wanted) =>
    expect(matching(['eu-west', 'EU-east', 'us'], text, one => one)).toEqual(wanted),
  );

  test.each([
    [0, '0%'],
    [0.0004, '<0.1%'],
    [0.0123, '1.2%'],
    [0.0996, '10%'],
    [1, '100%'],
  ])('%d is %s', (share, wanted) => expect(percentText(share)).toBe(wanted));
});

describe('patterns', () => {
  const grid = patternGrid({ fromMs: 61_000, toMs: 300_000 }, 60_000);
  const samplesOfA = [
    [60, 4],
    [240, 2],
  ] as const;
  const samplesOfB = [
    [240, 9],
    [600, 1],
  ] as const;
  const rows = patternRows(
    [
      { pattern: 'a <_>', level: 'info', samples: samplesOfA },
      { pattern: 'b <_>', level: 'ERROR', samples: samplesOfB },
      { pattern: 'c', level: '', samples: [[120, 1]] },
    ],
    grid,
    34,
  );

  test('are on one grid, with shares of all lines', () => {
    expect(grid).toEqual({ startMs: 60_000, stepMs: 60_000, steps: 4 });
    expect(rows).toEqual([
      { pattern: 'a <_>', level: 'info', count: 6, share: 6 / 34, values: [4, 0, 0, 2], firstStep: 0 },
      // The store counts entries outside the range; they have no bar.
      { pattern: 'b <_>', level: 'error', count: 10, share: 10 / 34, values: [0, 0, 0, 9], firstStep: 3 },
      { pattern: 'c', level: 'unknown', count: 1, share: 1 / 34, values: [0, 1, 0, 0], firstStep: 1 },
    ]);
  });

  test('estimates may be more than the lines: then they are the whole', () => {
    expect(patternRows([{ pattern: 'a', level: '', samples: [[60, 8]] }], grid, 3)[0].share).toBe(1);
  });

  test('sorts patterns by lines, by novelty, by level', () => {
    const texts = (by: 'lines' | 'newest') => sortedRows(rows, by).map(({ pattern }) => pattern);
    expect(texts('lines')).toEqual(['b <_>', 'a <_>', 'c']);
    expect(texts('newest')).toEqual(['b <_>', 'c', 'a <_>']);
    expect(levelCounts(rows)).toEqual([
      { level: 'error', count: 10 },
      { level: 'info', count: 6 },
      { level: 'unknown', count: 1 },
    ]);
  });

  test.each([
    ['<_>', ['(<_>)']],
    ['a <_><_> b', ['a ', '(<_>)', '(<_>)', ' b']],
    ['\u001b[1;32mok\u001b[0m <_>', ['ok ', '(<_>)']],
    ['\u001b[<_>m', ['␛[', '(<_>)', 'm']],
  ])('the parts of %j', (pattern, wanted) =>
    expect(piecesOfPattern(pattern).map(({ text, isHole }) => (isHole ? `(${text})` : text))).toEqual(wanted),
  );

  test('bars: the maximum has full height, the minimum is visible, zero is empty', () => {
    expect(barsPath([1000, 0, 1, 500])).toBe('M0.1 24v-24h.8V24zM2.1 24v-1.5h.8V24zM3.1 24v-12h.8V24z');
    expect(barsPath([0, 0])).toBe('');
  });
});

describe('the explanation', () => {
  const chunks = { considered: 5, prunedByLabels: 2, prunedByStreams: 1, read: 2 };
  const pruned = { prunedByStreams: 2, prunedByText: 3, prunedByValues: 1, answeredByFooters: 0 };
  const pages = (read: number) => ({ considered: 10, ...pruned, read });
  const bytes = (read: number) => ({
    considered: 1000,
    prunedByStreams: 200,
    prunedByText: 300,
    prunedByValues: 100,
    answeredByFooters: 0,
    read,
  });
  const shown = (told: Parameters<typeof explainSteps>[0]) =>
    explainSteps(told)
      .filter(step => step.chunks || step.pages || step.bytes)
      .map(step => [step.id, step.chunks, step.pages, step.bytes]);

  test('has a step for each reason, and ends with the read data', () => {
    const told = { chunks, pages: pages(4), bytes: bytes(400) };
    expect(shown(told)).toEqual([
      ['considered', 5, 10, 1000],
      ['labels', 2, undefined, undefined],
      ['streams', 1, 2, 200],
      ['text', undefined, 3, 300],
      ['values', undefined, 1, 100],
      ['read', 2, 4, 400],
    ]);
    expect(sparedShare(explainSteps(told))).toBe(0.6);
  });

  test('distinguishes pages that were not needed, and bytes that were in memory', () => {
    const early = shown({ chunks, pages: pages(1), bytes: bytes(100) });
    expect(early.at(-2)).toEqual(['left', undefined, 3, undefined]);
    const again = shown({ chunks, pages: pages(4), bytes: bytes(0) });
    expect(again.at(-2)).toEqual(['memory', undefined, undefined, 400]);
    // Pages that overlap are read twice.
    const twice = shown({ chunks, pages: pages(6), bytes: bytes(600) });
    expect(twice.at(-2)?.[0]).toBe('values');
  });

  test('explains the answer of a store that reports little, or nothing', () => {
    expect(shown({})).toEqual([]);
    expect(sparedShare(explainSteps({}))).toBeUndefined();
  });

  test.each([
    ['{a=~".+"} | json', 20_000_000, [/Add a label/, /Add a text/]],
    ['{a="x"} |= "y"', 20_000_000, []],
    ['sum(rate({a="x"} |= "y" | json [5m]))', 20_000_000, [/Remove the pipeline/]],
    ['{a=~".+"}', 1000, []],
  ])('advice for %s', (query, read, wanted) => {
    const advice = adviceFor(query, explainSteps({ bytes: { considered: read, read } }));
    expect(advice).toHaveLength(wanted.length);
    for (const [i, text] of wanted.entries()) expect(advice[i]).toMatch(text);
  });
});
