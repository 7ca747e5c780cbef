/**
 * Clients of a simulated store. Each pushes small batches over few streams and few timestamps, so that ties,
 * repeats and late entries are the rule; repeats whole batches and single entries; and repeats failed ones,
 * alone or with others, at the same or another process. In between it runs queries.
 */

import { INVARIANTS, mustHold } from '../../shared/base/model/invariants.ts';
import { DEFAULT_LIMITS } from '../../shared/base/model/limits.ts';
import { lokiReceiver } from '../../shared/write/ingest/loki-receiver.ts';
import type { Dice } from './dice.ts';
import { isFailureOfOutside } from './failures.ts';
import type { Model, SimulatedEntry } from './model.ts';
import type { SimulatedProcess } from './process.ts';
import type { Span } from './questions/bounds.ts';
import { askAnything } from './questions.ts';
import type { Ledger } from './removal/ledger.ts';
import type { VirtualTime } from './virtual-time.ts';

/** Additions of the store are disabled, so that the model has the entries as sent. */
const LIMITS = { ...DEFAULT_LIMITS, discoverServiceName: [], discoverLogLevels: false };
const BODY_LIMITS = { maxBodyBytes: 1_000_000, maxDecompressedBytes: 1_000_000 };
const JSON_TYPE = 'application/json';
const MAX_TRIES = 4;

interface ClientParts {
  readonly name: string;
  readonly time: VirtualTime;
  readonly model: Model;
  readonly tenants: readonly string[];
  readonly whole: Span;
  readonly dice: Dice;
  /** A process that lives; another one at every call. */
  readonly anyProcess: () => SimulatedProcess;
  /** Longest wait between two actions, ms. */
  readonly maxThinkMs: number;
  /** Share of actions that are questions, 0 to 1. */
  readonly askShare: number;
  /** Called once, in the middle, for the pause of a run. */
  readonly rest: () => Promise<void>;
  /** Set in runs with delete requests and retention. */
  readonly ledger?: Ledger;
}

interface Batch {
  readonly tenant: string;
  readonly entries: readonly SimulatedEntry[];
}

export async function runClient(parts: ClientParts, actions: number): Promise<void> {
  const { dice, time } = parts;
  const batches: Batch[] = [];
  for (let action = 0; action < actions; action++) {
    await time.sleep(dice.between(1, parts.maxThinkMs));
    if (action === Math.floor(actions / 2)) await parts.rest();
    if (dice.chance(parts.askShare)) await ask(parts);
    else {
      const batch = nextBatch(parts, batches, action);
      batches.push(batch);
      await push(parts, batch);
    }
  }
}

async function ask({ anyProcess, model, tenants, whole, dice, ledger }: ClientParts): Promise<void> {
  const process = anyProcess();
  try {
    await askAnything({ process, model, tenant: dice.pick(tenants), whole, ledger }, dice);
  } catch (error) {
    checkFailure(error, process, 'a query');
  }
}

/** A new batch, one of before, or a mixture. */
function nextBatch(
  { dice, tenants, name, whole }: ClientParts,
  before: readonly Batch[],
  action: number,
): Batch {
  if (before.length > 0 && dice.chance(0.15)) return dice.pick(before);
  const tenant = dice.pick(tenants);
  const entries = Array.from({ length: dice.between(1, 4) }, (_, i) =>
    newEntry(dice, whole, `${name} ${action} ${i}`),
  );
  if (before.length > 0 && dice.chance(0.3)) {
    const other = dice.pick(before);
    return { tenant: other.tenant, entries: [...entries, dice.pick(other.entries)] };
  }
  return { tenant, entries };
}

function newEntry(dice: Dice, { startNs, endNs }: Span, text: string): SimulatedEntry {
  const seconds = Number((endNs - startNs) / 1_000_000_000n);
  // Few different times: an hour's first seconds, with and without a nanosecond more.
  const second = BigInt(dice.below(Math.floor(seconds / 3600)) * 3600 + dice.below(3));
  const ns = startNs + second * 1_000_000_000n + BigInt(dice.below(2));
  const labels = { app: dice.pick(['a', 'b', 'c']), pod: dice.pick(['1', '2']) };
  // One line in three equals others: then the streams, times or metadata distinguish entries.
  const line = dice.chance(0.33) ? 'the same even line' : `${text} ${dice.chance(0.5) ? 'even' : 'odd'}`;
  const metadata: Record<string, string> = dice.chance(0.4) ? { trace: dice.pick(['x', 'y']) } : {};
  return { labels, ns, line, metadata };
}

/** Pushes until it is acknowledged, or until the client gives up. */
async function push(parts: ClientParts, first: Batch): Promise<void> {
  const { dice, time, model } = parts;
  let batch = first;
  let process = parts.anyProcess();
  for (let attempt = 0; attempt < MAX_TRIES; attempt++) {
    const { tenant, entries } = batch;
    model.attempt(tenant, entries);
    try {
      await sendPush(process, batch);
      model.acknowledge(tenant, entries);
      return;
    } catch (error) {
      checkFailure(error, process, 'a push');
    }
    await time.sleep(dice.between(1, 30));
    if (process.isDead || dice.chance(0.5)) process = parts.anyProcess();
    if (dice.chance(0.25)) {
      batch = {
        tenant,
        entries: [...entries, newEntry(dice, parts.whole, `${parts.name} again ${attempt}`)],
      };
    }
  }
}

/** Resolves when the process has acknowledged the batch. */
export async function sendPush(process: SimulatedProcess, { tenant, entries }: Batch): Promise<void> {
  const streams = entries.map(({ labels, ns, line, metadata }) => ({
    stream: labels,
    values: [[`${ns}`, line, metadata]],
  }));
  const request = {
    tenant,
    body: Buffer.from(JSON.stringify({ streams })),
    contentType: JSON_TYPE,
    contentEncoding: undefined,
    receiver: lokiReceiver(JSON_TYPE, false),
  };
  const outcome = await process.request(() => process.pushes.push(request, LIMITS, BODY_LIMITS));
  if (outcome.error !== undefined) throw outcome.error;
}

function checkFailure(error: unknown, process: SimulatedProcess, what: string): void {
  if (error instanceof Error && error.name === 'BrokenInvariantError') throw error;
  mustHold(INVARIANTS.failuresAreNamed, isFailureOfOutside(error), () => {
    const text = error instanceof Error ? (error.stack ?? error.message) : String(error);
    return `${what} at ${process.name}: ${text}`;
  });
}
