/**
 * `node write-variants.ts FOLDER`: writes the assemblies of variants.ts in a separate process, because the CDK
 * is large.
 */
import { writeVariants } from '../../../lib/write-variants.ts';
import { VARIANTS } from './variants.ts';

await writeVariants(process.argv[2], VARIANTS);
