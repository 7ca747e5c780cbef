/** Pushes growing files until they are stopped, and records the positions. */
import { resolve } from 'node:path';
import { Readable } from 'node:stream';
import type { Clock } from '../../shared/base/ports/clock.ts';
import { CommandError } from './command-error.ts';
import { countText } from './count-text.ts';
import type { FilePosition } from './file-position.ts';
import { FollowedFile } from './follow-file.ts';
import { readPosition, writePosition } from './positions-file.ts';
import { ENDLESS_RETRIES, type PushPlan, type PushTotals, pushLines } from './push-lines.ts';

interface FollowFlags {
  readonly positions?: string;
  readonly fromEnd?: boolean;
  readonly clock: Clock;
  /** Stops reading. */
  readonly stopping: AbortController;
  readonly note: (text: string) => void;
}

/** Resolves when `stopping` has ended the reading and everything read is stored. Throws CommandError. */
export async function pushFollowed(
  file: string,
  plan: PushPlan,
  { positions, fromEnd, clock, stopping, note }: FollowFlags,
): Promise<PushTotals> {
  const path = resolve(file);
  const followed = new FollowedFile(path, {
    clock,
    signal: stopping.signal,
    from: positions === undefined ? undefined : readPosition(positions, path),
    atEnd: fromEnd,
    note,
  });
  const saver = new Saver(followed, position => {
    if (positions !== undefined) writePosition(positions, path, position);
  });
  let left = 0;
  try {
    return await pushLines(Readable.from(followed, { highWaterMark: 1 }), {
      ...plan,
      retries: ENDLESS_RETRIES,
      signal: stopping.signal,
      onDoneTo: endBytes => saver.doneTo(endBytes),
      onRefused: (message, _, lines) => {
        left += lines;
        note(`skipped ${countText(lines, 'line')} that the store refused: ${message}`);
      },
    });
  } finally {
    // A failure also stops the other files, and reads that wait for more.
    stopping.abort();
    await saver.end();
    await followed.close();
    if (left > 0) note(`skipped ${countText(left, 'line')} in total`);
  }
}

/** Writes one position at a time. Of the positions that arrive meanwhile, only the newest is written. */
class Saver {
  readonly #followed: FollowedFile;
  readonly #save: (position: FilePosition) => void;
  #wanted: number | undefined;
  #running: Promise<void> = Promise.resolve();
  #isRunning = false;
  #failure: unknown;

  constructor(followed: FollowedFile, save: (position: FilePosition) => void) {
    this.#followed = followed;
    this.#save = save;
  }

  doneTo(endBytes: number): void {
    if (this.#failure !== undefined)
      throw new CommandError('cannot write the positions file', { cause: this.#failure });
    this.#wanted = endBytes;
    if (this.#isRunning) return;
    this.#isRunning = true;
    this.#running = this.#run();
  }

  /** Throws if the positions could not be written. */
  async end(): Promise<void> {
    await this.#running;
    if (this.#failure !== undefined) throw this.#failure;
  }

  async #run(): Promise<void> {
    try {
      while (this.#wanted !== undefined) {
        const endBytes = this.#wanted;
        this.#wanted = undefined;
        const position = await this.#followed.positionAt(endBytes);
        if (position !== undefined) this.#save(position);
      }
    } catch (error) {
      this.#failure = error;
    } finally {
      this.#isRunning = false;
    }
  }
}
