/**
 * `npm run synth`: writes the stack as CloudFormation, with the bundled functions, into cdk.out. Needs no
 * account, and no network once its packages are installed. Arguments go to the CDK: `npm run synth --
 * --context authorization=token`.
 */
import { runCdk } from './run-cdk.mjs';

const args = ['synth', '--quiet', '--no-notices', '--no-version-reporting', ...process.argv.slice(2)];
process.exitCode = runCdk(args, { stdin: 'ignore' });
