/**
 * `node write-assemblies.ts FOLDER VARIANTS`: writes the assemblies of a stack in several settings (JSON,
 * settings by name) from one run of the bundler, with the same code as the app of the CDK (lib/app.ts). It runs
 * in a separate process, because the CDK is too large for that of tests.
 */
import { writeVariants } from '../../../lib/write-variants.ts';

const [folder, variants] = process.argv.slice(2);
await writeVariants(folder, JSON.parse(variants) as Record<string, Record<string, string>>);
process.exit(process.exitCode ?? 0);
