/**
 * Updates the tables of docs/reference/configuration.md: run `node scripts/make-config-reference.ts` after
 * changing a key.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { configReference, GENERATED_MARK, REFERENCE_PAGE } from '../shared/server/admin/config-reference.ts';

const page = new URL(`../${REFERENCE_PAGE}`, import.meta.url);
const [byHand] = readFileSync(page, 'utf8').split(GENERATED_MARK, 1);
writeFileSync(page, byHand + GENERATED_MARK + configReference());
process.stdout.write(`${REFERENCE_PAGE} is up to date\n`);
