/**
 * The validation errors of one push, told as the reference does (docs/dev/wire-format.md#partial-success): equal messages are counted.
 *
 * Messages are made only for what will be told. Callers name an error by a short key instead: equal keys mean equal
 * messages, so a million refused entries cost a million look-ups and not a million texts.
 */
import { MAX_MESSAGE_CHARACTERS, MAX_MESSAGES } from './bounds.ts';

interface Group {
  readonly message: string;
  count: number;
}

export class ErrorGroups {
  readonly #groups = new Map<string, Group>();
  #characters = 0;
  #untold = 0;

  /** Counts an error; `message` is called where its key is new. */
  add(key: string, message: () => string): void {
    const group = this.#groups.get(key);
    if (group !== undefined) {
      group.count++;
      return;
    }
    if (this.#groups.size >= MAX_MESSAGES || this.#characters >= MAX_MESSAGE_CHARACTERS) {
      this.#untold++;
      return;
    }
    const text = message().slice(0, MAX_MESSAGE_CHARACTERS);
    this.#characters += text.length;
    this.#groups.set(key, { message: text, count: 1 });
  }

  /** The text of all errors, or undefined where there was none. */
  text(): string | undefined {
    const groups = [...this.#groups.values()];
    if (groups.length === 0) return undefined;
    if (groups.length === 1 && groups[0].count === 1 && this.#untold === 0) return groups[0].message;
    const parts = groups.map(group => `${group.count} errors like: ${group.message}`);
    if (this.#untold > 0) parts.push(`${this.#untold} more errors`);
    return parts.join('; ');
  }
}
