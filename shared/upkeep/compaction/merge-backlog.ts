/**
 * Measures how far merging is behind pushing: pushes that fill a merge and that compaction has not processed
 * yet. Pushes that do not fill a merge yet, and chunks that wait for their window to close, do not count.
 *
 *     pushes --(filled)--> backlog --(ticket)--> compaction --(merged up to the ticket)--> backlog
 *
 * The limit is for the whole store, because the same threads merge for all tenants. Above it, only tenants that
 * have at least an equal share of the backlog are refused. Above twice the limit, all tenants with a backlog
 * are. So a light tenant does not wait for a heavy one.
 */
import type { FilledDay, TenantDay } from './full-merges.ts';

/**
 * Each chunk counts as at least this many bytes of lines: for small pushes, the number of chunks is the work.
 */
export const MIN_CHUNK_BYTES = 64 * 1024;
/** Merging is urgent from this share of the limit on, until half of that is left. */
const URGENT_PART = 1 / 4;
/** Maximum number of days counted at once, 200 bytes each. Further days are merged too, but not counted. */
const MAX_DAYS = 10_000;

/** A day to merge, with the amounts that were reported for it so far. */
export interface MergeTicket extends TenantDay {
  readonly through: number;
}

interface CountedDay {
  readonly tenant: string;
  reportedBytes: number;
  mergedBytes: number;
}

interface MergeBacklogOptions {
  /** 0: no limit, and merging is never urgent. */
  readonly maxBytes: number;
  /** Called when the urgency changes. Must not throw. */
  readonly onUrgency: (isUrgent: boolean) => void;
}

export class MergeBacklog {
  readonly maxBytes: number;
  readonly #onUrgency: (isUrgent: boolean) => void;
  readonly #days = new Map<string, CountedDay>();
  /** Only tenants with a backlog. */
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

  /** Number of refused pushes since the start. */
  get refused(): number {
    return this.#refused;
  }

  get isUrgent(): boolean {
    return this.#isUrgent;
  }

  /** Counts a day. The ticket is for compaction. */
  add({ tenant, day, chunks, lineBytes }: FilledDay): MergeTicket {
    const name = nameOf({ tenant, day });
    let counted = this.#days.get(name);
    if (counted === undefined) {
      if (this.#days.size === MAX_DAYS) return { tenant, day, through: 0 };
      this.#days.set(name, (counted = { tenant, reportedBytes: 0, mergedBytes: 0 }));
    }
    const bytes = Math.max(lineBytes, chunks * MIN_CHUNK_BYTES);
    counted.reportedBytes += bytes;
    this.#count(tenant, bytes);
    return { tenant, day, through: counted.reportedBytes };
  }

  /** Called when compaction has processed everything that was counted up to the ticket. */
  merged(ticket: MergeTicket): void {
    const name = nameOf(ticket);
    const counted = this.#days.get(name);
    if (counted === undefined || ticket.through <= counted.mergedBytes) return;
    const bytes = ticket.through - counted.mergedBytes;
    counted.mergedBytes = ticket.through;
    if (counted.mergedBytes === counted.reportedBytes) this.#days.delete(name);
    this.#count(counted.tenant, -bytes);
  }

  /** Returns whether a push of the tenant must be refused, and counts it if so. */
  refuses(tenant: string): boolean {
    if (this.maxBytes === 0 || this.#bytes < this.maxBytes) return false;
    const bytesOfTenant = this.#tenants.get(tenant) ?? 0;
    const isAllowed =
      this.#bytes < 2 * this.maxBytes
        ? bytesOfTenant < this.maxBytes / this.#tenants.size
        : bytesOfTenant === 0;
    if (!isAllowed) this.#refused++;
    return !isAllowed;
  }

  /** Called when the merging thread was lost with its tickets. Its successor finds the days by itself. */
  forget(): void {
    this.#days.clear();
    this.#tenants.clear();
    this.#bytes = 0;
    this.#noteUrgency();
  }

  #count(tenant: string, bytes: number): void {
    const bytesOfTenant = (this.#tenants.get(tenant) ?? 0) + bytes;
    if (bytesOfTenant === 0) this.#tenants.delete(tenant);
    else this.#tenants.set(tenant, bytesOfTenant);
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

function nameOf({ tenant, day }: TenantDay): string {
  return `${day}/${tenant}`;
}
