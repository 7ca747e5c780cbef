/**
 * Memory of the pushes that are being decoded and stored, counted together: a body of 2 MB may hold gigabytes, and a
 * thousand requests may come at once. What finds no room is refused before it costs more, and may be sent again.
 *
 * A push that is alone may take all that the limits of one push allow: it is never refused for its size here.
 */
import { ThrottledError } from '../ports/throttled.ts';
import type { PushColumns } from './push-columns.ts';

/** Usual pushes take a few times their body: enough for hundreds of megabytes of bodies at once. */
export const MAX_PUSH_BYTES = 1024 * 1024 * 1024;

/** Columns (28 bytes, and room to grow), references and rows of a segment. */
const BYTES_OF_ENTRY = 128;
const BYTES_OF_PAIR = 64;
/** Labels as objects, text, places in maps. */
const BYTES_OF_STREAM = 1024;

/** Other pushes leave too little; nothing of this one is stored. */
export class NoRoomError extends ThrottledError {}

/** What one push holds. */
export interface HeldBytes {
  /** Throws NoRoomError. */
  take(bytes: number): void;
  /** Gives everything back, once. */
  release(): void;
}

export class PushBudget {
  private total = 0;
  private readonly maxBytes: number;

  constructor(maxBytes: number = MAX_PUSH_BYTES) {
    this.maxBytes = maxBytes;
  }

  open(): HeldBytes {
    let own = 0;
    return {
      take: bytes => {
        const isAlone = this.total === own;
        if (!isAlone && this.total + bytes > this.maxBytes) {
          throw new NoRoomError(`pushes in progress hold ${this.total} bytes`);
        }
        own += bytes;
        this.total += bytes;
      },
      release: () => {
        this.total -= own;
        own = 0;
      },
    };
  }
}

/** What a decoded push takes beside its bytes until it is stored, roughly. */
export function bytesOfColumns({ count, pairCount, streams }: PushColumns): number {
  return count * BYTES_OF_ENTRY + pairCount * BYTES_OF_PAIR + streams.length * BYTES_OF_STREAM;
}
