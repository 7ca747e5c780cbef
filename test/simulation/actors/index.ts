/** The maintenance of a run. */
import type { SimulatedActor } from '../actor.ts';
import { askForMaintenance } from './ask-for-maintenance.ts';
import { changeLimits } from './change-limits.ts';
import { collectGarbage } from './collect-garbage.ts';
import { collectOrphans } from './collect-orphans.ts';
import { compactDay } from './compact-day.ts';
import { deleteEntries } from './delete-entries.ts';
import { mergeDay } from './merge-day.ts';
import { readDay } from './read-day.ts';
import { removeEntries } from './remove-entries.ts';
import { runJob } from './run-job.ts';
import { stallWorker } from './stall-worker.ts';
import { syncDay } from './sync-day.ts';

export const ACTORS: readonly SimulatedActor[] = [
  mergeDay,
  compactDay,
  syncDay,
  collectGarbage,
  collectOrphans,
  runJob,
  askForMaintenance,
  readDay,
  stallWorker,
];

/** Actors of a run with delete requests and retention. */
export const REMOVAL_ACTORS: readonly SimulatedActor[] = [
  ...ACTORS,
  deleteEntries,
  removeEntries,
  changeLimits,
];
