/**
 * `GET /svc/api/v1/status/maintenance`: last run of each maintenance job, and the backlog
 * (docs/dev/operations.md).
 */

import { formatGoDuration } from '../../../base/model/duration.ts';
import { NS_PER_MS } from '../../../base/model/time-units.ts';
import type { LastRun } from '../../../upkeep/maintenance/jobs.ts';
import type { BoundedCount, JobStatus } from '../../../upkeep/maintenance/status.ts';
import type { HttpContext } from '../context.ts';
import { json } from '../respond.ts';
import type { Handler } from '../routes.ts';

/** About the whole store, so the request names no tenant. */
export const showMaintenance: Handler<HttpContext> = async ({ maintenance }) => {
  const { jobs, backlog } = await maintenance.status();
  const { days, oldestAnnouncedMs, garbageLists } = backlog;
  return json({
    jobs: jobs.map(jobJson),
    backlog: {
      outstanding_days: countJson(days),
      oldest_announcement: oldestAnnouncedMs === undefined ? null : timeText(oldestAnnouncedMs),
      garbage_lists: countJson(garbageLists),
    },
  });
};

function jobJson({ job, everyMs, lastRun }: JobStatus) {
  return {
    name: job,
    interval: durationText(everyMs),
    last_run: lastRun === undefined ? null : runJson(lastRun),
  };
}

function runJson({ startedMs, endedMs, done, figures, failures }: LastRun) {
  return {
    started: timeText(startedMs),
    ended: timeText(endedMs),
    duration: durationText(Math.max(0, endedMs - startedMs)),
    done,
    figures,
    failures,
  };
}

function countJson({ count, atLeast }: BoundedCount) {
  return { count, at_least: atLeast };
}

function timeText(ms: number): string {
  return new Date(Math.trunc(ms)).toISOString();
}

function durationText(ms: number): string {
  return formatGoDuration(BigInt(Math.trunc(ms)) * NS_PER_MS);
}
