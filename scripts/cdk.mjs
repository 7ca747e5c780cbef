/**
 * `npm run cdk -- COMMAND ...`: the command line of the CDK that lib/package-lock.json names, with the pinned Node:
 *
 *     npm run cdk -- bootstrap
 *     npm run cdk -- deploy --context authorization=token
 *     npm run cdk -- destroy
 */
import { runCdk } from './run-cdk.mjs';

process.exitCode = runCdk(process.argv.slice(2));
