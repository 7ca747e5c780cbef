/** `node write-variants.ts FOLDER`: the assemblies of variants.ts, in a process of their own, as the CDK is large. */
import { writeVariants } from '../../../lib/write-variants.ts';
import { VARIANTS } from './variants.ts';

await writeVariants(process.argv[2], VARIANTS);
