/** Random queries of patterns over varied rows, and what a plain evaluation of each line finds. */
import { bytesOfText } from '../../shared/base/model/byte-text.ts';
import type { Labels } from '../../shared/base/model/labels.ts';
import { DEFAULT_LIMITS } from '../../shared/base/model/limits.ts';
import { parseQuery } from '../../shared/language/logql/parse.ts';
import type { QueryEngine } from '../../shared/read/query/engine.ts';
import { rangeQuery, requester } from './engine.ts';
import { type CaptureFilter, type OracleQuery, type PassedEntry, passed } from './pattern-oracle.ts';
import { namesOf, randomFilter, randomPattern, stagesOf } from './varied-patterns.ts';
import type { VariedRow, VariedRows } from './varied-rows.ts';

/** Values by labels, or labels and lines by time. */
type Answer = readonly (readonly [string, unknown])[] | 'pipeline error';

interface Asked {
  readonly text: string;
  readonly fromNs: bigint;
  readonly toNs: bigint;
  /** Log queries only. */
  readonly limit: number;
  readonly backward: boolean;
  /** Instants of a metric query; undefined for one at the end of the range. */
  readonly stepNs: bigint | undefined;
}

export interface PatternQuery extends Asked {
  /** What the plain evaluation finds; undefined if it knows too little. */
  readonly answer: Answer | undefined;
}

const SELECTORS: readonly (readonly [string, (labels: VariedRow['labels']) => boolean])[] = [
  ['{app=~".+"}', () => true],
  ['{app="x"}', ({ app }) => app === 'x'],
  ['{pod="2"}', ({ pod }) => pod === '2'],
  ['{pod="3"}', ({ pod }) => pod === '3'],
];
const MANY = 100_000;
const REQUESTER = requester({
  limits: { ...DEFAULT_LIMITS, maxQueryLengthNs: 0n, maxQuerySeries: MANY, maxEntriesLimitPerQuery: MANY },
});

const latin1 = (text: string) => bytesOfText(text).toString('latin1');
const keyOf = (labels: Iterable<readonly [string, string]>) =>
  JSON.stringify([...labels].sort(([a], [b]) => (a < b ? -1 : 1)));
const keyOfLabels = (labels: Labels) =>
  keyOf(labels.map(({ name, value }) => [name, latin1(value)] as const));
const sorted = (answer: Iterable<readonly [string, unknown]>) =>
  [...answer].sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0));
/** Sums of decimals depend on their order. */
const rounded = (value: number) => Number(value.toPrecision(9));

/** Throws all errors but those of rows. */
export async function answerOf(engine: QueryEngine, asked: Asked): Promise<Answer> {
  const { text, fromNs, toNs, limit, backward, stepNs } = asked;
  const range = { startNs: fromNs, endNs: toNs, limit, backward, stepNs: stepNs ?? 1n };
  const isInstant = !text.startsWith('{') && stepNs === undefined;
  try {
    const { result } = isInstant
      ? await engine.instant({ text, expr: parseQuery(text), timeNs: toNs }, REQUESTER)
      : await engine.range(rangeQuery(text, range), REQUESTER);
    switch (result.kind) {
      case 'vector':
        return sorted(
          result.samples.map(({ labels, value }) => [keyOfLabels(labels), rounded(value)] as const),
        );
      case 'matrix':
        return sorted(
          result.series.map(({ labels, timesMs, values }) => {
            const points = Array.from(timesMs, (time, i) => [time, rounded(values[i])]);
            return [keyOfLabels(labels), points] as const;
          }),
        );
      case 'streams':
        return sorted(
          result.streams.flatMap(({ labels, entries }) =>
            entries.map(({ timeNs, line }) => [`${timeNs}`, [keyOfLabels(labels), latin1(line)]] as const),
          ),
        );
      default:
        throw new TypeError(result.kind);
    }
  } catch (error) {
    if (String(error).includes('pipeline error')) return 'pipeline error';
    throw error;
  }
}

/** Patterns and filters of several queries, as dashboards have them. */
export class PatternPanels {
  readonly #of: VariedRows;
  readonly #patterns: string[];
  readonly #filters = new Map<string, CaptureFilter[]>();

  constructor(of: VariedRows) {
    const { dice, shapes, lines } = of;
    this.#of = of;
    this.#patterns = [true, true, false].map(isPlain => randomPattern(dice, shapes, lines, isPlain));
    // Another text at the start of the line, with the same literals.
    const [first] = this.#patterns;
    const start = dice
      .pick(lines)
      .slice(0, dice.below(4))
      .replace(/[^ -;=?-~]/g, '');
    this.#patterns.push(`${start}${first.slice(first.indexOf('<'))}`);
  }

  stages(): OracleQuery {
    const { dice, shapes, lines } = this.#of;
    const patterns = [dice.pick(this.#patterns)];
    if (dice.chance(0.1)) patterns.push(randomPattern(dice, shapes, lines));
    const filters: CaptureFilter[] = [];
    for (let left = dice.pick([0, 0, 1, 1, 2]); left > 0; left--) filters.push(this.#filter(patterns));
    const canFail = filters.some(({ op }) => /[<>]|==/.test(op));
    const line = dice.pick(lines);
    const at = dice.below(line.length + 1);
    const part = Buffer.from(line.slice(at, at + dice.between(2, 8)), 'latin1').toString();
    const hasLineFilter = dice.chance(0.15) && part !== '' && !part.includes('\ufffd');
    return {
      lineFilters: hasLineFilter
        ? [{ op: dice.pick(['|=', '!=']), text: Buffer.from(part).toString('latin1') }]
        : [],
      patterns,
      filters: canFail && dice.chance(0.7) ? [...filters, { op: 'no error' }] : filters,
    };
  }

  #filter(patterns: readonly string[]): CaptureFilter {
    const { dice, lines } = this.#of;
    const key = patterns.join(' ');
    const known = this.#filters.get(key) ?? [];
    if (known.length > 1 && dice.chance(0.7)) return dice.pick(known);
    const filter = randomFilter(dice, patterns, lines);
    this.#filters.set(key, [...known, filter]);
    return filter;
  }
}

/** @param isHidden Whether a delete request hides the row */
export function randomQuery(
  of: VariedRows,
  panels: PatternPanels,
  isHidden: (row: VariedRow) => boolean,
): PatternQuery {
  const { dice, rows } = of;
  const query = panels.stages();
  const [selector, accepts] = dice.pick(
    SELECTORS.filter(([, isSelected]) => rows.some(({ labels }) => isSelected(labels))),
  );
  // All rows, most of them, or few.
  const span = of.toMs - of.fromMs;
  const part = dice.pick([1, 1, 1, 0.7, 0.1]);
  const fromMs = of.fromMs + dice.below(Math.floor(span * (1 - part)) + 1);
  const toMs = fromMs + Math.ceil(span * part);
  const [fromNs, toNs] = [BigInt(fromMs) * 1_000_000n, BigInt(toMs) * 1_000_000n];
  const stages = stagesOf(query);
  const log = `${selector} ${stages}`;
  /** Ranges of metric queries are open on the left, those of log queries on the right. */
  const found = (isLog: boolean) =>
    rows.flatMap((row): { row: VariedRow; entry: PassedEntry }[] => {
      const { timeNs } = row;
      const isInside = isLog ? timeNs >= fromNs && timeNs < toNs : timeNs > fromNs && timeNs <= toNs;
      const entry = isInside && accepts(row.labels) && !isHidden(row) ? passed(query, row) : undefined;
      return entry === undefined ? [] : [{ row, entry }];
    });
  const window = `[${toMs - fromMs}ms]`;
  const names = namesOf(query.patterns);
  const name = dice.pick(names);
  const by = dice.pick([
    ...[[name], [name], [name], [name, 'pod'], [name, 'pod'], names, ['pod'], []],
    [`${names[0]}_extracted`, names[0]],
  ]);
  const sumBy = (sampleOf: (row: VariedRow) => number): Answer => {
    const sums = new Map<string, number>();
    for (const { row, entry } of found(false)) {
      if (entry.isFailed) return 'pipeline error';
      const key = keyOf([...entry.labels].filter(([name]) => by.includes(name)));
      sums.set(key, (sums.get(key) ?? 0) + sampleOf(row));
    }
    return sorted(sums);
  };
  const asked = (text: string, more: Partial<PatternQuery> = {}): PatternQuery => ({
    ...{ text, fromNs, toNs, limit: MANY, backward: false, stepNs: undefined, answer: undefined },
    ...more,
  });
  const grouped = `sum by (${by.join(', ')})`;
  switch (dice.below(24)) {
    case 0: {
      const all = found(true);
      const limit = dice.pick([MANY, MANY, 5, 100]);
      const backward = dice.chance(0.5);
      if (all.some(({ entry }) => entry.isFailed)) return asked(log, { limit, backward });
      const shown = backward ? all.slice(-limit) : all.slice(0, limit);
      const answer = sorted(
        shown.map(({ row, entry: { labels } }) => [`${row.timeNs}`, [keyOf(labels), row.line]] as const),
      );
      return asked(log, { limit, backward, answer });
    }
    case 1:
      return asked(`${grouped} (bytes_over_time(${log} ${window}))`, {
        answer: sumBy(({ line }) => line.length),
      });
    case 2: {
      const unwrap = dice.pick([name, name, `duration(${name})`, `bytes(${name})`]);
      const op = dice.pick(['max_over_time', 'sum_over_time', 'first_over_time', 'avg_over_time']);
      const outer = dice.pick(['max', 'sum', 'count']);
      return asked(
        `${outer} by (${by.join(', ')}) (${op}(${log} | unwrap ${unwrap} | __error__="" ${window}))`,
      );
    }
    case 3:
      return asked(`count_over_time(${log} ${window})`);
    case 4: {
      const more = dice.pick([
        ...['| json', '| logfmt', '|= "a"', '| decolorize', `| drop ${name}`, `| keep ${name}`],
        `| line_format "{{.${name}}}:{{__line__}}" |= "1"`,
        `| label_format z=${name}`,
        `| regexp "(?P<${name}>[0-9]+)"`,
      ]);
      const text = `${log} ${more}`;
      return asked(
        dice.chance(0.5) ? text : `${grouped} (count_over_time(${text} | __error__="" ${window}))`,
      );
    }
    case 5: {
      const earlier = dice.pick([
        '| json',
        '| logfmt',
        '| regexp "(?P<b>[0-9]+)"',
        '| line_format "{{__line__}}"',
      ]);
      return asked(`${grouped} (count_over_time(${selector} ${earlier} ${stages} | __error__="" ${window}))`);
    }
    case 6: {
      const stepMs = Math.max(1, Math.floor(span / 7));
      const text = `${grouped} (rate(${log} | __error__="" [${2 * stepMs}ms]))`;
      return asked(text, { stepNs: BigInt(stepMs) * 1_000_000n });
    }
    case 7: {
      const other = stagesOf(panels.stages());
      return asked(
        `${grouped} (count_over_time(${log} | __error__="" ${window})) or sum by (a) (count_over_time(${selector} ${other} | __error__="" ${window}))`,
      );
    }
    case 8:
      return asked(
        dice.pick([
          `absent_over_time(${log} ${window})`,
          `topk(3, sum without (${name}) (count_over_time(${log} | __error__="" ${window})))`,
          `count by (${name}) (count_over_time(${log} | __error__="" ${window}))`,
        ]),
      );
    default:
      return asked(`${grouped} (count_over_time(${log} ${window}))`, { answer: sumBy(() => 1) });
  }
}
