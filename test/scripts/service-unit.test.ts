/**
 * The systemd unit as far as its text shows it; `npm run test:install -- service` runs the store under it.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';

const UNIT = readFileSync(join(import.meta.dirname, '../../packaging/logboom.service'), 'utf8');
const valuesOf = (key: string) =>
  [...UNIT.matchAll(new RegExp(`^${key}=(.*)$`, 'gm'))].map(([, value]) => value);

test('operations that the unit denies fail instead of ending the store, and threads may lower their priority', () => {
  expect(valuesOf('SystemCallErrorNumber')).toEqual(['EPERM']);
  const filters = valuesOf('SystemCallFilter');
  // A later filter overrides earlier ones.
  expect(filters.lastIndexOf('setpriority')).toBeGreaterThan(
    filters.findIndex(value => value.includes('@resources')),
  );
});
