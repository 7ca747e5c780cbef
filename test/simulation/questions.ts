/**
 * Random queries, and the responses of the model. During a run an entry may be in progress, so a response is
 * checked between two bounds: it must contain everything acknowledged before the query began, and nothing
 * that was not attempted by its end. A healed store is queried the same way; then the bounds are tight.
 */

import { INVARIANTS, mustHold } from '../../shared/base/model/invariants.ts';
import { NS_PER_SECOND } from '../../shared/base/model/time-units.ts';
import type { QueryResult } from '../../shared/read/query/engine.ts';
import { rangeQuery, requester } from '../support/engine.ts';
import type { Dice } from './dice.ts';
import { idOf } from './model.ts';
import { type Asked, boundsOf, isIn, type Selection, type Span } from './questions/bounds.ts';
import { askCount, askSteps } from './questions/counts.ts';
import { askStreams } from './questions/streams.ts';

/** Selectors and line filters with what they mean. */
const SELECTIONS: readonly Selection[] = [
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

/**
 * Runs one query of some kind and checks the response. Throws what the query throws, and
 * BrokenInvariantError.
 */
export async function askAnything(asked: Asked, dice: Dice): Promise<void> {
  const span = dice.chance(0.5) ? asked.whole : partOf(asked.whole, dice);
  const kind = dice.below(5);
  if (kind === 0) await askStreams(asked, dice.pick(SELECTORS), span);
  else if (kind === 1) {
    if (dice.chance(0.5)) await askCount(asked, dice.pick(SELECTIONS), span, dice.chance(0.5));
    else await askSteps(asked, dice.pick(SELECTIONS), span, dice);
  } else {
    const limit = dice.chance(0.5) ? 1000 : dice.between(1, 6);
    await askLog(asked, dice.pick(SELECTIONS), span, { limit, backward: dice.chance(0.5) });
  }
}

/** The ids of all entries of the tenant. */
export function fetchEntries(asked: Asked, backward = false): Promise<Set<string>> {
  return askLog(asked, SELECTIONS[0], asked.whole, { limit: 5000, backward });
}

/** The same, after entries, counts and series have agreed. */
export async function askEverything(asked: Asked): Promise<Set<string>> {
  const [all] = SELECTIONS;
  const forward = await fetchEntries(asked);
  const count = await askCount(asked, all, asked.whole, false);
  // With retention both are checked between bounds, and entries between them may expire between the two
  // queries.
  mustHold(
    INVARIANTS.exactlyOnce,
    count === forward.size || asked.ledger !== undefined,
    `${asked.process.name}: counts ${count} entries, returns ${forward.size}`,
  );
  await askStreams(asked, all, asked.whole);
  return forward;
}

/** Throws BrokenInvariantError if two responses that must be equal are not. */
export function sameSets(
  a: ReadonlySet<string>,
  b: ReadonlySet<string>,
  what: string,
  mayDiffer: (id: string) => boolean = () => false,
): void {
  const only = [...[...a].filter(id => !b.has(id)), ...[...b].filter(id => !a.has(id))].filter(
    id => !mayDiffer(id),
  );
  mustHold(INVARIANTS.answersSurvive, only.length === 0, () => `${what} differ in ${only[0]}`);
}

async function askLog(
  asked: Asked,
  { text, holds }: Selection,
  span: Span,
  { limit, backward }: { readonly limit: number; readonly backward: boolean },
): Promise<Set<string>> {
  const { process, tenant } = asked;
  const inside = isIn(span);
  const { lower, upper, attempted } = boundsOf(asked, entry => inside(entry) && holds(entry));
  const query = rangeQuery(text, { ...span, limit, backward, categorize: true });
  const { result } = await process.request(() =>
    process.engine.range(query, requester({ tenants: [tenant] })),
  );
  const found = entriesOf(result, backward);
  const ids = new Set(found.map(({ id }) => id));
  const what = () => `${process.name}, ${tenant}: ${text} ${span.startNs}-${span.endNs} limit ${limit}`;
  const twice = found.find(({ id }, i) => found.findIndex(other => other.id === id) !== i);
  mustHold(INVARIANTS.exactlyOnce, twice === undefined, () => `${what()}: twice ${twice?.id}`);
  mustHold(INVARIANTS.onlyWhatWasPushed, found.length <= limit, () => `${what()}: ${found.length} entries`);
  const allowed = new Set(upper().map(({ id }) => id));
  const hidden = new Set(attempted().map(({ id }) => id));
  for (const { id } of found) checkAllowed(asked, id, { allowed, hidden }, what);
  // If the response is full, entries at or after its last time may be cut off.
  const times = found.map(({ ns }) => ns).sort((a, b) => (a < b ? -1 : 1));
  const edge = found.length < limit ? undefined : backward ? times[0] : times[times.length - 1];
  for (const { id, ns } of lower()) {
    if (edge !== undefined && (backward ? ns <= edge : ns >= edge)) continue;
    mustHold(INVARIANTS.acknowledgedIsFound, ids.has(id), () => `${what()}: misses ${id}`);
  }
  return ids;
}

function checkAllowed(
  { model, tenant }: Asked,
  id: string,
  { allowed, hidden }: Record<'allowed' | 'hidden', ReadonlySet<string>>,
  what: () => string,
): void {
  if (allowed.has(id)) return;
  mustHold(INVARIANTS.removedIsHidden, !hidden.has(id), () => `${what()}: shows ${id}`);
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

/** A random part of a span, at least two seconds long. */
function partOf({ startNs, endNs }: Span, dice: Dice): Span {
  const length = Number(endNs - startNs);
  const points = [dice.next(), dice.next()].sort().map(part => startNs + BigInt(Math.floor(part * length)));
  return { startNs: points[0], endNs: points[1] + 2n * NS_PER_SECOND };
}
