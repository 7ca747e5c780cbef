/** What the CDK runs (cdk.json) to get the stack. */
import { synthesise } from '../lib/app.ts';

await synthesise();
