/**
 * Queries at random, and what the model says of their answers. During a run an entry may be under way, so an answer is
 * held between two bounds: everything acknowledged before the query began must be in it, and nothing that was not
 * attempted by its end may be. A healed store is asked the same way; then the bounds are tight.
 */

import type { LogExpr, Matcher } from '../../shared/logql/ast.ts';
import { parseQuery } from '../../shared/logql/parse.ts';
import { INVARIANTS, mustHold } from '../../shared/model/invariants.ts';
import type { QueryResult } from '../../shared/query/engine.ts';
import { asker, rangeQuery } from '../support/engine.ts';
import type { Dice } from './dice.ts';
import { idOf, type KnownEntry, type Model } from './model.ts';
import type { SimulatedProcess } from './process.ts';

const NS_PER_SECOND = 1_000_000_000n;

/** Selectors and line filters with what they mean. */
const SELECTIONS: readonly { readonly text: string; readonly holds: (entry: KnownEntry) => boolean }[] = [
  { text: '{app!=""}', holds: () => true },
  { text: '{app="a"}', holds: ({ labels }) => labels.app === 'a' },
  { text: '{app="a", pod!="1"}', holds: ({ labels }) => labels.app === 'a' && labels.pod !== '1' },
  {
    text: '{app=~"a|b"} |= "even"',
    holds: ({ labels, line }) => labels.app !== 'c' && line.includes('even'),
  },
  { text: '{pod="2"} != "even"', holds: ({ labels, line }) => labels.pod === '2' && !line.includes('even') },
];
const SELECTORS = SELECTIONS.slice(0, 3);

/** Start inclusive, end exclusive, Unix ns. */
export interface Span {
  readonly startNs: bigint;
  readonly endNs: bigint;
}

export interface Asked {
  readonly process: SimulatedProcess;
  readonly model: Model;
  readonly tenant: string;
  /** All times that entries of the run can have. */
  readonly whole: Span;
}

/** Asks one question of some kind and checks the answer. Throws what the query throws, and BrokenInvariantError. */
export async function askAnything(asked: Asked, dice: Dice): Promise<void> {
  const span = dice.chance(0.5) ? asked.whole : partOf(asked.whole, dice);
  const kind = dice.below(4);
  if (kind === 0) return askSeries(asked, dice.pick(SELECTORS), asked.whole);
  if (kind === 1) await askCount(asked, dice.pick(SELECTIONS), span, dice.chance(0.5));
  else {
    const limit = dice.chance(0.5) ? 1000 : dice.between(1, 6);
    await askLog(asked, dice.pick(SELECTIONS), span, { limit, backward: dice.chance(0.5) });
  }
}

/** The ids of all entries of the tenant. */
export function askEntries(asked: Asked, backward = false): Promise<Set<string>> {
  return askLog(asked, SELECTIONS[0], asked.whole, { limit: 5000, backward });
}

/** The same, after entries, counts and series have agreed. */
export async function askEverything(asked: Asked): Promise<Set<string>> {
  const [all] = SELECTIONS;
  const forward = await askEntries(asked);
  const count = await askCount(asked, all, asked.whole, false);
  mustHold(
    INVARIANTS.exactlyOnce,
    count === forward.size,
    `${asked.process.name}: counts ${count} entries, returns ${forward.size}`,
  );
  await askSeries(asked, all, asked.whole);
  return forward;
}

/** Throws BrokenInvariantError where two answers that must be the same are not. */
export function sameSets(a: ReadonlySet<string>, b: ReadonlySet<string>, what: string): void {
  const only = [...[...a].filter(id => !b.has(id)), ...[...b].filter(id => !a.has(id))];
  mustHold(INVARIANTS.answersSurvive, only.length === 0, () => `${what} differ in ${only[0]}`);
}

type Selection = (typeof SELECTIONS)[number];

/** The bounds of an answer that begins now; `upper` is to be asked when it has ended. */
function boundsOf({ model, tenant }: Asked, holds: (entry: KnownEntry) => boolean) {
  const began = model.now();
  const known = model.entries(tenant);
  const lower = [...known.values()].filter(entry => entry.acknowledgedAt <= began && holds(entry));
  return { lower, upper: () => [...known.values()].filter(holds) };
}

const isIn =
  ({ startNs, endNs }: Span) =>
  ({ ns }: KnownEntry) =>
    ns >= startNs && ns < endNs;

async function askLog(
  asked: Asked,
  { text, holds }: Selection,
  span: Span,
  { limit, backward }: { readonly limit: number; readonly backward: boolean },
): Promise<Set<string>> {
  const { process, tenant } = asked;
  const inside = isIn(span);
  const { lower, upper } = boundsOf(asked, entry => inside(entry) && holds(entry));
  const query = rangeQuery(text, { ...span, limit, backward, categorize: true });
  const { result } = await process.request(() => process.engine.range(query, asker({ tenants: [tenant] })));
  const found = entriesOf(result, backward);
  const ids = new Set(found.map(({ id }) => id));
  const what = () => `${process.name}, ${tenant}: ${text} ${span.startNs}-${span.endNs} limit ${limit}`;
  const twice = found.find(({ id }, i) => found.findIndex(other => other.id === id) !== i);
  mustHold(INVARIANTS.exactlyOnce, twice === undefined, () => `${what()}: twice ${twice?.id}`);
  mustHold(INVARIANTS.onlyWhatWasPushed, found.length <= limit, () => `${what()}: ${found.length} entries`);
  const allowed = new Set(upper().map(({ id }) => id));
  for (const { id } of found) checkAllowed(asked, id, allowed, what);
  // Where the answer is full, what lies past its last entry, or beside it, may be cut off.
  const times = found.map(({ ns }) => ns).sort((a, b) => (a < b ? -1 : 1));
  const edge = found.length < limit ? undefined : backward ? times[0] : times[times.length - 1];
  for (const { id, ns } of lower) {
    if (edge !== undefined && (backward ? ns <= edge : ns >= edge)) continue;
    mustHold(INVARIANTS.acknowledgedIsFound, ids.has(id), () => `${what()}: misses ${id}`);
  }
  return ids;
}

function checkAllowed(
  { model, tenant }: Asked,
  id: string,
  allowed: ReadonlySet<string>,
  what: () => string,
): void {
  if (allowed.has(id)) return;
  for (const other of model.names) {
    const isOthers = other !== tenant && model.entries(other).has(id);
    mustHold(INVARIANTS.tenantsApart, !isOthers, () => `${what()}: returns ${id} of ${other}`);
  }
  mustHold(INVARIANTS.onlyWhatWasPushed, false, () => `${what()}: returns ${id}`);
}

function entriesOf(result: QueryResult, backward: boolean): { readonly id: string; readonly ns: bigint }[] {
  if (result.kind !== 'streams') throw new TypeError(`a log query answers a ${result.kind}`);
  return result.streams.flatMap(({ labels, entries }) => {
    const stream = `{${labels.map(({ name, value }) => `${name}="${value}"`).join(', ')}}`;
    return entries.map(({ timeNs, line, structuredMetadata }, i) => {
      const isSorted =
        i === 0 || (backward ? entries[i - 1].timeNs >= timeNs : entries[i - 1].timeNs <= timeNs);
      mustHold(INVARIANTS.onlyWhatWasPushed, isSorted, () => `entries of ${stream} are not in order`);
      const metadata = (structuredMetadata ?? []).map(({ name, value }) => [name, value] as const);
      return { id: idOf(stream, timeNs, line, metadata), ns: timeNs };
    });
  });
}

/** The sum of the counts, or of the rates times their range, by app; each within its bounds. */
async function askCount(
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
  const { lower, upper } = boundsOf(asked, entry => inside(entry) && holds(entry));
  const query = `sum by (app) (${asRate ? 'rate' : 'count_over_time'}(${text} [${seconds}s]))`;
  const answer = await process.request(() =>
    process.engine.instant({ text: query, expr: parseQuery(query), timeNs }, asker({ tenants: [tenant] })),
  );
  const { result } = answer;
  if (result.kind !== 'vector') throw new TypeError(`an instant query answers a ${result.kind}`);
  const values = new Map(
    result.samples.map(({ labels, value }) => [
      labels.find(({ name }) => name === 'app')?.value ?? '',
      asRate ? Math.round(Number(value) * Number(seconds)) : Number(value),
    ]),
  );
  const [least, most] = [countByApp(lower), countByApp(upper())];
  let sum = 0;
  for (const app of new Set([...values.keys(), ...least.keys()])) {
    const value = values.get(app) ?? 0;
    const bounds = [least.get(app) ?? 0, most.get(app) ?? 0];
    const what = () => `${process.name}, ${tenant}: ${query} of ${app} is ${value}, must be in ${bounds}`;
    mustHold(INVARIANTS.acknowledgedIsFound, value >= bounds[0], what);
    mustHold(INVARIANTS.exactlyOnce, value <= bounds[1], what);
    sum += value;
  }
  return sum;
}

function countByApp(entries: readonly KnownEntry[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const { labels } of entries) counts.set(labels.app, (counts.get(labels.app) ?? 0) + 1);
  return counts;
}

async function askSeries(asked: Asked, { text, holds }: Selection, span: Span): Promise<void> {
  const { process, tenant } = asked;
  const { lower, upper } = boundsOf(asked, holds);
  const { selector } = parseQuery(text) as LogExpr;
  const selectors: readonly (readonly Matcher[])[] = [selector];
  const streams = await process.request(() =>
    process.engine.streams(selectors, span, asker({ tenants: [tenant] })),
  );
  const found = new Set(streams.map(stream => stream.text));
  const what = () => `${process.name}, ${tenant}: series of ${text}`;
  mustHold(INVARIANTS.exactlyOnce, found.size === streams.length, () => `${what()}: one twice`);
  const allowed = new Set(upper().map(({ stream }) => stream));
  for (const stream of found) {
    mustHold(INVARIANTS.onlyWhatWasPushed, allowed.has(stream), () => `${what()}: has ${stream}`);
  }
  for (const { stream } of lower) {
    mustHold(INVARIANTS.acknowledgedIsFound, found.has(stream), () => `${what()}: misses ${stream}`);
  }
}

/** A random part of a span, at least two seconds long. */
function partOf({ startNs, endNs }: Span, dice: Dice): Span {
  const length = Number(endNs - startNs);
  const points = [dice.next(), dice.next()].sort().map(part => startNs + BigInt(Math.floor(part * length)));
  return { startNs: points[0], endNs: points[1] + 2n * NS_PER_SECOND };
}
