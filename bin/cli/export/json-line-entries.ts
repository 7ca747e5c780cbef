/** Entries from JSON lines as the store writes them. Entries with the same labels share them. */
import { parseGivenTime } from '../given-time.ts';
import type { MigratedEntry } from '../migrate/log-source.ts';
import type { ExportedBytes } from './export-source.ts';

/** Label sets that are kept to be shared. */
const MAX_KEPT = 10_000;
const NEWLINE = 0x0a;
/** Entries that are parsed at once: an answer as objects takes five times its bytes. */
const ENTRIES_AT_ONCE = 4096;

interface StoredEntry {
  readonly timestamp: string;
  readonly labels: MigratedEntry['labels'];
  readonly metadata: MigratedEntry['metadata'];
  readonly line: string;
}

export async function* entriesOf(
  answers: AsyncIterable<ExportedBytes>,
): AsyncGenerator<readonly MigratedEntry[]> {
  const time = new TimeReader();
  const shared = new SharedLabels();
  for await (const { body } of answers) {
    const bytes = body.length === 1 ? body[0] : Buffer.concat(body);
    let page: MigratedEntry[] = [];
    for (let start = 0; start < bytes.length; ) {
      const newline = bytes.indexOf(NEWLINE, start);
      const end = newline < 0 ? bytes.length : newline;
      const { timestamp, labels, metadata, line } = JSON.parse(
        bytes.toString('utf8', start, end),
      ) as StoredEntry;
      page.push({
        timeNs: time.read(timestamp),
        labels: shared.of(labels),
        metadata: shared.of(metadata),
        line,
      });
      if (page.length === ENTRIES_AT_ONCE) {
        yield page;
        page = [];
      }
      start = end + 1;
    }
    if (page.length > 0) yield page;
  }
}

/** `2026-01-05T10:00:00.123456789Z`: the same second most often. */
class TimeReader {
  #second = '';
  #ns = 0n;

  read(text: string): bigint {
    const dot = text.length - '.123456789Z'.length;
    const second = text.slice(0, dot);
    if (second !== this.#second) {
      this.#second = second;
      this.#ns = parseGivenTime(`${second}Z`, 0n);
    }
    return this.#ns + BigInt(text.slice(dot + 1, -1));
  }
}

class SharedLabels {
  #kept = new Map<string, MigratedEntry['labels']>();

  of(labels: MigratedEntry['labels']): MigratedEntry['labels'] {
    const key = JSON.stringify(labels);
    const known = this.#kept.get(key);
    if (known !== undefined) return known;
    if (this.#kept.size >= MAX_KEPT) this.#kept = new Map();
    this.#kept.set(key, labels);
    return labels;
  }
}
