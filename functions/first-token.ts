/** Lambda function that makes and shows the first token. */
import { systemClock, systemIds } from '../local/system-clock.ts';
import { TokenService } from '../shared/auth/token-service.ts';
import { openAwsStorage } from '../shared/aws/storage.ts';
import { Tokens } from '../shared/catalog/tokens.ts';
import { createFirstToken } from './first-token-handler.ts';
import { readSettings } from './settings.ts';

const { table } = openAwsStorage({ ...readSettings(process.env), clock: systemClock, ids: systemIds });

export const handler = createFirstToken(
  new TokenService({ tokens: new Tokens({ table }), clock: systemClock, ids: systemIds }),
);
