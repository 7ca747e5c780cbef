/**
 * Routes a repeated push to the ingest thread that handled it before. Only that thread recognizes it and does
 * not store it again. Any other push goes to the thread with the fewest running calls.
 *
 * A repeat is recognized by tenant, body size and samples of the body. Another push with the same key goes to
 * that thread too, unless the thread has many more running calls than others.
 */
import { LruCache } from '../../shared/base/model/lru.ts';
import { hashOfText } from '../../shared/base/model/text-hash.ts';
import type { PlainRequest } from './role-messages.ts';
import type { PooledThread, RolePool } from './role-pool.ts';

/** Covers the minutes in which agents repeat a push. Each entry takes about 100 bytes. */
const MAX_PUSHES = 20_000;
/**
 * Length of each of three samples: at the beginning, in the middle and at the end, because times and lines
 * differ there.
 */
const SAMPLE_BYTES = 128;
/** A thread gets no repeats if it has more running calls than the least busy one plus this number. */
const MAX_MORE_CALLS = 32;

type RoutedPush = Pick<PlainRequest, 'tenants' | 'body'>;

export class PushAffinity<Thread extends PooledThread> {
  readonly #pool: RolePool<Thread>;
  readonly #recent = new LruCache<number, Thread>(MAX_PUSHES);

  constructor(pool: RolePool<Thread>) {
    this.#pool = pool;
  }

  pick(push: RoutedPush): Thread {
    // A single thread gets all pushes, so it also gets the repeated ones.
    if (this.#pool.max === 1) return this.#pool.pick();
    const key = keyOf(push);
    const least = this.#pool.pick();
    const before = this.#recent.get(key);
    if (before?.isReady && before.running <= least.running + MAX_MORE_CALLS) return before;
    this.#recent.set(key, least);
    return least;
  }
}

function keyOf({ tenants, body }: RoutedPush): number {
  const bytes = Buffer.from(body.buffer, body.byteOffset, body.length);
  const middle = Math.floor(body.length / 2);
  const samples = [0, middle, Math.max(0, body.length - SAMPLE_BYTES)].map(at =>
    bytes.latin1Slice(at, Math.min(at + SAMPLE_BYTES, body.length)),
  );
  return hashOfText(`${tenants?.kind === 'resolved' ? tenants.key : ''} ${body.length} ${samples.join(' ')}`);
}
