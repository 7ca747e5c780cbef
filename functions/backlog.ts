/**
 * Prints the age and size of the backlog as embedded metrics, for the alarm of an account. Runs together with
 * the maintenance function, at most every 5 minutes.
 *
 * Pitfall: the oldest announcement can be one day old in a healthy store. A day leaves the list when it is
 * settled, one hour after its end. Only an age well above 25 hours shows that compaction is stuck.
 */
import { MS_PER_MINUTE } from '../shared/base/model/time-units.ts';
import type { Backlog } from '../shared/upkeep/maintenance/status.ts';
import { embeddedLine } from './embedded-line.ts';

interface BacklogParts {
  /** Throws if the table fails. */
  readonly read: () => Promise<Backlog>;
  readonly functionName: string;
  readonly nowMs: () => number;
  readonly print: (line: string) => void;
  readonly warn: (error: unknown) => void;
}

/** Each report needs about 12 small reads, too many for each of the 6 jobs that run every minute. */
const EVERY_MS = 5 * MS_PER_MINUTE;

/** Prints the backlog if a report is due. Never rejects. */
export function backlogReporter({
  read,
  functionName,
  nowMs,
  print,
  warn,
}: BacklogParts): () => Promise<void> {
  let reportedMs = Number.NEGATIVE_INFINITY;
  return async () => {
    if (nowMs() - reportedMs < EVERY_MS) return;
    reportedMs = nowMs();
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
