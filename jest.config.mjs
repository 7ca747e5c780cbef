/** Tests are ES modules, like the program, and their types are stripped as Node strips the program's. */
export default {
  testEnvironment: '<rootDir>/test/support/environment.mjs',
  roots: ['<rootDir>/test'],
  // Needs emulators: `npm run test:aws`.
  testPathIgnorePatterns: ['/node_modules/', '<rootDir>/test/aws/', '<rootDir>/test/assembly/'],
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
  reporters: ['default', '<rootDir>/test/support/stalled-files.mjs'],
  // A bound, not a measure: machines of CI are several times slower at times.
  testTimeout: 300_000,
  maxWorkers: 2,
  // Pages in large buffers beside a large heap make every allocation pay for a collection: such tests took ten times as long.
  // Modules of a test file stay in the heap of its process; a new process costs half a second. With 400 MB all took half as long again.
  workerIdleMemoryLimit: '120MB',
};
