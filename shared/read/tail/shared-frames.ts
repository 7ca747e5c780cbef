/**
 * Frames as bytes, each written once: tails that ask the same are handed the same entries, so most of their frames are the
 * same, and a hundred sockets get one buffer. What it costs a push is then a post for each tail, not a frame for each.
 *
 * A reader would get wrong: nothing says that two tails are in step. A slow one has other frames than the rest, so a frame is
 * known by its very entries, compared one by one (they are the same objects), never by its query.
 */
import { MAX_SHARED_FRAMES } from './bounds.ts';
import { type DroppedEntry, encodeFrame, type FrameStyle } from './frames.ts';
import type { TailEntry } from './tail-entry.ts';

interface WrittenFrame {
  readonly entries: readonly TailEntry[];
  readonly style: FrameStyle;
  readonly bytes: Buffer;
}

export class SharedFrames {
  #written: WrittenFrame[] = [];

  /** The bytes may be others' too: they must not be changed. */
  encode(entries: readonly TailEntry[], dropped: readonly DroppedEntry[], style: FrameStyle): Buffer {
    // What was dropped is a matter of one tail; a frame of nothing is no work.
    if (dropped.length > 0 || entries.length === 0) return encodeFrame(entries, dropped, style);
    const known = this.#written.find(one => isSameStyle(one.style, style) && isSame(one.entries, entries));
    if (known !== undefined) return known.bytes;
    const bytes = encodeFrame(entries, dropped, style);
    if (this.#written.length >= MAX_SHARED_FRAMES) this.#written.shift();
    this.#written.push({ entries, style, bytes });
    return bytes;
  }

  /** Frames that nobody will ask for again must not keep their entries. */
  clear(): void {
    this.#written = [];
  }
}

function isSame(a: readonly TailEntry[], b: readonly TailEntry[]): boolean {
  if (a.length !== b.length) return false;
  for (let i = 0; i < a.length; i++) if (a[i] !== b[i]) return false;
  return true;
}

function isSameStyle(a: FrameStyle, b: FrameStyle): boolean {
  return a === b || (a.form === b.form && a.flags.join() === b.flags.join());
}
