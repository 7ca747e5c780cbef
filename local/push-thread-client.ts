/**
 * The main thread's side of the thread for large pushes (push-thread.ts). A push of a tenant that works much is some milliseconds of
 * decoding, checking, grouping and packing, and its garbage is collected in the thread that made it: while others are there, they must not
 * meet that in each of the dozen rounds of the event loop that their requests take. Alone, a tenant is served soonest where it is.
 */
import type { ChunkRecord } from '../shared/catalog/chunk-record.ts';
import type { BodyLimits } from '../shared/ingest/body.ts';
import { nameOfInlet } from '../shared/ingest/named-inlets.ts';
import { MAYBE_LONG_BYTES, type PushesElsewhere } from '../shared/ingest/push.ts';
import type { PushHub } from '../shared/ingest/push-hub.ts';
import type { PushOutcome, PushRequest } from '../shared/ingest/push-work.ts';
import type { ClientError } from '../shared/model/errors.ts';
import type { Limits } from '../shared/model/limits.ts';
import { BoardOfThread } from './board-of-thread.ts';
import { entryBeside } from './entry-beside.ts';
import type { PushAnswer, PushAsk, PushCall, PushTell, PushThreadData } from './push-messages.ts';
import type { StorageOptions } from './storage.ts';
import { isLost, ThreadCalls } from './thread-calls.ts';
import { errorOf } from './thrown-errors.ts';

/** Under way at once, and bytes of their bodies; what comes beyond it is worked on here. */
const MAX_CALLS = 64;
const MAX_BODY_BYTES = 64 * 1024 * 1024;
const MAX_PUSH_BYTES = 256 * 1024 * 1024;
/** Labels and texts of streams; columns lie outside. */
const MAX_HEAP_MB = 512;
const NEVER = new AbortController().signal;

export interface PushThreadOptions {
  readonly storage: StorageOptions;
  readonly hub: PushHub;
  /** The file of the thread; default: the one beside this. */
  readonly entry?: URL;
  /** Unpacked and decoded pushes that it may hold together, see PushBudget. */
  readonly maxPushBytes?: number;
}

export class PushThread implements PushesElsewhere {
  private readonly hub: PushHub;
  private readonly board = new BoardOfThread();
  private readonly calls: ThreadCalls<PushCall, PushAnswer>;
  private bodyBytes = 0;

  /** The thread starts with the first push that is for it. */
  constructor({ storage, hub, entry, maxPushBytes = MAX_PUSH_BYTES }: PushThreadOptions) {
    const { grouping } = hub;
    this.hub = hub;
    const data: PushThreadData = {
      storage,
      grouping,
      maxPushBytes,
      board: this.board.memory,
    };
    this.calls = new ThreadCalls({
      entry: entry ?? entryBeside('push-thread'),
      data,
      maxHeapMb: MAX_HEAP_MB,
      hub: {
        reply: question => this.reply(question as PushAsk),
        hear: told => this.hear(told as PushTell),
      },
    });
  }

  /** Threads that were started. */
  get starts(): number {
    return this.calls.starts;
  }

  /** Pushes that it was given. */
  get pushes(): number {
    return this.calls.calls;
  }

  get running(): number {
    return this.calls.running;
  }

  /** See TenantLoadOptions. */
  beginBeside(tenant: string): (() => void) | undefined {
    return this.board.begin(tenant);
  }

  /** Where the thread is lost, the push is worked on here: what it had stored of it is stored once all the same. */
  async push(
    request: PushRequest,
    limits: Limits,
    bodyLimits: BodyLimits,
    here: () => Promise<PushOutcome>,
  ): Promise<PushOutcome> {
    const inlet = nameOfInlet(request.inlet);
    if (inlet === undefined || !this.takes(request)) return here();
    const { tenant, contentType, contentEncoding, backfillShard } = request;
    // A message takes all of the memory that a part of it lies in.
    const body = new Uint8Array(request.body);
    const plain = { tenant, body, contentType, contentEncoding, backfillShard };
    return (await this.send({ request: plain, inlet, limits, bodyLimits })) ?? here();
  }

  /** Ends the thread; what it is at rejects. */
  close(): Promise<void> {
    return this.calls.close();
  }

  private takes({ tenant, body }: PushRequest): boolean {
    if (body.length < MAYBE_LONG_BYTES || this.calls.running >= MAX_CALLS) return false;
    if (this.bodyBytes + body.length > MAX_BODY_BYTES) return false;
    return this.hub.load.worksMuch(tenant) && this.hub.isWanted(tenant);
  }

  /** Undefined where the thread has no room for it, or ended meanwhile. */
  private async send(call: PushCall): Promise<PushOutcome | undefined> {
    const { tenant, body } = call.request;
    const leave = this.board.enter(tenant);
    this.bodyBytes += body.length;
    try {
      const { ended, workedMs } = await this.calls.callOnce(call, NEVER);
      this.hub.load.noteBeside(workedMs, tenant);
      if (ended.kind === 'noRoom') return undefined;
      if (ended.kind === 'failed') throw errorOf(ended.error);
      const { error, ...outcome } = ended.outcome;
      return { ...outcome, error: error && (errorOf(error) as ClientError) };
    } catch (error) {
      if (isLost(error)) return undefined;
      throw error;
    } finally {
      this.bodyBytes -= body.length;
      leave();
    }
  }

  private async reply(question: PushAsk): Promise<unknown> {
    if (question.kind === 'rates') return this.hub.decideRates(question.tenant, question.asked);
    await this.hub.addChunks(question.records.map(withBuffers));
    return undefined;
  }

  private hear(told: PushTell): void {
    const { observer } = this.hub;
    switch (told.kind) {
      case 'received':
        observer.received(told.event);
        return;
      case 'refused':
        observer.refused(told.event);
        return;
      case 'mutated':
        observer.mutated?.(told.event);
        return;
      case 'written':
        this.hub.onWritten(told.group);
        return;
      case 'stored':
        this.hub.onStored(told.tenant, told.push);
        return;
      case 'storeFailed':
        this.hub.onFailed();
    }
  }
}

/** Structured cloning makes plain arrays of buffers. */
function withBuffers(record: ChunkRecord): ChunkRecord {
  return { ...record, inline: bufferOf(record.inline), footer: bufferOf(record.footer) };
}

function bufferOf(bytes: Uint8Array | undefined): Buffer | undefined {
  return bytes && Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}
