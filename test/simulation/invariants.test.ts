import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { BrokenInvariantError, INVARIANTS, type Invariant, mustHold } from '../../shared/model/invariants.ts';
import { invariantsPage } from './invariants-page.ts';

const ROOT = join(import.meta.dirname, '../..');
const all = Object.entries<Invariant>(INVARIANTS);

describe('the registry of invariants', () => {
  test('docs/invariants.md is made from it', () => {
    expect(readFileSync(join(ROOT, 'docs/invariants.md'), 'utf8')).toBe(invariantsPage());
  });

  test('each has a name of its own, in a section that is there', () => {
    const design = readFileSync(join(ROOT, 'docs/architecture.md'), 'utf8');
    expect(new Set(all.map(([, { name }]) => name)).size).toBe(all.length);
    for (const [key, { name, section }] of all) {
      expect(name).toBe(key.replace(/[A-Z]/g, letter => `-${letter.toLowerCase()}`));
      expect(design).toMatch(new RegExp(`^## ${section}\\. `, 'm'));
    }
  });

  test('the simulation checks those that say so, and no others', () => {
    const files = readdirSync(import.meta.dirname, { recursive: true, encoding: 'utf8' });
    const code = files
      .filter(file => file.endsWith('.ts') && !file.startsWith('invariants'))
      .map(file => readFileSync(join(import.meta.dirname, file), 'utf8'))
      .join('\n');
    const used = all.filter(([key]) => new RegExp(`INVARIANTS\\.${key}\\b`).test(code)).map(([key]) => key);
    const said = all.filter(([, { checkedBy }]) => checkedBy.includes('simulation')).map(([key]) => key);
    expect(used).toEqual(said);
  });

  test('an error names what is broken, and details are made for it alone', () => {
    let made = 0;
    const details = () => `details ${++made}`;
    mustHold(INVARIANTS.exactlyOnce, true, details);
    expect(made).toBe(0);
    const broken = () => mustHold(INVARIANTS.exactlyOnce, false, details);
    expect(broken).toThrow('invariant broken: exactly-once: details 1');
    expect(broken).toThrow(BrokenInvariantError);
  });
});
