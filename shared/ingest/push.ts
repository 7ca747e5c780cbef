/** One push, from its body to durable: decode, validate, commit. */
import { createHash } from 'node:crypto';
import type { Limits } from '../model/limits.ts';
import { LruCache } from '../model/lru.ts';
import type { Clock } from '../ports/clock.ts';
import { acceptPush } from './accept.ts';
import { type BodyLimits, decompressBody } from './body.ts';
import { type PushFormat, pushFormat } from './content.ts';
import type { GroupCommitter } from './group-commit.ts';
import { decodeJsonPush } from './json-push.ts';
import { decodeLegacyJsonPush } from './legacy-json-push.ts';
import { decodeProtobufPush } from './protobuf-push.ts';
import { bytesOfColumns, PushBudget } from './push-budget.ts';
import type { PushColumns } from './push-columns.ts';
import { releaseUncompressed } from './snappy.ts';

export interface PushRequest {
  readonly tenant: string;
  readonly body: Uint8Array;
  readonly contentType: string | undefined;
  readonly contentEncoding: string | undefined;
  /** The JSON shape of the deprecated endpoint (wire-format reference, 8). */
  readonly legacyJson: boolean;
}

/** Pushes remembered as stored: what a client repeats after a lost answer comes within seconds. */
const REMEMBERED_PUSHES = 20_000;
const REMEMBERED_MS = 300_000;

export class PushService {
  private readonly committer: GroupCommitter;
  private readonly clock: Clock;
  private readonly budget = new PushBudget();
  /** Ids of pushes that were stored whole, with the time (ms). */
  private readonly stored = new LruCache<string, number>(REMEMBERED_PUSHES);

  constructor(committer: GroupCommitter, clock: Clock) {
    this.committer = committer;
    this.clock = clock;
  }

  /**
   * Resolves when all entries are durable and visible. Throws ClientError; where only some entries are at fault, the
   * others are stored first.
   */
  async push(request: PushRequest, limits: Limits, bodyLimits: BodyLimits): Promise<void> {
    const id = pushId(request);
    const storedAt = this.stored.get(id);
    if (storedAt !== undefined && this.clock.nowMs() - storedAt < REMEMBERED_MS) return;
    const format = pushFormat(request.contentType);
    const held = this.budget.open();
    try {
      const bytes = await decompressBody(request.body, request, bodyLimits, held);
      try {
        const columns = decode(bytes, format, request.legacyJson);
        held.take(bytesOfColumns(columns));
        await this.store(request, columns, limits, id);
      } finally {
        // Stored or refused: nothing points into the body any more.
        if (format === 'protobuf') releaseUncompressed(bytes);
      }
    } finally {
      held.release();
    }
    this.stored.set(id, this.clock.nowMs());
  }

  private async store(
    { tenant }: PushRequest,
    columns: PushColumns,
    limits: Limits,
    id: string,
  ): Promise<void> {
    const { accepted, error } = acceptPush(columns, { tenant, limits, nowNs: this.clock.nowNs() });
    if (accepted.entries.length > 0) await this.committer.commit(tenant, accepted, id);
    if (error !== undefined) throw error;
  }
}

function decode(bytes: Buffer, format: PushFormat, legacyJson: boolean): PushColumns {
  if (format === 'protobuf') return decodeProtobufPush(bytes);
  return legacyJson ? decodeLegacyJsonPush(bytes) : decodeJsonPush(bytes);
}

/** Taken before any grouping, so that a retry has the id of what it repeats. */
function pushId({ tenant, contentType, contentEncoding, legacyJson, body }: PushRequest): string {
  return createHash('sha256')
    .update(JSON.stringify([tenant, contentType, contentEncoding, legacyJson]))
    .update(body)
    .digest('hex')
    .slice(0, 32);
}
