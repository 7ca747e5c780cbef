/** Importers of a part's modules get a function for each name (lib/parts-apart.ts). */
import { fileURLToPath } from 'node:url';
import { expect, test } from '@jest/globals';
import { PARTS_APART } from '../../lib/parts-apart.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));

test.each(Object.values(PARTS_APART).flat())('%s exports functions only', async module => {
  const exported = Object.entries(await import(`${ROOT}${module}`));
  expect(exported.length).toBeGreaterThan(0);
  for (const [name, value] of exported) expect([name, typeof value]).toEqual([name, 'function']);
});
