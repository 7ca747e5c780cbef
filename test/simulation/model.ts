/**
 * The simple model that a run is compared with: the entries that were ever sent to the store, and those that
 * it acknowledged, each with the moment. Moments are a count of such events, not times: virtual time often
 * does not move.
 */
import { formatLabels, labelsOf } from '../../shared/base/model/labels.ts';

export interface SimulatedEntry {
  readonly labels: Readonly<Record<string, string>>;
  readonly ns: bigint;
  readonly line: string;
  readonly metadata: Readonly<Record<string, string>>;
}

export interface KnownEntry extends SimulatedEntry {
  /** Identity of an entry. */
  readonly id: string;
  /** Canonical text of the labels. */
  readonly stream: string;
  /** Moment of the first acknowledgement; Infinity before. */
  acknowledgedAt: number;
}

export function idOf(
  stream: string,
  ns: bigint,
  line: string,
  metadata: Iterable<readonly [string, string]>,
) {
  return JSON.stringify([stream, ns.toString(), line, [...metadata].sort()]);
}

export class Model {
  #moment = 0;
  readonly #tenants = new Map<string, Map<string, KnownEntry>>();

  /** Now, as a moment: everything acknowledged at or before it must be in what begins after. */
  now(): number {
    return this.#moment;
  }

  /** Call it before the store is called: from now on the entries may be found. */
  attempt(tenant: string, entries: readonly SimulatedEntry[]): void {
    const known = this.#of(tenant);
    for (const entry of entries) {
      const stream = formatLabels(labelsOf(entry.labels));
      const id = idOf(stream, entry.ns, entry.line, Object.entries(entry.metadata));
      if (!known.has(id)) known.set(id, { ...entry, id, stream, acknowledgedAt: Infinity });
    }
  }

  /** Call it as soon as the store has acknowledged: from now on, queries must find the entries. */
  acknowledge(tenant: string, entries: readonly SimulatedEntry[]): void {
    const moment = ++this.#moment;
    const known = this.#of(tenant);
    for (const entry of entries) {
      const stream = formatLabels(labelsOf(entry.labels));
      const one = known.get(idOf(stream, entry.ns, entry.line, Object.entries(entry.metadata)))!;
      one.acknowledgedAt = Math.min(one.acknowledgedAt, moment);
    }
  }

  /** Everything that was ever attempted, by id. */
  entries(tenant: string): ReadonlyMap<string, KnownEntry> {
    return this.#of(tenant);
  }

  /** Tenants with entries. */
  get names(): readonly string[] {
    return [...this.#tenants.keys()];
  }

  #of(tenant: string): Map<string, KnownEntry> {
    let known = this.#tenants.get(tenant);
    if (known === undefined) this.#tenants.set(tenant, (known = new Map()));
    return known;
  }
}
