/**
 * Files that only the full suite has: each takes 4 to 40 s, starts many processes or waits for timeouts, and has no short form. The
 * fast suite takes under five minutes without them.
 */
const FULL_ONLY = [
  'adversarial/(broken-disk|broken-requests|event-functions|exhaustion|full-disk|push-memory|websockets)',
  'bin/(logcli-habits|migrate|push-follow|view)',
  'end-to-end/(agents|bad-input|canary|equal-times|fan-out|fronts|lost-catalog|merge-after-pause|reclaim|s3-storage)',
  'end-to-end/(merge-threads|openapi|tail-canary|threads|unwritable-disk|write-tier)',
  'functions/missing-index',
  'lib/stack',
  'query/(equal-times-history|million-series)',
];
const left = process.env.TEST_SUITE === 'fast' ? FULL_ONLY : [];

/** Tests are ES modules, like the program, and their types are stripped as Node strips the program's. */
export default {
  testEnvironment: '<rootDir>/test/support/environment.mjs',
  roots: ['<rootDir>/test'],
  // Needs emulators: `npm run test:aws`.
  testPathIgnorePatterns: [
    '/node_modules/',
    '<rootDir>/test/aws/',
    '<rootDir>/test/assembly/',
    ...left.map(path => `<rootDir>/test/${path}\\.test`),
  ],
  testMatch: ['**/*.test.ts'],
  extensionsToTreatAsEsm: ['.ts'],
  moduleNameMapper: {
    '^fast-check$': '<rootDir>/test/support/fast-check.mjs',
    '/thread-entry\\.ts$': '<rootDir>/test/support/program.ts',
  },
  globalSetup: '<rootDir>/test/support/global-setup.mjs',
  transform: {
    '^.+\\.ts$': '<rootDir>/test/support/strip-types.mjs',
  },
  testSequencer: '<rootDir>/test/support/long-first.mjs',
  reporters: ['default', '<rootDir>/test/support/stalled-files.mjs'],
  // Only stops tests that hang: CI can be several times slower.
  testTimeout: 300_000,
  maxWorkers: 2,
  // With a large heap, tests that allocate large buffers cause a collection at each allocation, and take ten times as long.
  // The heap keeps the modules of earlier test files. A new process costs half a second. With 400 MB, the suite takes 1.5 times as long.
  workerIdleMemoryLimit: '120MB',
};
