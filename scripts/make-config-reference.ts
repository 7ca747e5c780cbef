/** Writes docs/reference/configuration.md anew: `node scripts/make-config-reference.ts`, after a key has changed. */
import { writeFileSync } from 'node:fs';
import { configReference, REFERENCE_PAGE } from '../shared/server/admin/config-reference.ts';

writeFileSync(new URL(`../${REFERENCE_PAGE}`, import.meta.url), configReference());
process.stdout.write(`${REFERENCE_PAGE} is up to date\n`);
