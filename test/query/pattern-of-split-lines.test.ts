/**
 * Queries of patterns have the same results whether lines are split into templates and columns or not, and whether pages are cached
 * or not: those of a plain evaluation of each line. Random lines, patterns and filters; many queries of the same pages, because
 * cached pages keep what earlier queries found.
 */
import { afterEach, describe, expect, jest, test } from '@jest/globals';
import fc from 'fast-check';
import { bytesOfText, textOfBytes } from '../../shared/base/model/byte-text.ts';
import type { Labels } from '../../shared/base/model/labels.ts';
import { DEFAULT_LIMITS } from '../../shared/base/model/limits.ts';
import { parseQuery } from '../../shared/language/logql/parse.ts';
import type { QueryEngine } from '../../shared/read/query/engine.ts';
import { PageCache } from '../../shared/read/query/page-cache.ts';
import { Dice } from '../simulation/dice.ts';
import { DAY, DAY_START_NS, rangeQuery, requester } from '../support/engine.ts';
import { type OracleEntry, type OracleQuery, type PassedEntry, passed } from '../support/pattern-oracle.ts';
import type { DatedEntry } from '../support/pushes.ts';
import { splitStore } from '../support/split-store.ts';
import { randomShape, type Shape, variedLines } from '../support/varied-lines.ts';
import { namesOf, randomFilter, randomPattern, stagesOf } from '../support/varied-patterns.ts';

const STREAMS: readonly Readonly<Record<string, string>>[] = [
  { app: 'x', pod: '1' },
  { app: 'x', pod: '2' },
  // Has the name of a capture.
  { app: 'x', pod: '3', status: 'up' },
  { app: 'y' },
];
const SELECTORS: readonly (readonly [string, (stream: Readonly<Record<string, string>>) => boolean])[] = [
  ['{app=~".+"}', () => true],
  ['{app="x"}', ({ app }) => app === 'x'],
  ['{pod="2"}', ({ pod }) => pod === '2'],
  ['{pod="3"}', ({ pod }) => pod === '3'],
];
const CACHE = new PageCache(8 * 1024 * 1024, { keepsFirst: true });
const FIRST_MS = Number(DAY_START_NS / 1_000_000n) + 36_000_000;

const REQUESTER = requester({ limits: { ...DEFAULT_LIMITS, maxQueryLengthNs: 0n, maxQuerySeries: 100_000 } });

interface Row extends OracleEntry {
  readonly entry: DatedEntry;
  readonly stored: Readonly<Record<string, string>>;
  readonly timeNs: bigint;
}

interface World {
  readonly dice: Dice;
  readonly shapes: readonly Shape[];
  readonly lines: readonly string[];
  readonly rows: readonly Row[];
}

const mapOf = (texts: Readonly<Record<string, string>>) =>
  new Map(Object.entries(texts).map(([name, value]) => [name, value]));

/** Rows of lines with more bytes than `least`. */
function worldOf(seed: number, least: number): World {
  const dice = new Dice(seed);
  const shapes = Array.from({ length: dice.pick([1, 1, 2, 3, 6]) }, () => randomShape(dice));
  const oddShare = dice.pick([0, 0.01, 0.05]);
  const stepMs = dice.pick([1, 7, 333]);
  const timesMs = Array.from({ length: 4000 }, (_, n) => FIRST_MS + n * stepMs);
  const all = variedLines(dice, timesMs, { oddShare, shapes });
  let bytes = 0;
  const lines = all.filter(line => (bytes += line.length) < least + 3000 || line.length + least > bytes);
  const hasMetadata = dice.chance(0.3);
  const streams = dice.chance(0.3) ? STREAMS : STREAMS.slice(0, 1);
  const rows = lines.map((line, n): Row => {
    const stored = dice.pick(streams);
    const metadata: Record<string, string> = hasMetadata && dice.chance(0.2) ? { path: `p${n % 3}` } : {};
    const time = (timesMs[n] - Number(DAY_START_NS / 1_000_000n)) * 1e6 + (n % 1000);
    const text = textOfBytes(Buffer.from(line, 'latin1'));
    return {
      entry: { stream: stored, day: DAY, time, line: text, metadata },
      stored,
      timeNs: DAY_START_NS + BigInt(time),
      line,
      stream: mapOf(stored),
      metadata: mapOf(metadata),
    };
  });
  return { dice, shapes, lines, rows };
}

type Answer = readonly (readonly [string, unknown])[] | 'pipeline error';

const latin1 = (text: string) => bytesOfText(text).toString('latin1');
const keyOf = (labels: Iterable<readonly [string, string]>) =>
  JSON.stringify([...labels].sort(([a], [b]) => (a < b ? -1 : 1)));
const keyOfLabels = (labels: Labels) =>
  keyOf(labels.map(({ name, value }) => [name, latin1(value)] as const));
const sorted = (answer: Iterable<readonly [string, unknown]>) =>
  [...answer].sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0));

interface Asked {
  readonly text: string;
  readonly fromNs: bigint;
  readonly toNs: bigint;
}

async function ask(engine: QueryEngine, { text, fromNs, toNs }: Asked): Promise<Answer> {
  try {
    const { result } = text.startsWith('{')
      ? await engine.range(
          rangeQuery(text, { startNs: fromNs, endNs: toNs, limit: 5000, backward: false }),
          REQUESTER,
        )
      : await engine.instant({ text, expr: parseQuery(text), timeNs: toNs }, REQUESTER);
    if (result.kind === 'vector')
      return sorted(
        result.samples.map(
          ({ labels, value }) => [keyOfLabels(labels), Number(value.toPrecision(9))] as const,
        ),
      );
    if (result.kind !== 'streams') throw new TypeError(result.kind);
    return sorted(
      result.streams.flatMap(({ labels, entries }) =>
        entries.map(({ timeNs, line }) => [`${timeNs}`, [keyOfLabels(labels), latin1(line)]] as const),
      ),
    );
  } catch (error) {
    if (String(error).includes('pipeline error')) return 'pipeline error';
    throw error;
  }
}

interface Wanted extends Asked {
  /** What the plain evaluation finds; undefined if only the plain chunk knows. */
  readonly answer: Answer | undefined;
}

function queryOf({ dice, shapes, lines }: World): OracleQuery {
  const patterns = [randomPattern(dice, shapes, lines)];
  if (dice.chance(0.15)) patterns.push(randomPattern(dice, shapes, lines));
  const filters = Array.from({ length: dice.pick([0, 0, 1, 1, 2]) }, () =>
    randomFilter(dice, patterns, lines),
  );
  const canFail = filters.some(({ op }) => /[<>]|==/.test(op));
  const line = dice.pick(lines);
  const at = dice.below(line.length + 1);
  const part = Buffer.from(line.slice(at, at + dice.between(2, 8)), 'latin1').toString();
  const hasLineFilter = dice.chance(0.2) && part !== '' && !part.includes('\ufffd');
  return {
    lineFilters: hasLineFilter
      ? [{ op: dice.pick(['|=', '!=']), text: Buffer.from(part).toString('latin1') }]
      : [],
    patterns,
    filters: canFail && dice.chance(0.7) ? [...filters, { op: 'no error' }] : filters,
  };
}

/** A query of a part of the rows, and what it finds. */
function wantedOf(world: World, isHidden: (row: Row) => boolean): Wanted {
  const { dice, rows } = world;
  const query = queryOf(world);
  const [selector, accepts] = dice.pick(
    SELECTORS.filter(([, isSelected]) => rows.some(({ stored }) => isSelected(stored))),
  );
  const firstMs = FIRST_MS - 10;
  const lastMs = Number(rows[rows.length - 1].timeNs / 1_000_000n) + 10;
  const isPart = dice.chance(0.3);
  const fromMs = firstMs + (isPart ? dice.below((lastMs - firstMs) >> 1) : 0);
  const toMs = lastMs - (isPart ? dice.below((lastMs - firstMs) >> 2) : 0);
  const [fromNs, toNs] = [BigInt(fromMs) * 1_000_000n, BigInt(toMs) * 1_000_000n];
  const log = `${selector} ${stagesOf(query)}`;
  const found = (isLog: boolean) =>
    rows.flatMap((row): { row: Row; entry: PassedEntry }[] => {
      const isInside = isLog
        ? row.timeNs >= fromNs && row.timeNs < toNs
        : row.timeNs > fromNs && row.timeNs <= toNs;
      const entry = isInside && accepts(row.stored) && !isHidden(row) ? passed(query, row) : undefined;
      return entry === undefined ? [] : [{ row, entry }];
    });
  const window = `[${toMs - fromMs}ms]`;
  const names = namesOf(query.patterns);
  const by = dice.pick([[], names.slice(0, 1), names.slice(-1), names, [...names, 'pod'], ['pod']]);
  const sumBy = (of: (row: Row) => number): Answer => {
    const sums = new Map<string, number>();
    for (const { row, entry } of found(false)) {
      if (entry.isFailed) return 'pipeline error';
      const key = keyOf([...entry.labels].filter(([name]) => by.includes(name)));
      sums.set(key, (sums.get(key) ?? 0) + of(row));
    }
    return sorted(sums);
  };
  const asked = (text: string, answer?: Answer): Wanted => ({ text, fromNs, toNs, answer });
  const grouped = `sum by (${by.join(', ')})`;
  switch (dice.below(9)) {
    case 0: {
      const entries = found(true);
      const answer = entries.map(
        ({ row, entry: { labels } }) => [`${row.timeNs}`, [keyOf(labels), row.line]] as const,
      );
      return asked(log, entries.some(({ entry }) => entry.isFailed) ? undefined : sorted(answer));
    }
    case 1:
      return asked(
        `${grouped} (bytes_over_time(${log} ${window}))`,
        sumBy(({ line }) => line.length),
      );
    case 2:
      return asked(
        `max by (${by.join(', ')}) (max_over_time(${log} | unwrap ${dice.pick(names)} | __error__="" ${window}))`,
      );
    case 3:
      return asked(`count_over_time(${log} ${window})`);
    case 4: {
      const more = dice.pick([
        '| json',
        '| logfmt',
        `| line_format "{{.${names[0]}}}:{{__line__}}" |= "1"`,
        '|= "a"',
        `| drop ${names[0]}`,
        `| label_format z=${names[0]}`,
        '| decolorize',
      ]);
      const later = `${selector} ${stagesOf(query)} ${more}`;
      return asked(
        dice.chance(0.5) ? later : `${grouped} (count_over_time(${later} | __error__="" ${window}))`,
      );
    }
    case 5: {
      const earlier = `${selector} ${dice.pick(['| json', '| logfmt', '| regexp "(?P<b>[0-9]+)"'])} ${stagesOf(query)}`;
      return asked(`${grouped} (count_over_time(${earlier} | __error__="" ${window}))`);
    }
    default:
      return asked(
        `${grouped} (count_over_time(${log} ${window}))`,
        sumBy(() => 1),
      );
  }
}

interface Given {
  readonly seed: number;
  readonly isIndexed: boolean;
  readonly isLarge: boolean;
  readonly hides: boolean;
}

/** The rows of a seed, or of one of the next, whose lines are worth splitting. */
async function splitWorld({ seed, isIndexed, isLarge }: Given) {
  const pageBytes = isLarge ? 80_000 : undefined;
  for (let tried = 0; ; tried++) {
    const world = worldOf(seed + tried, isLarge ? 150_000 : 66_000);
    const entries = world.rows.map(({ entry }) => entry);
    const store = await splitStore(entries, { pageBytes, isIndexed, cache: CACHE });
    if (store.splitPages.includes(true)) return { world, store };
    expect(tried).toBeLessThan(9);
  }
}

async function compare(one: Given, queries: number): Promise<void> {
  const { world, store } = await splitWorld(one);
  const { dice } = world;
  if (one.hides) store.hide('{app="x"} |= "12"');
  const isHidden = ({ stored, line }: Row) => one.hides && stored.app === 'x' && line.includes('12');
  const wanted = Array.from({ length: queries }, () => wantedOf(world, isHidden));
  const answers = await Promise.all(
    wanted.map(async asked => {
      const answer = await ask(store.plain, asked);
      if (asked.answer !== undefined) expect({ ...asked, answer }).toEqual(asked);
      return { ...asked, answer };
    }),
  );
  // Queries at the same time overwrite lines of each other.
  const cold = await Promise.all(answers.map(asked => ask(store.cold, asked)));
  for (const [i, answer] of cold.entries()) expect({ ...answers[i], answer }).toEqual(answers[i]);
  for (let step = 3 * answers.length; step > 0; step--) {
    if (dice.chance(0.03)) CACHE.clear();
    const asked = dice.pick(answers);
    expect({ ...asked, answer: await ask(store.warm, asked) }).toEqual(asked);
  }
}

const given = fc.record<Given>({
  seed: fc.noShrink(fc.nat(0x7fff_ffff)),
  isIndexed: fc.boolean(),
  isLarge: fc.boolean(),
  hides: fc.boolean(),
});

describe('patterns over split lines', () => {
  afterEach(() => void jest.restoreAllMocks());

  test('results are those of whole lines', async () => {
    await fc.assert(
      fc.asyncProperty(given, one => compare(one, 12)),
      { numRuns: 40, endOnFailure: true },
    );
  });

  test('results are those of whole lines if time slices end after each few rows', async () => {
    let now = performance.now();
    jest.spyOn(performance, 'now').mockImplementation(() => (now += 3));
    await fc.assert(
      fc.asyncProperty(given, one => compare(one, 8)),
      { numRuns: 12, endOnFailure: true },
    );
  });
});
