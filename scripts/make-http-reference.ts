/**
 * Updates the endpoints of docs/reference/http-api.md: run `node scripts/make-http-reference.ts` after
 * changing a route.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { API_MARK, API_PAGE, apiReference } from '../shared/server/http/api-docs/api-reference.ts';
import { ROUTES } from '../shared/server/http/route-table.ts';

const page = new URL(`../${API_PAGE}`, import.meta.url);
const [byHand] = readFileSync(page, 'utf8').split(API_MARK, 1);
writeFileSync(page, byHand + API_MARK + apiReference(ROUTES));
process.stdout.write(`${API_PAGE} is up to date\n`);
