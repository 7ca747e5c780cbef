/** What the CDK runs (cdk.json) to get the stack. Its packages are installed on the first run, whichever CDK calls. */
import { ensureStackInstalled } from '../scripts/stack-modules.mjs';

ensureStackInstalled();
const { synthesise } = await import('../lib/app.ts');
const { SettingsError } = await import('../lib/settings.ts');
try {
  await synthesise();
} catch (error) {
  if (!(error instanceof SettingsError)) throw error;
  // Who gave them needs no trace.
  process.stderr.write(`${error.message}\n`);
  process.exitCode = 1;
}
