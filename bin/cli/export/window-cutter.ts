/**
 * Cuts the parts of an export into windows of time with about as many bytes as an answer should have, as the answers before tell. Windows
 * that are asked for together lie side by side: what the store unpacks for one of them is there for the next.
 */
import type { TimeWindow } from '../migrate/log-source.ts';

/** Of the first window. */
const FIRST_SPAN_NS = 60_000_000_000n;
/** A window is at most so many times as long as the one that it is measured by: logs come in bursts. */
const MAX_GROWTH = 4n;

export interface PartWindow {
  readonly window: TimeWindow;
  /** Place of its part. */
  readonly part: number;
  /** The part ends where the window does. */
  readonly endsPart: boolean;
}

export class WindowCutter {
  readonly #parts: readonly TimeWindow[];
  #part = 0;
  #at: bigint;
  #spanNs = FIRST_SPAN_NS;

  /** @param parts in the order of time, none empty */
  constructor(parts: readonly TimeWindow[]) {
    this.#parts = parts;
    this.#at = parts[0]?.startNs ?? 0n;
  }

  /** Undefined at the end. */
  next(): PartWindow | undefined {
    const part = this.#part;
    const whole = this.#parts[part];
    if (whole === undefined) return undefined;
    const startNs = this.#at;
    const end = startNs + this.#spanNs;
    const endsPart = end >= whole.endNs;
    if (endsPart) this.#at = this.#parts[++this.#part]?.startNs ?? 0n;
    else this.#at = end;
    return { window: { startNs, endNs: endsPart ? whole.endNs : end }, part, endsPart };
  }

  /** Windows from here on are to have `wanted` bytes, where `window` had `bytes`. */
  learn({ startNs, endNs }: TimeWindow, bytes: number, wanted: number): void {
    const span = endNs - startNs;
    const most = span * MAX_GROWTH;
    const fitting = bytes === 0 ? most : (span * BigInt(wanted)) / BigInt(bytes);
    this.#spanNs = fitting > most ? most : fitting > 0n ? fitting : 1n;
  }
}
