/**
 * Captures of all lines of a split page, which come from its columns: in each page, most lines have the shape of one case of the table,
 * with other digits. Results are those of a plain evaluation of each line.
 */
import { describe, expect, test } from '@jest/globals';
import { bytesOfText, textOfBytes } from '../../shared/base/model/byte-text.ts';
import { DEFAULT_LIMITS } from '../../shared/base/model/limits.ts';
import { parseQuery } from '../../shared/language/logql/parse.ts';
import type { QueryEngine } from '../../shared/read/query/engine.ts';
import { PageCache } from '../../shared/read/query/page-cache.ts';
import { Dice } from '../simulation/dice.ts';
import { DAY, DAY_START_NS, requester } from '../support/engine.ts';
import { PATTERN_CASES } from '../support/pattern-cases.ts';
import { capturesOf } from '../support/pattern-oracle.ts';
import type { DatedEntry } from '../support/pushes.ts';
import { splitStore } from '../support/split-store.ts';
import { sampleOf } from '../support/suite.ts';

const REQUESTER = requester({ limits: { ...DEFAULT_LIMITS, maxQueryLengthNs: 0n, maxQuerySeries: 10_000 } });
const CACHE = new PageCache(4 * 1024 * 1024, { keepsFirst: true });
/** Ms of the day, and their Unix time. */
const FIRST_MS = 3_600_007;
const DAY_START_MS = Number(DAY_START_NS / 1_000_000n);
const END_NS = DAY_START_NS + 7_200_000_000_000n;
/** Lines without a value, which make it worth to split the page. No literal is in them. */
const PADDING = '%'.repeat(150);
const PADDING_ROWS = 470;
/** For a long line, which is stored whole. */
const MUCH_PADDING_ROWS = 3000;
const LONG_LINE = 1000;
/** With few rows, a column that has several values in a row has fewer values than the page has rows. */
const MOST_ROWS = [500, 150];
const MAX_BYTES = 50_000;

/** The line itself in the first rows, then also with other digits. */
function linesOf(line: string, dice: Dice): string[] {
  const rows =
    line.length > LONG_LINE ? 1 : Math.min(dice.pick(MOST_ROWS), Math.floor(MAX_BYTES / (line.length + 1)));
  const share = dice.pick([0, 0.2, 1]);
  return Array.from({ length: rows }, (_, row) => {
    const clock = new Date(DAY_START_MS + FIRST_MS + row).toISOString();
    const varied =
      row < 3
        ? line
        : line.replace(/[0-9]+/g, digits =>
            dice.chance(share) ? digits.replace(/[0-9]/g, () => `${dice.below(10)}`) : digits,
          );
    return varied.replace('{clock}', clock);
  });
}

function paddingOf({ length }: string): string[] {
  return new Array<string>(length > LONG_LINE ? MUCH_PADDING_ROWS : PADDING_ROWS).fill(PADDING);
}

async function countsOf(engine: QueryEngine, text: string): Promise<Map<string | undefined, number>> {
  const { result } = await engine.instant({ text, expr: parseQuery(text), timeNs: END_NS }, REQUESTER);
  if (result.kind !== 'vector') throw new TypeError(result.kind);
  return new Map(
    result.samples.map(({ labels, value }) => [
      labels.length === 0 ? undefined : bytesOfText(labels[0].value).toString('latin1'),
      value,
    ]),
  );
}

const quoted = (text: string) => JSON.stringify(Buffer.from(text, 'latin1').toString());

describe('captures of lines like', () => {
  test.each(
    sampleOf(
      PATTERN_CASES.map(([line, pattern], i) => [i, line, pattern] as const),
      5,
    ),
  )('case %i: %j by %j', async (i, line, pattern) => {
    const lines = [...linesOf(line, new Dice(i)), ...paddingOf(line)];
    const entries = lines.map(
      (text, row): DatedEntry => ({
        stream: { case: 'x' },
        day: DAY,
        time: (FIRST_MS + row) * 1_000_000,
        line: textOfBytes(Buffer.from(text, 'latin1')),
        metadata: {},
      }),
    );
    const { splitPages, cold, warm } = await splitStore(entries, { isIndexed: i % 2 === 0, cache: CACHE });
    expect(splitPages).toEqual([true]);
    const found = lines.map(text => capturesOf(pattern, text));
    const names = [...pattern.matchAll(/<([a-z]\w*)>/g)].map(([, name]) => name).slice(0, 6);
    for (const name of names) {
      const filtered = names[(names.indexOf(name) + 1) % names.length];
      for (const filter of ['', `| ${filtered} != ""`]) {
        const wanted = new Map<string | undefined, number>();
        for (const captures of found) {
          if (filter !== '' && (captures.get(filtered) ?? '') === '') continue;
          const value = captures.get(name);
          wanted.set(value, (wanted.get(value) ?? 0) + 1);
        }
        const query = `sum by (${name}) (count_over_time({case="x"} | pattern ${quoted(pattern)} ${filter} [2h]))`;
        for (const engine of [cold, warm, warm]) expect(await countsOf(engine, query)).toEqual(wanted);
      }
    }
  });
});
