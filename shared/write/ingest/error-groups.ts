/**
 * Collects the validation errors of one push as the reference does (docs/dev/wire-format.md#partial-success): equal messages are
 * counted.
 *
 * Messages are created only if they are returned. Callers identify an error by a short key: equal keys mean
 * equal messages. A million refused entries then cost a million lookups, not a million texts.
 */
import { MAX_MESSAGE_CHARACTERS, MAX_MESSAGES } from './bounds.ts';

interface ErrorGroup {
  readonly message: string;
  count: number;
}

export class ErrorGroups {
  readonly #groups = new Map<string, ErrorGroup>();
  #characters = 0;
  #unlisted = 0;

  /** Counts an error. `message` is called if its key is new. */
  add(key: string, message: () => string): void {
    const group = this.#groups.get(key);
    if (group !== undefined) {
      group.count++;
      return;
    }
    if (this.#groups.size >= MAX_MESSAGES || this.#characters >= MAX_MESSAGE_CHARACTERS) {
      this.#unlisted++;
      return;
    }
    const text = message().slice(0, MAX_MESSAGE_CHARACTERS);
    this.#characters += text.length;
    this.#groups.set(key, { message: text, count: 1 });
  }

  /** Returns the text of all errors, or undefined if there were none. */
  text(): string | undefined {
    const groups = [...this.#groups.values()];
    if (groups.length === 0) return undefined;
    if (groups.length === 1 && groups[0].count === 1 && this.#unlisted === 0) return groups[0].message;
    const parts = groups.map(group => `${group.count} errors like: ${group.message}`);
    if (this.#unlisted > 0) parts.push(`${this.#unlisted} more errors`);
    return parts.join('; ');
  }
}
