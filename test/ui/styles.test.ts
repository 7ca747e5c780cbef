/** Class names are global, so each has one owner: a part that styles the name of another part changes that part's layout. */

import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';

const STYLES = join(import.meta.dirname, '../../ui/src/styles');
/** Layout at phone width of what the others style. */
const SHARED = 'start.css';
/** Texts that are class names in more than one place or come from data: no sheet styles them by themselves. */
const STATES = ['values', 'nothing', 'read', 'open', 'chosen', 'critical', 'error', 'warn', 'firing'];

function classesStyledAlone(file: string): readonly string[] {
  const text = readFileSync(join(STYLES, file), 'utf8').replace(/\/\*[\s\S]*?\*\//g, '');
  return [...text.matchAll(/([^{}]+)\{/g)].flatMap(([, selectors]) =>
    selectors
      .split(',')
      .map(selector => /^\s*\.([\w-]+)\s*$/.exec(selector)?.[1])
      .filter(name => name !== undefined),
  );
}

const FILES = readdirSync(STYLES).filter(name => name.endsWith('.css') && name !== SHARED);
const OWNERS = new Map<string, Set<string>>();
for (const file of FILES) {
  for (const name of classesStyledAlone(file)) OWNERS.set(name, (OWNERS.get(name) ?? new Set()).add(file));
}

describe('class names', () => {
  test('have one style sheet each', () => {
    expect(OWNERS.size).toBeGreaterThan(100);
    const several = [...OWNERS].filter(([, files]) => files.size > 1).map(([name]) => name);
    expect(several).toEqual([]);
  });

  test('classes of states are styled with their component only', () => {
    expect(STATES.filter(name => OWNERS.has(name))).toEqual([]);
  });
});
