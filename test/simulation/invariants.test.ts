import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import {
  BrokenInvariantError,
  INVARIANTS,
  type Invariant,
  mustHold,
} from '../../shared/base/model/invariants.ts';
import { anchorsOf } from '../docs/links.ts';
import { invariantsPage } from './invariants-page.ts';

const ROOT = join(import.meta.dirname, '../..');
const all = Object.entries<Invariant>(INVARIANTS);

/**
 * Asserted without mustHold: a damaged byte is not a defect, and the writer of chunks has separate messages.
 */
const OWN_WORDS: Readonly<Record<string, { readonly file: string; readonly text: string }>> = {
  rowsAscend: {
    file: 'shared/storage/chunk/chunk-assembler.ts',
    text: "'rows of a batch ascend by stream and time'",
  },
  checksumsHold: { file: 'shared/storage/codec/compression.ts', text: ': checksum ' },
};
/** The file that tests an invariant that is neither asserted nor simulated. */
const NEITHER: Readonly<Record<string, string>> = {
  memoryIsBounded: 'test/ingest/push-budget.test.ts',
  filtersAreSound: 'test/text-index/pruning-predicates.test.ts',
  pushWaitsForNoTail: 'test/catalog/tail-log.test.ts',
  noEvaluationIsSkipped: 'test/rules/instants.test.ts',
};

/** The text of all sources below a folder. */
function sourcesOf(folder: string, wants: (file: string) => boolean): string {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter(file => file.endsWith('.ts') && wants(file))
    .map(file => readFileSync(join(folder, file), 'utf8'))
    .join('\n');
}

/** Keys that the code names, in the order of the registry. */
function namedIn(code: string): string[] {
  return all.filter(([key]) => new RegExp(`INVARIANTS\\.${key}\\b`).test(code)).map(([key]) => key);
}

function saidToBe(how: Invariant['checkedBy'][number]): string[] {
  return all.filter(([, { checkedBy }]) => checkedBy.includes(how)).map(([key]) => key);
}

describe('the registry of invariants', () => {
  test('docs/dev/invariants.md is made from it', () => {
    expect(readFileSync(join(ROOT, 'docs/dev/invariants.md'), 'utf8')).toBe(invariantsPage());
  });

  test('each has a unique name, in an existing section', () => {
    expect(new Set(all.map(([, { name }]) => name)).size).toBe(all.length);
    for (const [key, { name, section }] of all) {
      expect(name).toBe(key.replace(/[A-Z]/g, letter => `-${letter.toLowerCase()}`));
      const [page, anchor] = section.split('#');
      expect(anchorsOf(readFileSync(join(ROOT, 'docs/dev', page), 'utf8'))).toContain(anchor);
    }
  });

  test('the simulation checks exactly the invariants that are marked so', () => {
    const code = sourcesOf(import.meta.dirname, file => !file.startsWith('invariants'));
    expect(namedIn(code)).toEqual(saidToBe('simulation'));
  });

  test('the code asserts exactly the invariants that are marked so', () => {
    const code = sourcesOf(join(ROOT, 'shared'), file => file !== join('base', 'model', 'invariants.ts'));
    const named = namedIn(code);
    for (const [key, { file, text }] of Object.entries(OWN_WORDS)) {
      expect(readFileSync(join(ROOT, file), 'utf8')).toContain(text);
      named.push(key);
    }
    expect([...new Set(named)].sort()).toEqual(saidToBe('assertion').sort());
  });

  test('each is asserted or simulated, or has a test file', () => {
    const others = all.filter(
      ([, { checkedBy: by }]) => !by.includes('simulation') && !by.includes('assertion'),
    );
    expect(others.map(([key]) => key).sort()).toEqual(Object.keys(NEITHER).sort());
    for (const file of Object.values(NEITHER))
      expect(readFileSync(join(ROOT, file), 'utf8')).toMatch(/\btest(\.each)?\(/);
  });

  test('an error names the broken invariant, and details are computed only then', () => {
    let made = 0;
    const details = () => `details ${++made}`;
    mustHold(INVARIANTS.exactlyOnce, true, details);
    expect(made).toBe(0);
    const broken = () => mustHold(INVARIANTS.exactlyOnce, false, details);
    expect(broken).toThrow('invariant broken: exactly-once: details 1');
    expect(broken).toThrow(BrokenInvariantError);
  });
});
