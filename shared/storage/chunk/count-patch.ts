/** Counts of a footer after some rows were removed. The result is exact and needs only the removed rows. */
import { lowerBound } from '../../base/model/binary-search.ts';
import { CorruptionError } from '../../base/model/errors.ts';
import type { Footer, LevelCounts } from './format.ts';
import { OTHER_LEVELS } from './format.ts';

interface Bucket {
  readonly level: number;
  readonly minutes: readonly number[];
  readonly entries: number[];
  readonly lineBytes: number[];
  readonly metadataBytes: number[];
}

export interface PatchedCounts {
  /** Levels with at least one remaining entry, and always ''. */
  readonly levels: readonly string[];
  /** Counts by original stream index; empty if no entry of the stream remains. */
  readonly counts: readonly (readonly LevelCounts[])[];
}

/** Rows of one stream, level and minute to subtract from the counts. */
export interface CountedRows {
  /** Index of their stream. */
  readonly stream: number;
  /** Result of `levelOf`. */
  readonly level: number;
  /** Result of `minuteOf`. */
  readonly minute: number;
  entries: number;
  lineBytes: number;
  metadataBytes: number;
}

export class CountPatch {
  readonly #levels: readonly string[];
  readonly #before: Footer['counts'];
  /** Buckets by stream, created when the first row of the stream is removed. */
  readonly #changed = new Map<number, readonly Bucket[]>();
  readonly #what: string;

  /** @param what Name of the chunk in errors */
  constructor({ levels, counts }: Pick<Footer, 'levels' | 'counts'>, what: string) {
    this.#levels = levels;
    this.#before = counts;
    this.#what = what;
  }

  /**
   * Returns the number of the level that counts entries with this value of `detected_level`; '' for entries
   * without one.
   */
  levelOf(value: string): number {
    const place = this.#levels.indexOf(value);
    // A value that was over the level limit at its first entry was over it at all later ones.
    return place >= 0 ? place : this.#levels.indexOf(OTHER_LEVELS);
  }

  /** Subtracts rows. Throws CorruptionError if the counts do not contain them. */
  take({ stream, level, minute, entries, lineBytes, metadataBytes }: CountedRows): void {
    for (const bucket of this.#bucketsOf(stream)) {
      if (bucket.level !== level) continue;
      const at = lowerBound(bucket.minutes, 0, bucket.minutes.length, minute);
      if (bucket.minutes[at] !== minute) continue;
      const lacks =
        bucket.entries[at] < entries ||
        bucket.lineBytes[at] < lineBytes ||
        bucket.metadataBytes[at] < metadataBytes;
      if (lacks) break;
      bucket.entries[at] -= entries;
      bucket.lineBytes[at] -= lineBytes;
      bucket.metadataBytes[at] -= metadataBytes;
      return;
    }
    throw new CorruptionError(
      `${this.#what}: the counts of stream ${stream} lack ${entries} entries of minute ${minute}`,
    );
  }

  finish(): PatchedCounts {
    const left = Array.from(this.#before, (before, stream) => {
      const buckets = this.#changed.get(stream);
      return buckets === undefined ? before : buckets.map(withoutEmpty).filter(isLeft);
    });
    const used = new Set(left.flatMap(ofStream => ofStream.map(({ level }) => level)));
    const levels = this.#levels.filter((_, place) => place === 0 || used.has(place));
    if (levels.length === this.#levels.length) return { levels, counts: left };
    const placeOfLevel = new Map(levels.map((level, place) => [level, place]));
    const renumber = (counts: LevelCounts) => {
      return { ...counts, level: placeOfLevel.get(this.#levels[counts.level])! };
    };
    return { levels, counts: left.map(ofStream => ofStream.map(renumber)) };
  }

  #bucketsOf(stream: number): readonly Bucket[] {
    let buckets = this.#changed.get(stream);
    if (buckets === undefined) {
      buckets = this.#before.at(stream)!.map(({ level, minutes, entries, lineBytes, metadataBytes }) => {
        const copies = {
          entries: [...entries],
          lineBytes: [...lineBytes],
          metadataBytes: [...metadataBytes],
        };
        return { level, minutes, ...copies };
      });
      this.#changed.set(stream, buckets);
    }
    return buckets;
  }
}

function withoutEmpty({ level, minutes, entries, lineBytes, metadataBytes }: Bucket): LevelCounts {
  const isThere = (_: number, at: number) => entries[at] > 0;
  return {
    level,
    minutes: minutes.filter(isThere),
    entries: entries.filter(isThere),
    lineBytes: lineBytes.filter(isThere),
    metadataBytes: metadataBytes.filter(isThere),
  };
}

function isLeft({ minutes }: LevelCounts): boolean {
  return minutes.length > 0;
}
