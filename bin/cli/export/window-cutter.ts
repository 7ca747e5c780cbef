/**
 * Divides the parts of an export into time windows with about the target bytes of a response, estimated from earlier responses. Concurrent
 * windows are adjacent, so the store can reuse pages that it decompressed for the window before.
 */
import { NS_PER_MINUTE } from '../../../shared/base/model/time-units.ts';
import type { TimeWindow } from '../migrate/log-source.ts';

/** Length of the first window. */
const FIRST_SPAN_NS = NS_PER_MINUTE;
/** Maximum length of a window, as a multiple of the measured one, because logs come in bursts. */
const MAX_GROWTH = 4n;

interface PartWindow {
  readonly window: TimeWindow;
  /** Index of its part. */
  readonly part: number;
  /** True if the part ends with this window. */
  readonly endsPart: boolean;
}

export class WindowCutter {
  readonly #parts: readonly TimeWindow[];
  #part = 0;
  #at: bigint;
  #spanNs = FIRST_SPAN_NS;

  /** @param parts in time order, none empty */
  constructor(parts: readonly TimeWindow[]) {
    this.#parts = parts;
    this.#at = parts[0]?.startNs ?? 0n;
  }

  /** Returns undefined at the end. */
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

  /** Sets the length of later windows so that they have `wanted` bytes, given that this one had `bytes`. */
  learn({ startNs, endNs }: TimeWindow, bytes: number, wanted: number): void {
    const span = endNs - startNs;
    const most = span * MAX_GROWTH;
    const fitting = bytes === 0 ? most : (span * BigInt(wanted)) / BigInt(bytes);
    this.#spanNs = fitting > most ? most : fitting > 0n ? fitting : 1n;
  }
}
