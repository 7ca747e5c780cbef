/** What the scans of one source hold together of pages that they have asked for and not looked at, stored bytes. */

/** Stored bytes of the pages of one turn; one and a half turns are held at once. */
const MAX_BYTES = 8 * 1024 * 1024;
/** A turn of a scan that finds no room: it goes on all the same. */
const MIN_BYTES = 512 * 1024;
/** Of all scans, before turns get shorter: two large ones. Eight of them would hold 96 MB, most of it before its time. */
const ROOM_BYTES = 24 * 1024 * 1024;

/** The same over a distant store: 64 reads of 1 MiB. */
const DISTANT_ROOM_BYTES = 64 * 1024 * 1024;

export class ReadAheadRoom {
  heldBytes = 0;
  readonly #bytes: number;

  constructor(isDistant = false) {
    this.#bytes = isDistant ? DISTANT_ROOM_BYTES : ROOM_BYTES;
  }

  /** What one more turn may take: half of what is left, so that others find some. */
  get turnBytes(): number {
    return Math.max(MIN_BYTES, Math.min(MAX_BYTES, (this.#bytes - this.heldBytes) / 2));
  }

  get isFull(): boolean {
    return this.heldBytes >= this.#bytes;
  }
}
