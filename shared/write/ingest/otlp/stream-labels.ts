/**
 * Assigns the streams of one OTLP push. The index-label attributes of a resource select its stream, and
 * records may add labels. The cost of labels is bounded here, because the labels of a resource are part of
 * each of its streams.
 */
import { type Labels, labelsOf } from '../../../base/model/labels.ts';
import { MAX_LABEL_CHARACTERS, MAX_LABELS_OF_STREAM, tooMany } from '../bounds.ts';
import { withServiceName } from '../service-name.ts';
import { checkLabelsSize, type StreamTable, streamOf } from '../stream-table.ts';

/** Labels by name. The last of equal names is used. */
export type LabelsByName = Map<string, string>;

export class OtlpStreamLabels {
  readonly #streams: StreamTable;
  readonly #discoverServiceName: readonly string[];
  #base: Labels = [];
  /** Index of the resource's stream, or -1 while no record needed it. */
  #baseStream = -1;
  /** Streams of the resource with additional record labels, by these labels. */
  readonly #byRecordLabels = new Map<string, number>();
  #characters = 0;

  constructor(streams: StreamTable, discoverServiceName: readonly string[]) {
    this.#streams = streams;
    this.#discoverServiceName = discoverServiceName;
  }

  /**
   * Starts a resource. `service_name` comes from the resource, not from labels of records: they describe a
   * line, not the program that wrote it.
   */
  setResource(labels: LabelsByName): void {
    this.#base = withServiceName(streamOf(storable(labels)), this.#discoverServiceName, true).labels;
    this.#baseStream = -1;
    this.#byRecordLabels.clear();
  }

  /** Returns the index of the stream of a record without its own labels. */
  ofResource(): number {
    if (this.#baseStream < 0) this.#baseStream = this.#indexFor(this.#base);
    return this.#baseStream;
  }

  /** Returns the index of the stream of a record that adds or replaces labels. */
  ofRecord(labels: LabelsByName): number {
    let key = '';
    // A name has no `=`, and the length determines where the value ends.
    for (const [name, value] of labels) key += `${name}=${value.length}:${value}`;
    let stream = this.#byRecordLabels.get(key);
    if (stream === undefined) {
      const all: LabelsByName = new Map(this.#base.map(({ name, value }) => [name, value]));
      for (const [name, value] of labels) all.set(name, value);
      stream = this.#indexFor(storable(all));
      this.#byRecordLabels.set(key, stream);
      this.#count(key.length);
    }
    return stream;
  }

  #indexFor(labels: Labels): number {
    const stream = streamOf(labels);
    this.#count(stream.text.length);
    return this.#streams.indexOf(stream);
  }

  #count(characters: number): void {
    this.#characters += characters;
    if (this.#characters > MAX_LABEL_CHARACTERS) throw tooMany('characters of labels', MAX_LABEL_CHARACTERS);
  }
}

/** Returns the labels with a value. Throws TooLargeError if they are too many or too long for one stream. */
function storable(labels: LabelsByName): Labels {
  let size = 0;
  for (const [name, value] of labels) size += name.length + value.length;
  checkLabelsSize(size);
  if (labels.size > MAX_LABELS_OF_STREAM) throw tooMany('labels of a stream', MAX_LABELS_OF_STREAM);
  return labelsOf(labels).filter(({ value }) => value !== '');
}
