/** Lambda function that creates and shows the first token. */

import { openAwsStorage } from '../shared/aws/storage.ts';
import { SYSTEM_CLOCK, SYSTEM_IDS } from '../shared/base/runtime/system-clock.ts';
import { TokenService } from '../shared/server/auth/token-service.ts';
import { Tokens } from '../shared/storage/catalog/tokens.ts';
import { createFirstToken } from './first-token-handler.ts';
import { readSettings } from './settings.ts';

const { table } = openAwsStorage({ ...readSettings(process.env), clock: SYSTEM_CLOCK, ids: SYSTEM_IDS });

export const handler = createFirstToken(
  new TokenService({ tokens: new Tokens({ table }), clock: SYSTEM_CLOCK, ids: SYSTEM_IDS }),
);
