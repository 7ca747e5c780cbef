/**
 * Stretches of bytes that stood in a page before: a table of the places of the last ones, by a hash of a few of their
 * bytes. What it takes for seen was compared byte for byte, so nothing that is new is ever passed over.
 */

/** 64 KiB with their lengths: a page of logs has some 2,000 that come back. */
export const maxSeenStretches = 8_192;

// Looked up once: in a vm context, where tests run, each look at a global costs as much as a line.
const { imul } = Math;

const NOTHING: Uint8Array = new Uint8Array(0);

export class SeenStretches {
  /** Slot: place of a stretch plus 1, 0 where there is none. */
  readonly #places: Int32Array;
  readonly #lengths: Int32Array;
  readonly #shift: number;
  #bytes = NOTHING;
  /** Of the bytes at hand. */
  view: DataView = new DataView(NOTHING.buffer);

  /** @param slots a power of two */
  constructor(slots: number) {
    this.#places = new Int32Array(slots);
    this.#lengths = new Int32Array(slots);
    this.#shift = 32 - Math.log2(slots);
  }

  /** What follows is about these bytes; those seen in others are forgotten. */
  enter(bytes: Uint8Array): void {
    if (bytes === this.#bytes) return;
    this.clear();
    this.#bytes = bytes;
    this.view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  }

  clear(): void {
    this.#places.fill(0);
    this.#bytes = NOTHING;
  }

  /** True where the bytes `from` to `to`, at least four, stood in an earlier stretch's place; else they are noted. */
  hasSeen(from: number, to: number): boolean {
    const view = this.view;
    const length = to - from;
    // Lines differ in their words: those at the ends, the middle and the quarters tell most of them apart.
    const quarter = (length - 4) >>> 2;
    let h = imul(length ^ view.getInt32(from, true), 0x9e3779b1);
    h = imul(h ^ view.getInt32(from + quarter, true), 0x85ebca6b) ^ (h >>> 15);
    h = imul(h ^ view.getInt32(from + 2 * quarter, true), 0xc2b2ae35) ^ (h >>> 13);
    h = imul(h ^ view.getInt32(from + 3 * quarter, true), 0x9e3779b1) ^ (h >>> 15);
    h = imul(h ^ view.getInt32(to - 4, true), 0x85ebca6b);
    const slot = (h ^ (h >>> 11)) >>> this.#shift;
    const known = this.#places[slot] - 1;
    if (known >= 0 && this.#lengths[slot] === length && this.#isSame(known, from, length)) return true;
    this.#places[slot] = from + 1;
    this.#lengths[slot] = length;
    return false;
  }

  #isSame(a: number, b: number, length: number): boolean {
    const view = this.view;
    const last = length - 4;
    for (let i = 0; i < last; i += 4) {
      if (view.getInt32(a + i, true) !== view.getInt32(b + i, true)) return false;
    }
    return view.getInt32(a + last, true) === view.getInt32(b + last, true);
  }
}
