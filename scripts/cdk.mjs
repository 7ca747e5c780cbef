/**
 * `npm run cdk -- COMMAND ...`: the CDK command line of lib/package-lock.json, with the pinned Node.js:
 *
 *     npm run cdk -- bootstrap
 *     npm run cdk -- deploy --context authorization=token
 *     npm run cdk -- destroy
 */
import { runCdk } from './run-cdk.mjs';

process.exitCode = runCdk(process.argv.slice(2));
