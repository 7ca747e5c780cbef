/** What the pool of query workers and its threads tell each other. */
import type { StorageOptions } from './storage.ts';

/** What a thread is started with. */
export interface WorkerData {
  /** Its objects are read. */
  readonly storage: StorageOptions;
  /** Of the thread's own cache. */
  readonly pageCacheBytes: number;
}

export type ToWorker =
  | { readonly kind: 'run'; readonly id: number; readonly task: Uint8Array }
  /** The answer is not wanted any more; the worker says so when it has stopped. */
  | { readonly kind: 'cancel'; readonly id: number };

export type ToPool =
  | { readonly kind: 'ready' }
  | { readonly kind: 'answer'; readonly id: number; readonly answer: Uint8Array }
  /** No answer: the task was cancelled, or its store cannot be opened. */
  | { readonly kind: 'failed'; readonly id: number; readonly message: string };
