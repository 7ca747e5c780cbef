/** Tests are ES modules, like the program: swc only strips types. */
export default {
  testEnvironment: 'node',
  roots: ['<rootDir>/test'],
  // Needs emulators: `npm run test:aws`.
  testPathIgnorePatterns: ['/node_modules/', '<rootDir>/test/aws/', '<rootDir>/test/assembly/'],
  testMatch: ['**/*.test.ts'],
  extensionsToTreatAsEsm: ['.ts'],
  transform: {
    '^.+\\.ts$': [
      '@swc/jest',
      { jsc: { parser: { syntax: 'typescript' }, target: 'es2024' }, module: { type: 'es6' } },
    ],
  },
  // A bound, not a measure: machines of CI are several times slower at times.
  testTimeout: 300_000,
  maxWorkers: 2,
  // Pages in large buffers beside a large heap make every allocation pay for a collection: such tests took ten times as long.
  workerIdleMemoryLimit: '400MB',
};
