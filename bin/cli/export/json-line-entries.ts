/**
 * Parses entries from the JSON lines of the store. The text between the time and the line repeats for many entries, so it is parsed once,
 * and entries with the same labels share an object.
 */
import { parseGivenTime } from '../given-time.ts';
import type { MigratedEntry } from '../migrate/log-source.ts';
import type { ExportedBytes } from './export-source.ts';

/** Maximum number of cached label sets. */
const MAX_KEPT = 10_000;
const NEWLINE = 0x0a;
/** Entries per page. A response as objects takes five times its bytes. */
const ENTRIES_AT_ONCE = 4096;

const HEAD = '{"timestamp":"';
const TIME_CHARACTERS = '2026-01-05T10:00:00.123456789Z'.length;
/** Quotes in labels and lines are escaped, so the last occurrence is the key of the line. */
const LINE = ',"line":"';

interface StoredEntry extends LabelSet {
  readonly timestamp: string;
  readonly line: string;
}

interface LabelSet {
  readonly labels: MigratedEntry['labels'];
  readonly metadata: MigratedEntry['metadata'];
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
      const text = bytes.toString('utf8', start, end);
      const lineAt = text.lastIndexOf(LINE);
      if (!text.startsWith(HEAD) || lineAt < 0) {
        const { timestamp, labels, metadata, line } = JSON.parse(text) as StoredEntry;
        page.push({ timeNs: time.read(timestamp), labels, metadata, line });
      } else {
        const timeEnd = HEAD.length + TIME_CHARACTERS;
        page.push({
          timeNs: time.read(text.slice(HEAD.length, timeEnd)),
          ...shared.of(text.slice(timeEnd + '",'.length, lineAt)),
          line: unquoted(text.slice(lineAt + LINE.length, -'"}'.length)),
        });
      }
      if (page.length === ENTRIES_AT_ONCE) {
        yield page;
        page = [];
      }
      start = end + 1;
    }
    if (page.length > 0) yield page;
  }
}

function unquoted(text: string): string {
  return text.includes('\\') ? (JSON.parse(`"${text}"`) as string) : text;
}

/** Parses `2026-01-05T10:00:00.123456789Z`. Most entries have the second of the entry before. */
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
  #kept = new Map<string, LabelSet>();

  /** @param text `"labels":{...},"metadata":{...}` */
  of(text: string): LabelSet {
    const known = this.#kept.get(text);
    if (known !== undefined) return known;
    if (this.#kept.size >= MAX_KEPT) this.#kept = new Map();
    const { labels, metadata } = JSON.parse(`{${text}}`) as LabelSet;
    const set = { labels, metadata };
    this.#kept.set(text, set);
    return set;
  }
}
