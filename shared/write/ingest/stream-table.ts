/**
 * Maps the bytes that name a stream of one push to its index in `PushColumns.streams`, each canonical text
 * once.
 */
import { BadRequestError, TooLargeError } from '../../base/model/errors.ts';
import { formatLabels, type Labels } from '../../base/model/labels.ts';
import {
  MAX_LABEL_CHARACTERS,
  MAX_LABELS,
  MAX_LABELS_TEXT_BYTES,
  MAX_STREAM_PARTS,
  MAX_STREAMS,
  REFERENCE_LABELS_TEXT_BYTES,
  tooMany,
} from './bounds.ts';
import { parseLabelSet } from './label-set.ts';
import type { PushColumns, PushStream } from './push-columns.ts';
import { StreamCache } from './stream-cache.ts';

const textCache = new StreamCache();
/** Maximum new streams of one push that are cached for the next. More would evict those of other pushes. */
const MAX_REMEMBERED = 4096;

export function streamOf(labels: Labels): PushStream {
  return { labels, text: formatLabels(labels) };
}

export class StreamTable {
  readonly #columns: PushColumns;
  readonly #idByText = new Map<string, number>();
  #labelCount = 0;
  #characters = 0;
  #parts = 0;

  constructor(columns: PushColumns) {
    this.#columns = columns;
  }

  /**
   * Returns the index of the stream whose label-set text is `bytes[start, end)`. Throws ClientError if it is
   * invalid.
   */
  ofText(bytes: Buffer, start: number, end: number): number {
    checkLabelsSize(end - start);
    // Bytes as characters: a key that needs no decoding and differs for different bytes.
    const key = bytes.latin1Slice(start, end);
    let stream = textCache.get(key);
    if (stream === undefined) {
      stream = streamOf(parseLabelSet(bytes.utf8Slice(start, end)));
      if (this.isRemembering) textCache.set(key, stream);
    }
    return this.indexOf(stream);
  }

  /** Whether a new stream should be cached beyond this push. */
  get isRemembering(): boolean {
    return this.#columns.streams.length < MAX_REMEMBERED;
  }

  /** Returns the index of a stream. */
  indexOf(stream: PushStream): number {
    if (++this.#parts > MAX_STREAM_PARTS) throw tooMany('parts that name a stream', MAX_STREAM_PARTS);
    const known = this.#idByText.get(stream.text);
    if (known !== undefined) return known;
    const id = this.#columns.streams.length;
    if (id === MAX_STREAMS) throw tooMany('streams', MAX_STREAMS);
    this.#labelCount += stream.labels.length;
    if (this.#labelCount > MAX_LABELS) throw tooMany('labels', MAX_LABELS);
    this.#characters += stream.text.length;
    if (this.#characters > MAX_LABEL_CHARACTERS) throw tooMany('characters of labels', MAX_LABEL_CHARACTERS);
    this.#columns.streams.push(stream);
    this.#idByText.set(stream.text, id);
    return id;
  }
}

/**
 * Throws if the label bytes of a stream exceed the limit: TooLargeError with the reference's message beyond
 * the reference's limit, otherwise BadRequestError, because the reference refuses such labels for their names
 * and values.
 */
export function checkLabelsSize(size: number): void {
  if (size <= MAX_LABELS_TEXT_BYTES) return;
  if (size > REFERENCE_LABELS_TEXT_BYTES) {
    throw new TooLargeError(
      `request body too large: stream labels size ${Math.round(size / 1e6)} MB exceeds limit of 17 MB`,
    );
  }
  throw new BadRequestError(`couldn't parse labels: ${size} bytes, more than ${MAX_LABELS_TEXT_BYTES}`);
}
