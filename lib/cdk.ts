/**
 * Entry point that the CDK runs (cdk.json) to synthesize the stack. Installs the stack's packages on the
 * first run, for any caller of the CDK.
 */
import { ensureStackInstalled } from '../bin/stack-modules.mjs';

ensureStackInstalled();
const { synthesize } = await import('./app.ts');
const { SettingsError } = await import('./settings.ts');
try {
  await synthesize();
} catch (error) {
  if (!(error instanceof SettingsError)) throw error;
  // A settings error needs no stack trace.
  process.stderr.write(`${error.message}\n`);
  process.exitCode = 1;
}
