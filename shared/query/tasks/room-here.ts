/**
 * How much of a query is scanned in the thread that plans it. A small query is answered soonest where it is planned. A large one
 * must not keep others waiting: where pushes wait for the thread, or another tenant has work for it, less of it is scanned here,
 * and the system shares the cores between this thread and those that scan, which run at a lower priority
 * (local/thread-priority.ts).
 */

/**
 * Of a query, where the thread is wanted: up to 10 ms in turns of one page. A panel over some minutes, or one that reads columns
 * alone, stays here.
 */
const WANTED_BYTES = 2 * 1024 * 1024;
/** Who asked or pushed so lately does it again: dashboards refresh, collectors push every second or so. */
const RECENT_MS = 5_000;

/**
 * Bytes, as costOf counts them, that a query of the tenant may scan where it is planned.
 * @param usual how many where nobody else wants the thread; may be infinite
 */
export type RoomHere = (tenant: string, usual: number) => number;

/** The same whatever goes on. */
export const usualRoom: RoomHere = (_tenant, usual) => usual;

export interface WantedRoomParts {
  /** True where pushes are under way and the thread has no time left. */
  readonly isPressed: () => boolean;
  /** Unix ms. */
  readonly nowMs: () => number;
}

interface Seen {
  readonly tenant: string;
  readonly atMs: number;
}

/** Of one thread. */
export class WantedRoom {
  private readonly parts: WantedRoomParts;
  /** The tenant that came last, and the last one before it that was another: more need not be known. */
  private last: Seen | undefined;
  private other: Seen | undefined;

  constructor(parts: WantedRoomParts) {
    this.parts = parts;
  }

  /** To be called with each push and query. Several tenants of one query, joined, are one more. */
  note(tenant: string): void {
    const { last } = this;
    if (last !== undefined && last.tenant !== tenant) this.other = last;
    this.last = { tenant, atMs: this.parts.nowMs() };
  }

  readonly of: RoomHere = (tenant, usual) =>
    this.hasOthers(tenant) || this.parts.isPressed() ? Math.min(usual, WANTED_BYTES) : usual;

  /** Another tenant has asked or pushed lately. */
  hasOthers(tenant: string): boolean {
    const seen = this.last?.tenant === tenant ? this.other : this.last;
    return seen !== undefined && this.parts.nowMs() - seen.atMs < RECENT_MS;
  }
}
