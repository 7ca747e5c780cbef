/**
 * Creates the first token of a deployment and shows it once. Only principals that may invoke functions of the
 * account can call it. The first call creates the token and does not save it, so no template, output or
 * secret contains it. The token has all scopes for all tenants, and creates other tokens by HTTP.
 *
 * Failures are results, not errors: people read them, and they must not trigger an alarm.
 */

import { ALL_TENANTS, SCOPES } from '../shared/base/model/scopes.ts';
import type { TokenService } from '../shared/server/auth/token-service.ts';

type FirstTokenResult = { readonly token: string } | { readonly error: string };

const NAME = 'first';

/** Throws the errors of the table. */
export function createFirstToken(tokens: TokenService): () => Promise<FirstTokenResult> {
  return async () => {
    const made = await tokens.createFirst({ name: NAME, scopes: SCOPES, tenants: [ALL_TENANTS] });
    if ('token' in made) return { token: made.token };
    const when = new Date(made.takenMs).toISOString();
    return {
      error: `the first token was shown at ${when} and cannot be shown again; run logboom token create on the stores to create others`,
    };
  };
}
