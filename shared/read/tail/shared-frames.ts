/**
 * Encodes each frame once. Tails with equal queries receive the same entries, so most of their frames are
 * equal, and a hundred sockets share one buffer. A push then costs a post per tail, not a frame per tail.
 *
 * Pitfall: tails are not necessarily in step. A slow one has other frames. A frame is therefore identified by
 * its entries, compared one by one (they are the same objects), never by its query.
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

  /** Returns bytes that other tails may share. Do not modify them. */
  encode(entries: readonly TailEntry[], dropped: readonly DroppedEntry[], style: FrameStyle): Buffer {
    // Dropped entries belong to a single tail, and an empty frame costs nothing.
    if (dropped.length > 0 || entries.length === 0) return encodeFrame(entries, dropped, style);
    const known = this.#written.find(one => isSameStyle(one.style, style) && isSame(one.entries, entries));
    if (known !== undefined) return known.bytes;
    const bytes = encodeFrame(entries, dropped, style);
    if (this.#written.length >= MAX_SHARED_FRAMES) this.#written.shift();
    this.#written.push({ entries, style, bytes });
    return bytes;
  }

  /** Releases entries of frames that are not needed again. */
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
