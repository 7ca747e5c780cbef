/**
 * Encodes one planned merge and its result, so that another function can run it (merge-crew.ts). That function holds the lease
 * of the part (part-lease.ts), stores the outputs and publishes nothing. If its response is lost, the outputs are orphans.
 *
 *     holder of the day's lease --task--> other function: reads inputs, stores outputs
 *                               <-answer-- records of the outputs, and the omitted rows
 */
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Invoker } from '../../base/ports/invoker.ts';
import type { Catalog } from '../../storage/catalog/catalog.ts';
import { type ChunkRecord, decodeRecord, encodeRecord } from '../../storage/catalog/chunk-record.ts';
import { type MergeOutcome, type MergeParts, writeOutputs } from './merge-and-swap.ts';
import { underPartLease } from './part-lease.ts';
import type { PlannedMerge } from './plan-merges.ts';
import { type AppliedRequest, type DropSource, dropNothing } from './row-drops.ts';

export interface MergeTask extends PlannedMerge {
  readonly tenant: string;
  readonly day: number;
}

/** Outputs that another function has stored. */
export interface MergeAnswer extends MergeOutcome {
  /** Delete requests that were applied: if one is canceled, the outputs must not be published. */
  readonly applied: readonly AppliedRequest[];
}

/** Calls other functions to merge for the function that holds the lease of a day. */
export interface MergeHelpers {
  /** Maximum number of concurrent merges of one tenant's day. */
  readonly most: number;
  /** Bytes of lines for each function. Default: HELPER_BYTES. */
  readonly bytesEach?: number;
  /** Minimum number of merges to hand out. Default 2: for a single one, the planning function would only wait. */
  readonly fewest?: number;
  /** Throws what ends the other function, or its call, and the signal's reason. */
  merge(task: MergeTask, signal: AbortSignal): Promise<MergeAnswer>;
}

/** Parts that a task needs to run. */
interface MergeTaskParts extends Omit<MergeParts, 'catalog'> {
  readonly catalog: Pick<Catalog, 'leases'>;
  readonly drops?: DropSource;
}

interface MergeTaskText extends Omit<MergeTask, 'inputs'> {
  readonly inputs: readonly string[];
}

interface AnswerText extends Omit<MergeAnswer, 'inputs' | 'added'> {
  /** Number of inputs that were merged, from the first on. The others did not fit in one merge. */
  readonly merged: number;
  readonly added: readonly string[];
}

export function helpersOf(
  invoker: Pick<Invoker, 'invoke'>,
  options: Omit<MergeHelpers, 'merge'>,
): MergeHelpers {
  return {
    ...options,
    async merge(task, signal) {
      const text: MergeTaskText = { ...task, inputs: task.inputs.map(textOfRecord) };
      const answer = await invoker.invoke(bytesOf(text), { signal, affinity: 0 });
      const { merged, added, ...rest } = JSON.parse(Buffer.from(answer).toString()) as AnswerText;
      return {
        ...rest,
        inputs: task.inputs.slice(0, merged),
        added: added.map(one => recordOfText(task, one)),
      };
    },
  };
}

/** Runs an encoded task and returns its encoded result. */
export type MergeTaskRunner = (bytes: Uint8Array, signal: AbortSignal) => Promise<Uint8Array>;

/**
 * Runs a task, the value of its JSON, under the lease of its part, and returns the encoded result. Throws what merges throw. The
 * caller then does the merge itself.
 */
export async function runMergeTask(
  parts: MergeTaskParts,
  text: object,
  signal: AbortSignal,
): Promise<Uint8Array> {
  const { inputs: texts, ...planned } = text as MergeTaskText;
  const task = { ...planned, inputs: texts.map(one => recordOfText(planned, one)) };
  const goOn = async () => {
    await nextTurn();
    signal.throwIfAborted();
  };
  return underPartLease(parts.catalog.leases, task, goOn, async renew => {
    // Delete requests are read after the day and before the merge. Later ones are applied to the outputs.
    const drops = await (parts.drops?.dropsOf(task.tenant) ?? dropNothing(parts.clock));
    const hold = async () => {
      await renew();
      await drops.check();
    };
    const { inputs, added, ...rest } = await writeOutputs(parts, { ...task, drops, signal, hold });
    const { applied } = drops;
    return bytesOf({ ...rest, applied, merged: inputs.length, added: added.map(textOfRecord) });
  });
}

function bytesOf(text: MergeTaskText | AnswerText): Uint8Array {
  return Buffer.from(JSON.stringify(text));
}

function textOfRecord(record: ChunkRecord): string {
  return encodeRecord(record).toString('base64');
}

/** Throws CorruptionError. */
function recordOfText({ tenant, day }: Pick<MergeTask, 'tenant' | 'day'>, text: string): ChunkRecord {
  return decodeRecord(tenant, day, Buffer.from(text, 'base64'));
}
