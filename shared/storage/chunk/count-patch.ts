/**
 * The counts of a footer without some of its rows: what a chunk that lost few of them says, exactly, without a look at the rest.
 */
import { firstPlace } from '../../base/model/binary-search.ts';
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
  /** Those that some entry has left; '' always. */
  readonly levels: readonly string[];
  /** By the places that streams had; empty where nothing is left. */
  readonly counts: readonly (readonly LevelCounts[])[];
}

/** What rows of one stream, level and minute take from the counts. */
export interface CountedRows {
  /** Place of their stream. */
  readonly stream: number;
  /** What `levelOf` gave. */
  readonly level: number;
  /** What `minuteOf` gave. */
  readonly minute: number;
  entries: number;
  lineBytes: number;
  metadataBytes: number;
}

export class CountPatch {
  readonly #levels: readonly string[];
  readonly #before: Footer['counts'];
  /** By stream, as soon as a row of it goes. */
  readonly #changed = new Map<number, readonly Bucket[]>();
  readonly #what: string;

  /** @param what names the chunk in errors */
  constructor({ levels, counts }: Pick<Footer, 'levels' | 'counts'>, what: string) {
    this.#levels = levels;
    this.#before = counts;
    this.#what = what;
  }

  /** Number of the level that entries with this value of `detected_level` are counted under; '' where they have none. */
  levelOf(value: string): number {
    const place = this.#levels.indexOf(value);
    // A value that found no room at its first entry found none later.
    return place >= 0 ? place : this.#levels.indexOf(OTHER_LEVELS);
  }

  /** Throws CorruptionError where the counts do not know the rows. */
  take({ stream, level, minute, entries, lineBytes, metadataBytes }: CountedRows): void {
    for (const bucket of this.#bucketsOf(stream)) {
      if (bucket.level !== level) continue;
      const at = placeOf(bucket.minutes, minute);
      if (at < 0) continue;
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

/** Place in ascending minutes, or -1. */
function placeOf(minutes: readonly number[], minute: number): number {
  const place = firstPlace(0, minutes.length, i => minutes[i] >= minute);
  return minutes[place] === minute ? place : -1;
}
