/**
 * Host side of assembly/text-columns.ts: finds equal texts, and writes texts with their lengths, for the columns of Parquet files. The
 * bytes of a table are copied here once, and the texts of its columns are ranges of them.
 *
 *     bytes | starts, ends | numbers, first texts, slots    or    output
 */
import { KernelInstance } from './kernels.ts';

/** Texts as ranges of bytes. */
export interface TextRanges {
  /** UTF-8. */
  readonly bytes: Buffer;
  readonly starts: Uint32Array;
  readonly ends: Uint32Array;
}

interface NumberedTexts {
  /** The number of each text. */
  readonly numbers: Uint32Array;
  /** First text of each number. */
  readonly firsts: Uint32Array;
}

interface TextKernel {
  readonly TEXTS_DIFFER: { readonly value: number };
  numberTexts(
    bytes: number,
    starts: number,
    ends: number,
    count: number,
    tried: number,
    numbers: number,
    firsts: number,
    slots: number,
    mask: number,
  ): number;
  stepsOfSearch(): number;
  textsEnd(): number;
  writeTexts(
    bytes: number,
    starts: number,
    ends: number,
    from: number,
    to: number,
    out: number,
    limit: number,
  ): number;
}

/** Addresses. */
interface Layout {
  readonly bytesAt: number;
  readonly startsAt: number;
  readonly endsAt: number;
  /** End of the input. */
  readonly restAt: number;
}

const LENGTH_BYTES = 4;
/** First used address, as in assembly/layout.ts. */
const BASE = 4096;
/** Padding after bytes and output, because loads and stores of 16 bytes may begin at their last byte. */
const SLACK_BYTES = 64;

/** Pitfall: results are valid until the next call. */
export class TextColumns {
  readonly #instance = new KernelInstance<TextKernel>();
  #shared: Buffer | undefined;
  #sharedBytes = 0;
  #opened: (TextRanges & Layout) | undefined;
  /** End of the layout of the last call, for tests. */
  laidBytes = 0;

  /** Steps that the last call of `number` took beyond one for each text, for tests. */
  get searchSteps(): number {
    return this.#instance.run.stepsOfSearch();
  }

  /** Copies bytes that ranges of the following calls refer to. Ranges of other bytes are copied at each call. */
  share(bytes: Buffer, length: number): void {
    if (this.#shared !== undefined) throw new Error('bytes of another table are shared');
    this.#instance.reserve(BASE + length + SLACK_BYTES);
    this.#instance.bytes.set(bytes.subarray(0, length), BASE);
    this.#shared = bytes;
    this.#sharedBytes = length;
  }

  /** Releases the shared bytes, whose owner may change them now. */
  unshare(): void {
    this.#shared = undefined;
    this.#sharedBytes = 0;
  }

  /**
   * Numbers equal texts. Returns undefined if the texts hardly repeat, which is decided after `tried` of them at the earliest, or
   * if a client has made texts whose hashes are equal.
   */
  number(texts: TextRanges, tried: number): NumberedTexts | undefined {
    const count = texts.starts.length;
    const maxDistinct = (Math.max(count, tried) >>> 1) + 1;
    const slotCount = 2 ** Math.ceil(Math.log2(2 * maxDistinct));
    const { bytesAt, startsAt, endsAt, restAt } = this.#lay(
      texts,
      4 * count + 4 * maxDistinct + 8 * slotCount,
    );
    const slots = restAt;
    const numbers = slots + 8 * slotCount;
    const firsts = numbers + 4 * count;
    this.laidBytes = firsts + 4 * maxDistinct;
    const { run, bytes, words } = this.#instance;
    bytes.fill(0, slots, numbers);
    const mask = slotCount - 1;
    const distinct = run.numberTexts(bytesAt, startsAt, endsAt, count, tried, numbers, firsts, slots, mask);
    if (distinct >>> 0 === run.TEXTS_DIFFER.value >>> 0) return undefined;
    return {
      numbers: words.subarray(numbers >>> 2, (numbers >>> 2) + count),
      firsts: words.subarray(firsts >>> 2, (firsts >>> 2) + distinct),
    };
  }

  /** Begins to write texts with `write`, until the next call of any other method. */
  open(texts: TextRanges): void {
    this.#opened = { ...texts, ...this.#lay(texts, 0) };
  }

  /**
   * Writes texts from number `from` to `to`, each after its length in four bytes. Stops at `limit` bytes, after one text at the earliest.
   * @param kept bytes of the last output, in front of which the new ones are written
   */
  write(
    from: number,
    to: number,
    limit: number,
    kept = 0,
  ): { readonly bytes: Buffer; readonly next: number } {
    const { starts, ends, bytesAt, startsAt, endsAt, restAt } = this.#opened!;
    let room = 0;
    for (let i = from; i < to && room < limit; i++) room += LENGTH_BYTES + ends[i] - starts[i];
    const out = restAt + kept;
    this.laidBytes = out + room + SLACK_BYTES;
    this.#instance.reserve(this.laidBytes);
    const { run, bytes } = this.#instance;
    const next = run.writeTexts(bytesAt, startsAt, endsAt, from, to, out, limit);
    return { bytes: bytes.subarray(restAt, run.textsEnd()), next };
  }

  /** Writes the ranges, and their bytes unless they are shared. Reserves `more` bytes behind them. */
  #lay({ bytes, starts, ends }: TextRanges, more: number): Layout {
    const isShared = bytes === this.#shared;
    const bytesAt = isShared ? BASE : aligned(BASE + this.#sharedBytes + SLACK_BYTES);
    const length = isShared ? this.#sharedBytes : bytes.length;
    const startsAt = aligned(bytesAt + length + SLACK_BYTES);
    const endsAt = startsAt + 4 * starts.length;
    const restAt = aligned(endsAt + 4 * ends.length);
    this.#instance.reserve(restAt + more);
    if (!isShared) this.#instance.bytes.set(bytes, bytesAt);
    this.#instance.words.set(starts, startsAt >>> 2);
    this.#instance.words.set(ends, endsAt >>> 2);
    return { bytesAt, startsAt, endsAt, restAt };
  }
}

function aligned(at: number): number {
  return (at + 15) & ~15;
}

let ofThread: TextColumns | undefined;

export function textColumnsOfThread(): TextColumns {
  ofThread ??= new TextColumns();
  return ofThread;
}
