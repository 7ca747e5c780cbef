/**
 * Which suite runs. `npm test` sets TEST_SUITE to `fast`: long tests take a short form there, every property a quarter of its runs
 * (fast-check.mjs), and some files are omitted (jest.config.mjs). `npm run test:all`, `npm test -- PATTERN` and jest by hand run the long forms.
 */
import { test } from '@jest/globals';

export const isFastSuite = process.env.TEST_SUITE === 'fast';

export function bySuite<T>(values: { readonly fast: T; readonly full: T }): T {
  return isFastSuite ? values.fast : values.full;
}

/** Every `step`th row in the fast suite, and all rows in the full one. */
export function sampleOf<T>(rows: readonly T[], step: number): readonly T[] {
  return isFastSuite ? rows.filter((_, i) => i % step === 0) : rows;
}

const nothing = Object.assign(() => undefined, { each: () => () => undefined });

/** A test that only the full suite has. */
export const testInFull = (isFastSuite ? nothing : test) as typeof test;
