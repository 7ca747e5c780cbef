/** The maintenance of a run. */
import type { SimulatedActor } from '../actor.ts';
import { collectGarbage } from './collect-garbage.ts';
import { compactDay } from './compact-day.ts';
import { mergeDay } from './merge-day.ts';
import { readDay } from './read-day.ts';

export const ACTORS: readonly SimulatedActor[] = [mergeDay, compactDay, collectGarbage, readDay];
