/** What the CDK runs (cdk.json) to get the stack. Its packages are installed on the first run, whichever CDK calls. */
import { ensureStackInstalled } from '../scripts/stack-modules.mjs';

ensureStackInstalled();
const { synthesise } = await import('../lib/app.ts');
await synthesise();
