/**
 * Sends a push that comes again to the thread that had it before. That thread recognizes it, and does not store it again; other threads
 * know nothing of it. All other pushes go to the thread with the least to do.
 *
 * A repeat is found by the tenant, the size of the body and samples of it: where other pushes have the same, they go to that thread, too,
 * as long as it has not much more to do than others.
 */
import { LruCache } from '../../shared/base/model/lru.ts';
import { hashOfText } from '../../shared/base/model/text-hash.ts';
import type { PlainRequest } from './role-messages.ts';
import type { PooledThread, RolePool } from './role-pool.ts';

/** More than come within the minutes in which agents repeat a push; some 100 bytes each. */
const MAX_PUSHES = 20_000;
/** At the beginning, in the middle and at the end: times and lines differ there. */
const SAMPLE_BYTES = 128;
/** A thread that has so many calls more than another one is passed over. */
const MAX_MORE_CALLS = 32;

type Push = Pick<PlainRequest, 'headers' | 'body'>;

export class PushAffinity<Thread extends PooledThread> {
  readonly #pool: RolePool<Thread>;
  readonly #recent = new LruCache<number, Thread>(MAX_PUSHES);

  constructor(pool: RolePool<Thread>) {
    this.#pool = pool;
  }

  pick(push: Push): Thread {
    const key = keyOf(push);
    const least = this.#pool.pick();
    const before = this.#recent.get(key);
    if (before?.isReady && before.running <= least.running + MAX_MORE_CALLS) return before;
    this.#recent.set(key, least);
    return least;
  }
}

function keyOf({ headers, body }: Push): number {
  const bytes = Buffer.from(body.buffer, body.byteOffset, body.length);
  const middle = Math.floor(body.length / 2);
  const samples = [0, middle, Math.max(0, body.length - SAMPLE_BYTES)].map(at =>
    bytes.latin1Slice(at, Math.min(at + SAMPLE_BYTES, body.length)),
  );
  return hashOfText(`${headers['x-scope-orgid']} ${body.length} ${samples.join(' ')}`);
}
