/**
 * Lets many functions write the indexes of one day at the same time, as they merge it (shared/upkeep/compaction/merge-crew.ts). The
 * function that holds the lease of the day's index sync calls the others, each for the index of one window and part of the streams.
 * They hold the lease of that index, store it and publish nothing. One write of the day's item publishes all of them.
 *
 *     holder of the sync --task--> other function: reads the day and footers, stores an index
 *                        <-answer-- record of the index
 */
import type { Invoker } from '../../base/ports/invoker.ts';
import type { IndexRecord } from '../catalog/day-item.ts';

export interface IndexTask {
  readonly tenant: string;
  readonly day: number;
  readonly fromMinute: number;
  readonly streamPart: number;
}

/** Calls other functions to write indexes. */
export interface IndexHelpers {
  /** Maximum number of concurrent calls for one day. */
  readonly most: number;
  /** Throws what ends the other function, or its call, and the signal's reason. */
  write(task: IndexTask, signal: AbortSignal): Promise<IndexRecord>;
}

/** Field of the JSON text that merges do not have. The same function runs both. */
const FIELD = 'index';

export function indexHelpersOf(invoker: Pick<Invoker, 'invoke'>, most: number): IndexHelpers {
  return {
    most,
    async write(task, signal) {
      const text = Buffer.from(JSON.stringify({ [FIELD]: task }));
      const answer = await invoker.invoke(text, { signal, affinity: 0 });
      return JSON.parse(Buffer.from(answer).toString()) as IndexRecord;
    },
  };
}

/** Returns the task that is the value of its JSON, or undefined if it is a task of another kind. */
export function indexTaskOf(text: object): IndexTask | undefined {
  return (text as { readonly [FIELD]?: IndexTask })[FIELD];
}

export function indexAnswer(record: IndexRecord): Uint8Array {
  return Buffer.from(JSON.stringify(record));
}
