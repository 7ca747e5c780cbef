/**
 * Data that ingesting processes share, so that limits hold for a tenant and not for each process: demand, and the
 * streams that a process saw first. The data is a hint only: it expires, no request waits for it, and a process that
 * cannot read it continues with its last copy.
 *
 *     x/<tenant>          <process>                       demand of a process; written again by it alone
 *     s/<tenant>/<hour>   <Unix ms, hex>/<process>/<part> streams that a process announced in that hour
 *
 * Pitfall: an announcement is stored under the time of its writer's clock. A reader that needs everything since a time
 * must therefore start somewhat earlier.
 */
import { MS_PER_HOUR } from '../../base/model/time-units.ts';
import type { Clock } from '../../base/ports/clock.ts';
import type { Item, Table } from '../../base/ports/table.ts';
import { timeKeyText } from './keys.ts';

/** Hashes in one item of 32 KiB. 5,000 streams, the default limit, need two items. */
const STREAMS_OF_ITEM = 4096;
const BYTES_OF_HASH = 8;
/** Maximum number of demands of one read. An account runs 1,000 concurrent functions unless the quota is raised. */
const MAX_DEMANDS = 4000;
/** Maximum number of hashes of one read: 8 MB. Far above any realistic limit on active streams. */
export const MAX_ANNOUNCED_STREAMS = 1_000_000;
/** Validity of an announcement, ms. A stream is active in its hour and the next; 10 minutes cover clock differences. */
const ANNOUNCED_MS = 2 * MS_PER_HOUR + 600_000;

/** Bytes per second offered to one stream, which is named by its hash. */
export type StreamDemand = readonly [hash: number, bytesPerSecond: number];

export interface Demand {
  /** ID of the process. */
  readonly process: string;
  /** Bytes per second offered recently, accepted or refused. */
  readonly bytesPerSecond: number;
  /** Bytes accepted since the process started. */
  readonly takenBytes: number;
  /** Bytes of `takenBytes` that were accepted since the previous demand. */
  readonly newBytes: number;
  /** Streams close to their own limit. */
  readonly hotStreams: readonly StreamDemand[];
}

export class IngestExchange {
  readonly #table: Table;
  readonly #clock: Clock;

  constructor({ table, clock }: { table: Table; clock: Clock }) {
    this.#table = table;
    this.#clock = clock;
  }

  /** Replaces the demand of a process. Other processes see it for `validMs`. */
  async publishDemand(tenant: string, demand: Demand, validMs: number): Promise<void> {
    const { process, ...rest } = demand;
    const body = Buffer.from(JSON.stringify(rest));
    const expiresAt = Math.ceil((this.#clock.nowMs() + validMs) / 1000);
    await this.#table.put({ pk: demandPartition(tenant), sk: process, version: 0, body, expiresAt });
  }

  /** Current demands of all processes, including the reader's own. */
  async demands(tenant: string): Promise<Demand[]> {
    const demands: Demand[] = [];
    for await (const { sk, body } of this.#read(demandPartition(tenant), undefined)) {
      const demand = JSON.parse(Buffer.from(body).toString()) as Omit<Demand, 'process'>;
      demands.push({ ...demand, process: sk });
      if (demands.length === MAX_DEMANDS) break;
    }
    return demands;
  }

  /** Announces to other processes that streams, given by their hashes, are active in an hour (hours since 1970). */
  async announce(
    tenant: string,
    { process, hour, hashes }: { process: string; hour: number; hashes: readonly number[] },
  ): Promise<void> {
    const expiresAt = Math.ceil((hour * MS_PER_HOUR + ANNOUNCED_MS) / 1000);
    const nowText = timeKeyText(Math.trunc(this.#clock.nowMs()));
    for (let part = 0; part * STREAMS_OF_ITEM < hashes.length; part++) {
      const body = encodeHashes(hashes.slice(part * STREAMS_OF_ITEM, (part + 1) * STREAMS_OF_ITEM));
      const sk = `${nowText}/${process}/${part}`;
      await this.#table.put({ pk: streamPartition(tenant, hour), sk, version: 0, body, expiresAt });
    }
  }

  /** Hashes of streams announced for an hour since `sinceMs` (Unix ms). May contain duplicates. */
  async announced(tenant: string, hour: number, sinceMs: number): Promise<number[]> {
    const hashes: number[] = [];
    const from = timeKeyText(Math.max(0, Math.trunc(sinceMs)));
    for await (const { body } of this.#read(streamPartition(tenant, hour), from)) {
      decodeHashes(body, hashes);
      if (hashes.length >= MAX_ANNOUNCED_STREAMS) break;
    }
    return hashes;
  }

  async *#read(pk: string, from: string | undefined): AsyncGenerator<Item> {
    let after: string | undefined;
    do {
      const page = await this.#table.query(pk, { from, after });
      yield* page.items;
      after = page.next;
    } while (after !== undefined);
  }
}

function demandPartition(tenant: string): string {
  return `x/${tenant}`;
}

/** Partition of unmerged-chunks.ts. It is unambiguous because tenants have no slashes. */
export function backlogPartition(tenant: string): string {
  return `${demandPartition(tenant)}/unmerged`;
}

function streamPartition(tenant: string, hour: number): string {
  return `s/${tenant}/${hour}`;
}

/** Encodes hashes as doubles, which are exact because hashes are integers below 2^53. */
function encodeHashes(hashes: readonly number[]): Buffer {
  const body = Buffer.alloc(hashes.length * BYTES_OF_HASH);
  for (let i = 0; i < hashes.length; i++) body.writeDoubleLE(hashes[i], i * BYTES_OF_HASH);
  return body;
}

function decodeHashes(body: Uint8Array, into: number[]): void {
  const view = new DataView(body.buffer, body.byteOffset, body.byteLength);
  for (let at = 0; at + BYTES_OF_HASH <= body.byteLength; at += BYTES_OF_HASH) {
    into.push(view.getFloat64(at, true));
  }
}
