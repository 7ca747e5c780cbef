/**
 * How far merging is behind pushing: what fills a merge and was not looked at by compaction since. Pushes that do not fill a merge yet,
 * and chunks that wait for their window to close, are not behind.
 *
 *     pushes --(filled)--> backlog --(ticket)--> compaction --(packed up to the ticket)--> backlog
 *
 * The bound is on the whole store, because one thread merges for all tenants. Beyond it only tenants with an equal share of it or more
 * are refused, beyond twice the bound all that are behind. So a tenant that pushes little does not wait for one that pushes much.
 */
import type { FilledDay, PackedDay } from './full-merges.ts';

/** Each chunk counts as so many bytes of lines at least: of small pushes the number is the work, not the bytes. */
export const MIN_CHUNK_BYTES = 64 * 1024;
/** Part of the bound from which on merging is urgent; it stays so until half of that is left. */
const URGENT_PART = 1 / 4;
/** Days counted at once, 200 bytes each; further ones are merged all the same. */
const MAX_DAYS = 10_000;

/** A day to merge, and what was told of it up to then. */
export interface PackTicket extends PackedDay {
  readonly through: number;
}

interface CountedDay {
  readonly tenant: string;
  toldBytes: number;
  packedBytes: number;
}

export interface MergeBacklogOptions {
  /** 0: no bound, and merging is never urgent. */
  readonly maxBytes: number;
  /** Called when it changes. Must not throw. */
  readonly onUrgency: (isUrgent: boolean) => void;
}

export class MergeBacklog {
  readonly maxBytes: number;
  readonly #onUrgency: (isUrgent: boolean) => void;
  readonly #days = new Map<string, CountedDay>();
  /** Bytes that are not zero. */
  readonly #tenants = new Map<string, number>();
  #bytes = 0;
  #refused = 0;
  #isUrgent = false;

  constructor({ maxBytes, onUrgency }: MergeBacklogOptions) {
    this.maxBytes = maxBytes;
    this.#onUrgency = onUrgency;
  }

  get bytes(): number {
    return this.#bytes;
  }

  /** Pushes, since the beginning. */
  get refused(): number {
    return this.#refused;
  }

  get isUrgent(): boolean {
    return this.#isUrgent;
  }

  /** To be given to compaction. */
  add({ tenant, day, chunks, lineBytes }: FilledDay): PackTicket {
    const name = nameOf({ tenant, day });
    let counted = this.#days.get(name);
    if (counted === undefined) {
      if (this.#days.size === MAX_DAYS) return { tenant, day, through: 0 };
      this.#days.set(name, (counted = { tenant, toldBytes: 0, packedBytes: 0 }));
    }
    const bytes = Math.max(lineBytes, chunks * MIN_CHUNK_BYTES);
    counted.toldBytes += bytes;
    this.#count(tenant, bytes);
    return { tenant, day, through: counted.toldBytes };
  }

  /** Compaction has looked at all that was told up to the ticket. */
  packed(ticket: PackTicket): void {
    const name = nameOf(ticket);
    const counted = this.#days.get(name);
    if (counted === undefined || ticket.through <= counted.packedBytes) return;
    const bytes = ticket.through - counted.packedBytes;
    counted.packedBytes = ticket.through;
    if (counted.packedBytes === counted.toldBytes) this.#days.delete(name);
    this.#count(counted.tenant, -bytes);
  }

  /** Whether a push of the tenant must wait; one that must is counted. */
  refuses(tenant: string): boolean {
    if (this.maxBytes === 0 || this.#bytes < this.maxBytes) return false;
    const ofTenant = this.#tenants.get(tenant) ?? 0;
    const isAllowed =
      this.#bytes < 2 * this.maxBytes ? ofTenant < this.maxBytes / this.#tenants.size : ofTenant === 0;
    if (!isAllowed) this.#refused++;
    return !isAllowed;
  }

  /** The thread that merges was lost with its tickets: its successor finds the days by itself. */
  forget(): void {
    this.#days.clear();
    this.#tenants.clear();
    this.#bytes = 0;
    this.#noteUrgency();
  }

  #count(tenant: string, bytes: number): void {
    const ofTenant = (this.#tenants.get(tenant) ?? 0) + bytes;
    if (ofTenant === 0) this.#tenants.delete(tenant);
    else this.#tenants.set(tenant, ofTenant);
    this.#bytes += bytes;
    this.#noteUrgency();
  }

  #noteUrgency(): void {
    const fromBytes = this.maxBytes * URGENT_PART * (this.#isUrgent ? 1 / 2 : 1);
    const isUrgent = this.#bytes > 0 && this.maxBytes > 0 && this.#bytes >= fromBytes;
    if (isUrgent === this.#isUrgent) return;
    this.#isUrgent = isUrgent;
    this.#onUrgency(isUrgent);
  }
}

function nameOf({ tenant, day }: PackedDay): string {
  return `${day}/${tenant}`;
}
