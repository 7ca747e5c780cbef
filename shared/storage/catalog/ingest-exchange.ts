/**
 * What processes that take pushes tell each other, so that limits hold for a tenant and not for each process: demand,
 * and the streams that they saw first. It is knowledge and no truth: all of it expires, nothing waits for it, and who
 * cannot read it goes on with what it knew.
 *
 *     x/<tenant>          <process>                       demand of a process; written again by it alone
 *     s/<tenant>/<hour>   <Unix ms, hex>/<process>/<part> streams that a process announced in that hour
 *
 * A reader would get wrong: an announcement is found by the time of its writer's clock, so who reads "since then" must
 * ask for somewhat more.
 */
import { MS_PER_HOUR } from '../../base/model/time-units.ts';
import type { Clock } from '../../base/ports/clock.ts';
import type { Item, Table } from '../../base/ports/table.ts';
import { timeText } from './keys.ts';

/** 32 KiB of an item: 5,000 streams, the limit by default, take two. */
const STREAMS_OF_ITEM = 4096;
const BYTES_OF_HASH = 8;
/** Items of one read; an account has 1,000 functions at once unless it asks for more. */
const MAX_DEMANDS = 4000;
/** Of one read: 8 MB. Far over any number of active streams that anybody allows. */
export const MAX_ANNOUNCED_STREAMS = 1_000_000;
/** A stream is active in its hour and the next; the rest is for clocks that differ. */
const ANNOUNCED_MS = 2 * MS_PER_HOUR + 600_000;

/** Bytes per second that were offered of one stream, by its hash. */
export type StreamDemand = readonly [hash: number, bytesPerSecond: number];

export interface Demand {
  /** Id of the process. */
  readonly process: string;
  /** Offered lately, taken or refused. */
  readonly bytesPerSecond: number;
  /** Taken since the process started. */
  readonly takenBytes: number;
  /** Of these, since its demand before this one. */
  readonly newBytes: number;
  /** Streams that come near their own limit. */
  readonly hotStreams: readonly StreamDemand[];
}

export class IngestExchange {
  readonly #table: Table;
  readonly #clock: Clock;

  constructor({ table, clock }: { table: Table; clock: Clock }) {
    this.#table = table;
    this.#clock = clock;
  }

  /** Replaces the demand of a process; others see it for `validMs`. */
  async tellDemand(tenant: string, demand: Demand, validMs: number): Promise<void> {
    const { process, ...rest } = demand;
    const body = Buffer.from(JSON.stringify(rest));
    const expiresAt = Math.ceil((this.#clock.nowMs() + validMs) / 1000);
    await this.#table.put({ pk: demandPartition(tenant), sk: process, version: 0, body, expiresAt });
  }

  /** What all processes told lately, the reader's own demand too. */
  async demands(tenant: string): Promise<Demand[]> {
    const demands: Demand[] = [];
    for await (const { sk, body } of this.#read(demandPartition(tenant), undefined)) {
      const told = JSON.parse(Buffer.from(body).toString()) as Omit<Demand, 'process'>;
      demands.push({ ...told, process: sk });
      if (demands.length === MAX_DEMANDS) break;
    }
    return demands;
  }

  /** Tells others that streams, given by their hashes, are active in an hour (hours since 1970). */
  async announce(
    tenant: string,
    { process, hour, hashes }: { process: string; hour: number; hashes: readonly number[] },
  ): Promise<void> {
    const expiresAt = Math.ceil((hour * MS_PER_HOUR + ANNOUNCED_MS) / 1000);
    const nowText = timeText(Math.trunc(this.#clock.nowMs()));
    for (let part = 0; part * STREAMS_OF_ITEM < hashes.length; part++) {
      const body = encodeHashes(hashes.slice(part * STREAMS_OF_ITEM, (part + 1) * STREAMS_OF_ITEM));
      const sk = `${nowText}/${process}/${part}`;
      await this.#table.put({ pk: streamPartition(tenant, hour), sk, version: 0, body, expiresAt });
    }
  }

  /** Hashes of streams announced for an hour from `sinceMs` (Unix ms) on, some of them twice. */
  async announced(tenant: string, hour: number, sinceMs: number): Promise<number[]> {
    const hashes: number[] = [];
    const from = timeText(Math.max(0, Math.trunc(sinceMs)));
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

/** See unmerged-chunks.ts; tenants have no slashes. */
export function backlogPartition(tenant: string): string {
  return `${demandPartition(tenant)}/unmerged`;
}

function streamPartition(tenant: string, hour: number): string {
  return `s/${tenant}/${hour}`;
}

/** Hashes are whole numbers below 2^53, so they are exact as doubles. */
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
