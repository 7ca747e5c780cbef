/** Progress line of an export, by the completed part of the time range. Exports of up to one second show none. */
import { formatByteSize } from '../../../shared/base/model/byte-size.ts';
import type { TimeWindow } from '../migrate/log-source.ts';
import { startWaiting, type WaitingLine } from '../waiting-line.ts';
import type { ExportedPiece } from './export-source.ts';

const BAR_CHARACTERS = 20;

interface ExportCounts {
  readonly entries: number;
  /** Bytes written to files. */
  readonly bytes: number;
  /** Written part of the time range. */
  readonly doneNs: bigint;
}

export class ExportProgress {
  readonly #waiting: WaitingLine;
  readonly #lengthNs: bigint;
  #counts: ExportCounts = { entries: 0, bytes: 0, doneNs: 0n };

  constructor({ startNs, endNs }: TimeWindow) {
    this.#waiting = startWaiting(process.stderr);
    this.#lengthNs = endNs - startNs;
  }

  add({ entries, bytes, doneNs }: ExportCounts): void {
    const before = this.#counts;
    this.#counts = {
      entries: before.entries + entries,
      bytes: before.bytes + bytes,
      doneNs: before.doneNs + doneNs,
    };
    this.#waiting.say(exportProgressText(this.#counts, this.#lengthNs));
  }

  addPiece({ entries, body, completes: { startNs, endNs } }: ExportedPiece): void {
    const bytes = body.reduce((sum, { length }) => sum + length, 0);
    this.add({ entries, bytes, doneNs: endNs - startNs });
  }

  stop(): void {
    this.#waiting.stop();
  }
}

/** Progress text, for example `[#####---------------]  25%  9000 entries  1.0MB`. */
export function exportProgressText({ entries, bytes, doneNs }: ExportCounts, lengthNs: bigint): string {
  const share = lengthNs > 0n ? Number((doneNs * 1000n) / lengthNs) / 1000 : 1;
  const bar = '#'.repeat(Math.floor(share * BAR_CHARACTERS)).padEnd(BAR_CHARACTERS, '-');
  const percent = `${Math.floor(share * 100)}%`.padStart(4);
  return `[${bar}] ${percent}  ${entries} entries  ${formatByteSize(bytes)}`;
}
