/**
 * Makes the first token of a deployment and shows it once: called by whoever may call functions of the account, and by nothing else.
 * The token is made by the first call and kept by nobody, so there is none to find in templates, outputs or secrets. It may do
 * everything, for all tenants; others are made with it by HTTP.
 *
 * Failures are results, not errors: people read them, and no alarm is about them.
 */

import { ALL_TENANTS, SCOPES } from '../shared/base/model/scopes.ts';
import type { TokenService } from '../shared/server/auth/token-service.ts';

export type FirstTokenResult = { readonly token: string } | { readonly error: string };

const NAME = 'first';

/** Throws what the table throws. */
export function createFirstToken(tokens: TokenService): () => Promise<FirstTokenResult> {
  return async () => {
    const made = await tokens.createFirst({ name: NAME, scopes: SCOPES, tenants: [ALL_TENANTS] });
    if ('token' in made) return { token: made.token };
    const when = new Date(made.takenMs).toISOString();
    return {
      error: `the first token was shown at ${when}, and is shown once; logboom token create makes others on the stores themselves`,
    };
  };
}
