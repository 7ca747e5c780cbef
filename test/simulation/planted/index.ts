/** Every bug that the simulation must find. */
import type { Bug } from './bug.ts';
import * as maintenance from './maintenance.ts';
import * as pushes from './pushes.ts';
import * as removal from './removal.ts';
import * as retention from './retention.ts';
import * as swaps from './swaps.ts';
import * as table from './table.ts';
import * as work from './work.ts';

export const BUGS: readonly Bug[] = [pushes, table, maintenance, work, swaps, removal, retention].flatMap(
  bugs => Object.values<Bug>({ ...bugs }),
);
