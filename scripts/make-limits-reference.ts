/**
 * Updates docs/reference/limits.md: run `node scripts/make-limits-reference.ts` after changing a limit or
 * scripts/limits/page.md.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { LIMITS_PAGE, LIMITS_SOURCE, limitsPage } from './limits/render.ts';

const root = new URL('../', import.meta.url);
writeFileSync(new URL(LIMITS_PAGE, root), limitsPage(readFileSync(new URL(LIMITS_SOURCE, root), 'utf8')));
process.stdout.write(`${LIMITS_PAGE} is up to date\n`);
