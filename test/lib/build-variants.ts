/**
 * `node build-variants.ts FOLDER`: lib/write-variants.ts, in a separate process, because the CDK and esbuild
 * are too large for that of tests.
 */
import { checksRefuse, writeVariants } from '../../lib/write-variants.ts';
import { VARIANTS } from './variants.ts';

const folder = process.argv[2];
await writeVariants(folder, VARIANTS);
const exitCode = process.exitCode ?? 0;
const refused = checksRefuse(folder);
process.stdout.write(`\n${JSON.stringify({ refused, exitCode })}`, () => process.exit(0));
