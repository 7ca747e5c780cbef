/**
 * Numbers the streams of a chunk under construction as they occur. Usually they ascend. Copied pages can have any
 * streams, so the numbers of the finished chunk follow from a sort at its end.
 */
import { compareUtf8 } from '../../base/model/bytes.ts';
import type { Stream } from '../../base/model/page.ts';

interface SortedStreams {
  /** Ascending by text. */
  readonly streams: readonly Stream[];
  /** For each number, its index in `streams`. Undefined if they are the same. */
  readonly order: Uint32Array | undefined;
}

export class ChunkStreams {
  readonly #streams: Stream[] = [];
  #ascend = true;
  /** Numbers by text. Undefined until a stream occurs again after another one, which pushes never need. */
  #numbers: Map<string, number> | undefined;

  /** Returns the number of each stream, and numbers new ones. */
  numbersOf(streams: readonly Stream[]): Uint32Array {
    const numbers = new Uint32Array(streams.length);
    for (let i = 0; i < streams.length; i++) numbers[i] = this.#numberOf(streams[i]);
    return numbers;
  }

  #numberOf(stream: Stream): number {
    const streams = this.#streams;
    const { text } = stream;
    const latest = streams.length - 1;
    if (latest < 0) return this.#add(stream);
    if (this.#ascend) {
      const order = compareUtf8(streams[latest].text, text);
      if (order === 0) return latest;
      if (order < 0) return this.#add(stream);
    }
    this.#numbers ??= new Map(streams.map((one, i) => [one.text, i]));
    const known = this.#numbers.get(text);
    if (known !== undefined) return known;
    this.#ascend = false;
    return this.#add(stream);
  }

  #add(stream: Stream): number {
    const number = this.#streams.push(stream) - 1;
    this.#numbers?.set(stream.text, number);
    return number;
  }

  sorted(): SortedStreams {
    const streams = this.#streams;
    if (this.#ascend) return { streams, order: undefined };
    const numbers = streams.map((_, i) => i);
    numbers.sort((a, b) => compareUtf8(streams[a].text, streams[b].text));
    const order = new Uint32Array(streams.length);
    for (let i = 0; i < numbers.length; i++) order[numbers[i]] = i;
    return { streams: numbers.map(number => streams[number]), order };
  }
}
