/** The stack and its bundles, built once; each part of it has a file of tests. */
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { apiTests } from './api-tests.ts';
import { type Built, build } from './build.ts';
import { bundleTests } from './bundle-tests.ts';
import { costTests } from './cost-tests.ts';
import { dataTests } from './data-tests.ts';
import { edgeTests } from './edge-tests.ts';
import { eventTests } from './event-tests.ts';
import { exportTests } from './export-tests.ts';
import { firstDeployTests } from './first-deploy-tests.ts';
import { roleTests } from './role-tests.ts';
import { startTests } from './start-tests.ts';
import { watchTests } from './watch-tests.ts';
import { writeTests } from './write-tests.ts';

let built: Built;
beforeAll(async () => {
  built = await build();
});
afterAll(() => built?.remove());

test('the checks of cdk-nag, which all variants pass, refuse violations', () => {
  expect(built.checksRefuse).toBe(true);
});

firstDeployTests(() => built);
costTests(() => built);
apiTests(() => built);
dataTests(() => built);
roleTests(() => built);
edgeTests(() => built);
watchTests(() => built);
eventTests(() => built);
exportTests(() => built);
bundleTests(() => built);
startTests(() => built);
writeTests(() => built);
