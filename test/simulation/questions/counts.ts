/** Metric queries by app: of one instant, and of many steps; each value within its bounds. */

import { INVARIANTS, mustHold } from '../../../shared/base/model/invariants.ts';
import { NS_PER_MS, NS_PER_SECOND } from '../../../shared/base/model/time-units.ts';
import { parseQuery } from '../../../shared/language/logql/parse.ts';
import { rangeQuery, requester } from '../../support/engine.ts';
import type { Dice } from '../dice.ts';
import type { KnownEntry } from '../model.ts';
import { type Asked, boundsOf, isIn, type Selection, type Span } from './bounds.ts';

/** Instants of a range query: each costs the model a walk over all entries. */
const MAX_STEPS = 20n;

/** The sum of the counts, or of the rates times their range, by app; each within its bounds. */
export async function askCount(
  asked: Asked,
  { text, holds }: Selection,
  { startNs, endNs }: Span,
  asRate: boolean,
): Promise<number> {
  const { process, tenant } = asked;
  // Windows are open on the left and closed on the right, of whole seconds.
  const seconds = (endNs - startNs) / NS_PER_SECOND;
  const timeNs = endNs - 1n;
  const inside = isIn({ startNs: timeNs - seconds * NS_PER_SECOND + 1n, endNs });
  const { lower, upper, attempted } = boundsOf(asked, entry => inside(entry) && holds(entry));
  const query = `sum by (app) (${asRate ? 'rate' : 'count_over_time'}(${text} [${seconds}s]))`;
  const answer = await process.request(() =>
    process.engine.instant(
      { text: query, expr: parseQuery(query), timeNs },
      requester({ tenants: [tenant] }),
    ),
  );
  const { result } = answer;
  if (result.kind !== 'vector') throw new TypeError(`an instant query answers a ${result.kind}`);
  const values = new Map(
    result.samples.map(({ labels, value }) => [
      labels.find(({ name }) => name === 'app')?.value ?? '',
      asRate ? Math.round(Number(value) * Number(seconds)) : Number(value),
    ]),
  );
  const [least, most, all] = [lower, upper, attempted].map(entries => countByApp(entries()));
  let sum = 0;
  for (const app of new Set([...values.keys(), ...least.keys()])) {
    const value = values.get(app) ?? 0;
    const bounds = [least.get(app) ?? 0, most.get(app) ?? 0];
    const what = () => `${process.name}, ${tenant}: ${query} of ${app} is ${value}, must be in ${bounds}`;
    mustHold(INVARIANTS.acknowledgedIsFound, value >= bounds[0], what);
    checkMost(value, bounds[1], all.get(app) ?? 0, what);
    sum += value;
  }
  return sum;
}

/** More than the visible entries but not more than the stored ones: hidden entries were counted. */
function checkMost(value: number, most: number, all: number, what: () => string): void {
  mustHold(INVARIANTS.exactlyOnce, value <= all, what);
  mustHold(INVARIANTS.partialsAreFiltered, value <= most, what);
}

function countByApp(entries: readonly KnownEntry[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const { labels } of entries) counts.set(labels.app, (counts.get(labels.app) ?? 0) + 1);
  return counts;
}

/** The same at every step of a range. Windows overlap, meet or leave gaps. */
export async function askSteps(
  asked: Asked,
  { text, holds }: Selection,
  span: Span,
  dice: Dice,
): Promise<void> {
  const { process, tenant } = asked;
  const leastSeconds = (span.endNs - span.startNs) / NS_PER_SECOND / MAX_STEPS + BigInt(dice.between(1, 60));
  // Whole minutes are counted from footers.
  const inMinutes = asked.ledger !== undefined && dice.chance(0.7);
  const stepSeconds = inMinutes ? leastSeconds - (leastSeconds % 60n) + 60n : leastSeconds;
  const rangeSeconds = dice.pick(
    inMinutes ? [60n, stepSeconds, 2n * stepSeconds] : [1n, stepSeconds, 2n * stepSeconds + 1n],
  );
  const [stepNs, rangeNs] = [stepSeconds * NS_PER_SECOND, rangeSeconds * NS_PER_SECOND];
  const asRate = dice.chance(0.3);
  const query = `sum by (app) (${asRate ? 'rate' : 'count_over_time'}(${text} [${rangeSeconds}s]))`;
  const { lower, upper, attempted } = boundsOf(asked, holds);
  const { result } = await process.request(() =>
    process.engine.range(rangeQuery(query, { ...span, stepNs }), requester({ tenants: [tenant] })),
  );
  if (result.kind !== 'matrix') throw new TypeError(`a range query answers a ${result.kind}`);
  const values = new Map<string, number>();
  for (const { labels, timesMs, values: ofSeries } of result.series) {
    const app = labels.find(({ name }) => name === 'app')?.value ?? '';
    timesMs.forEach((timeMs, i) => {
      const value = asRate ? Math.round(ofSeries[i] * Number(rangeSeconds)) : ofSeries[i];
      values.set(`${timeMs} ${app}`, value);
    });
  }
  // Instants are multiples of the step, the first at or below the start, the last at or above the end.
  const lastNs = ((span.endNs + stepNs - 1n) / stepNs) * stepNs;
  const wanted = new Set<string>();
  const [required, allowed, all] = [lower(), upper(), attempted()];
  for (let atNs = span.startNs - (span.startNs % stepNs); atNs <= lastNs; atNs += stepNs) {
    const inside = isIn({ startNs: atNs - rangeNs + 1n, endNs: atNs + 1n });
    const [least, most, any] = [required, allowed, all].map(entries => countByApp(entries.filter(inside)));
    for (const [app, countOfAll] of any) {
      const count = most.get(app) ?? 0;
      const key = `${atNs / NS_PER_MS} ${app}`;
      wanted.add(key);
      const value = values.get(key) ?? 0;
      const what = () =>
        `${process.name}, ${tenant}: ${query} at ${key} is ${value}, from ${least.get(app) ?? 0} to ${count}`;
      mustHold(INVARIANTS.acknowledgedIsFound, value >= (least.get(app) ?? 0), what);
      checkMost(value, count, countOfAll, what);
    }
  }
  const invented = [...values.keys()].find(key => !wanted.has(key));
  mustHold(INVARIANTS.onlyWhatWasPushed, invented === undefined, () => `${query}: a value at ${invented}`);
}
