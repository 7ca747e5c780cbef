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

export default {
  ...main,
  roots: ['<rootDir>/test/aws', '<rootDir>/test/assembly', '<rootDir>/test/end-to-end'],
  testPathIgnorePatterns: [
    '/node_modules/',
    // About this machine's own processes and folders, not about what lies below the ports; the canary needs more requests a
    // second than the emulator takes.
    '<rootDir>/test/end-to-end/(kill|crash|bad-input|tail-canary)',
    ...(process.env.LOGBOOM_TEST_MINISTACK === undefined ? ON_S3 : []),
  ],
  testTimeout: 120_000,
};
