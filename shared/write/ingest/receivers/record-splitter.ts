/**
 * Splits CloudTrail files, one JSON object with all records in an array, into one line per record while they
 * are read. Such a file decompresses to hundreds of megabytes on one line.
 *
 * The splitter follows only brackets and strings. The decoder checks the content of a record.
 */
const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const OPEN = 0x7b;
const CLOSE = 0x7d;
const LINE_FEED = 0x0a;

export class RecordSplitter {
  /** Number of open objects and arrays inside the array of records. */
  #depth = 0;
  #inArray = false;
  #inString = false;
  #isEscaped = false;
  #isDone = false;

  /** Returns the lines of a part of the file. A record may continue in the next part. */
  next(part: Uint8Array): Buffer {
    // The comma or bracket after a record is replaced by a line feed.
    const lines = Buffer.allocUnsafe(part.length + 1);
    let to = 0;
    for (let at = 0; at < part.length; at++) {
      const byte = part[at];
      if (!this.#inArray) {
        if (byte === 0x5b) this.#inArray = true;
        continue;
      }
      if (this.#inString) {
        if (this.#isEscaped) this.#isEscaped = false;
        else if (byte === BACKSLASH) this.#isEscaped = true;
        else if (byte === QUOTE) this.#inString = false;
        lines[to++] = byte;
        continue;
      }
      // After the array, only the end of the file matters.
      if (this.#depth === 0 && byte !== OPEN) {
        if (byte === 0x5d) this.#isDone = true;
        continue;
      }
      if (this.#isDone) continue;
      if (byte === QUOTE) this.#inString = true;
      else if (byte === OPEN || byte === 0x5b) this.#depth++;
      else if (byte === CLOSE || byte === 0x5d) this.#depth--;
      lines[to++] = byte === LINE_FEED ? 0x20 : byte;
      if (this.#depth === 0) lines[to++] = LINE_FEED;
    }
    return lines.subarray(0, to);
  }
}
