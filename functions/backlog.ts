/**
 * How long work waits, as embedded metrics for the alarm of an account: now and then beside a run of the maintenance function.
 *
 * What a reader would get wrong: the oldest announcement may be a day old in a store that is well. A day leaves the list when it
 * is settled, an hour after its end; so what tells of stuck compaction is an age well above 25 hours.
 */
import type { Backlog } from '../shared/upkeep/maintenance/status.ts';
import { embeddedLine } from './embedded-line.ts';

export interface BacklogParts {
  /** Throws where the table does. */
  readonly read: () => Promise<Backlog>;
  readonly functionName: string;
  readonly nowMs: () => number;
  readonly print: (line: string) => void;
  readonly warn: (error: unknown) => void;
}

/** A dozen small reads: not with each of the six jobs of a minute. */
const EVERY_MS = 5 * 60_000;

/** Tells where it is time to. Never rejects. */
export function backlogReporter({
  read,
  functionName,
  nowMs,
  print,
  warn,
}: BacklogParts): () => Promise<void> {
  let toldMs = Number.NEGATIVE_INFINITY;
  return async () => {
    if (nowMs() - toldMs < EVERY_MS) return;
    toldMs = nowMs();
    try {
      const { days, oldestAnnouncedMs = nowMs(), garbageLists } = await read();
      const ageSeconds = Math.max(0, (nowMs() - oldestAnnouncedMs) / 1000);
      print(
        embeddedLine(functionName, nowMs(), [
          { name: 'BacklogAge', unit: 'Seconds', value: Math.round(ageSeconds) },
          { name: 'BacklogDays', unit: 'Count', value: days.count },
          { name: 'BacklogGarbage', unit: 'Count', value: garbageLists.count },
        ]),
      );
    } catch (error) {
      warn(error);
    }
  };
}
