/**
 * The thread that works on large pushes of who works much, while others want the main one: from the body to objects that are durable.
 * What it may store the main thread says, and it makes the chunks visible. Runs from the source tree and from the package.
 */
import { parentPort, workerData } from 'node:worker_threads';
import type { ChunkRecord } from '../shared/catalog/chunk-record.ts';
import { packInThisThread } from '../shared/chunk/compression.ts';
import type { ChunkFigures } from '../shared/ingest/group-commit.ts';
import { inletNamed } from '../shared/ingest/named-inlets.ts';
import { NoRoomError, PushBudget } from '../shared/ingest/push-budget.ts';
import { PushTurns } from '../shared/ingest/push-turns.ts';
import { PushWork } from '../shared/ingest/push-work.ts';
import { admitBy, type RateDecision } from '../shared/ingest/rates/rate-decision.ts';
import { RequestBoard } from '../shared/query/request-board.ts';
import { ObservedCommitter } from '../shared/usage/observed-committer.ts';
import { openObjectStore } from './open-object-store.ts';
import type { PushAnswer, PushAsk, PushCall, PushTell, PushThreadData } from './push-messages.ts';
import { SameLimits } from './same-limits.ts';
import { systemClock, systemIds } from './system-clock.ts';
import type { FromThread, ToThread } from './thread-calls.ts';
import { lowerThreadPriority } from './thread-priority.ts';
import { errorOf, thrownOf } from './thrown-errors.ts';

if (parentPort === null) throw new Error('push-thread.ts is run as a worker thread');
const port = parentPort;
lowerThreadPriority();
packInThisThread();
/** Of what the main thread has not answered, by number. */
const awaited = new Map<number, PromiseWithResolvers<unknown>>();
let nextAsk = 1;
/** Worked for each tenant that was not told yet, ms. */
const worked = new Map<string, number>();
const sameLimits = new SameLimits();
const opened = openWork(workerData as PushThreadData);
// Without a store it is of no use, and its pushes are worked on in the main thread.
opened.catch(() => process.exit(1));

port.on('message', (message: ToThread<PushCall>) => {
  if (message.kind === 'call') void answer(message.id, message.call);
  else if (message.kind === 'reply') take(message.id)?.resolve(message.reply);
  else if (message.kind === 'refused') take(message.id)?.reject(errorOf(message.error));
});

async function answer(id: number, { request, inlet, limits, bodyLimits }: PushCall): Promise<void> {
  const { tenant } = request;
  const work = await opened;
  const ended = await work
    .push({ ...request, inlet: inletNamed(inlet) }, sameLimits.of(tenant, limits), bodyLimits)
    .then(
      ({ stored, error, isWhole }): PushAnswer['ended'] => ({
        kind: 'done',
        outcome: { stored: new Uint32Array(stored), error: error && thrownOf(error), isWhole },
      }),
      (error: unknown): PushAnswer['ended'] =>
        error instanceof NoRoomError ? { kind: 'noRoom' } : { kind: 'failed', error: thrownOf(error) },
    );
  const workedMs = worked.get(tenant) ?? 0;
  worked.delete(tenant);
  send({ kind: 'answer', id, answer: { ended, workedMs } });
}

async function openWork(data: PushThreadData): Promise<PushWork> {
  const turns = turnsOf(data);
  const committer = new ObservedCommitter(
    {
      store: await openObjectStore(data.storage),
      catalog: { addChunks: records => publish(records) },
      clock: systemClock,
      ids: systemIds,
      options: data.grouping,
      onWritten: group =>
        tell({ kind: 'written', group: { ...group, records: group.records.map(figuresOf) } }),
      turns,
    },
    (tenant, push) => tell({ kind: 'stored', tenant, push }),
    () => tell({ kind: 'storeFailed' }),
  );
  return new PushWork({
    committer,
    clock: systemClock,
    observer: {
      received: event => tell({ kind: 'received', event }),
      refused: event => tell({ kind: 'refused', event }),
      mutated: event => tell({ kind: 'mutated', event }),
    },
    rates: {
      admit: (tenant, _limits, result) =>
        admitBy(tenant, result, async asked => (await ask({ kind: 'rates', tenant, asked })) as RateDecision),
    },
    turns,
    budget: new PushBudget(data.maxPushBytes),
  });
}

function turnsOf({ board: memory }: PushThreadData): PushTurns {
  const board = new RequestBoard({ memory });
  return new PushTurns({
    sleep: ms => board.rest(ms),
    load: {
      nowMs: () => performance.now(),
      note(startedMs, tenant) {
        const workedMs = performance.now() - startedMs;
        worked.set(tenant, (worked.get(tenant) ?? 0) + workedMs);
        board.note(workedMs);
      },
      waitMs: (_, times) => board.waitMs(times),
    },
  });
}

async function publish(records: readonly ChunkRecord[]): Promise<void> {
  await ask({ kind: 'publish', records });
}

/** The bytes that lie in a record were sent once. */
function figuresOf({ storedBytes, lineBytes, rows, first, last }: ChunkFigures): ChunkFigures {
  return { storedBytes, lineBytes, rows, first, last };
}

function ask(question: PushAsk): Promise<unknown> {
  const id = nextAsk++;
  const answered = Promise.withResolvers<unknown>();
  awaited.set(id, answered);
  send({ kind: 'ask', id, ask: question });
  return answered.promise;
}

function take(id: number): PromiseWithResolvers<unknown> | undefined {
  const answered = awaited.get(id);
  awaited.delete(id);
  return answered;
}

function tell(what: PushTell): void {
  send({ kind: 'tell', tell: what });
}

function send(message: FromThread<PushAnswer>): void {
  port.postMessage(message);
}
