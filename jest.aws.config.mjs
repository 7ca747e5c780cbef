/** The tests against emulators of AWS, which scripts/test-aws.mjs starts. `npm test` leaves them out. */
import main from './jest.config.mjs';

/** Files that need S3: without MiniStack there is none. */
const ON_S3 = [
  '<rootDir>/test/aws/deploy.test.ts',
  '<rootDir>/test/aws/object-store.test.ts',
  '<rootDir>/test/aws/push-and-query.test.ts',
  '<rootDir>/test/aws/tail.test.ts',
  '<rootDir>/test/assembly/',
  '<rootDir>/test/end-to-end/',
];

/**
 * End-to-end tests that would repeat what `npm test` runs: of this machine's own processes and folders, or of services that they start
 * themselves. The canary needs more requests a second than the emulator takes.
 */
const NOT_ON_EMULATORS = [
  'kill|crash|bad-input|tail-canary',
  'corruption|deletion|lost-catalog|maintenance-thread|merge-after-pause|merge-backlog|reclaim',
  's3-storage|several-processes|small-pushes|tokens|unwritable-disk|write-tier',
];

export default {
  ...main,
  roots: ['<rootDir>/test/aws', '<rootDir>/test/assembly', '<rootDir>/test/end-to-end'],
  testPathIgnorePatterns: [
    '/node_modules/',
    `<rootDir>/test/end-to-end/(${NOT_ON_EMULATORS.join('|')})\\.test`,
    ...(process.env.LOGBOOM_TEST_MINISTACK === undefined ? ON_S3 : []),
  ],
  testTimeout: 120_000,
};
