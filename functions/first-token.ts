/** Lambda function that makes and shows the first token. */
import { systemClock, systemIds } from '../local/system-clock.ts';
import { openAwsStorage } from '../shared/aws/storage.ts';
import { TokenService } from '../shared/server/auth/token-service.ts';
import { Tokens } from '../shared/storage/catalog/tokens.ts';
import { createFirstToken } from './first-token-handler.ts';
import { readSettings } from './settings.ts';

const { table } = openAwsStorage({ ...readSettings(process.env), clock: systemClock, ids: systemIds });

export const handler = createFirstToken(
  new TokenService({ tokens: new Tokens({ table }), clock: systemClock, ids: systemIds }),
);
