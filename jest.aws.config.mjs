/** The tests against emulators of AWS, which scripts/test-aws.mjs starts. `npm test` leaves them out. */
import main from './jest.config.mjs';

export default {
  ...main,
  roots: ['<rootDir>/test/aws'],
  testPathIgnorePatterns: ['/node_modules/'],
  testTimeout: 120_000,
};
