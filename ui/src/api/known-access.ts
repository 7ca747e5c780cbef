/**
 * Whether the store asks for tokens, and what the one of this session may do. Asked once, before the first request, because it
 * decides how requests are sent: a store with tokens answers a wrong one with a challenge, for which a browser would open a dialog
 * of its own unless the request leaves the browser's credentials out. Without tokens they go along, for a proxy that knows
 * its users by a cookie.
 */
import { createStore } from '../state/store.ts';
import { sessionHeaders } from './session.ts';

export interface KnownAccess {
  readonly tokensEnabled: boolean;
  /** Whether there are several tenants. */
  readonly authEnabled: boolean;
  /** Of the token; all where there are no tokens. */
  readonly scopes: readonly string[];
  /** `*` stands for all. */
  readonly tenants: readonly string[];
}

interface Me {
  readonly data: {
    readonly tokens_enabled: boolean;
    readonly auth_enabled: boolean;
    readonly scopes: readonly string[];
    readonly tenants: readonly string[];
  };
}

/** Undefined until the store answered; a store that does not say is taken for one with several tenants. */
export const knownAccess = createStore<KnownAccess | undefined>(undefined);

const SEVERAL_TENANTS: KnownAccess = { tokensEnabled: false, authEnabled: true, scopes: [], tenants: [] };

let asked: Promise<void> | undefined;

/** How requests are sent. `root` is that of the API. */
export async function credentialsMode(root: URL): Promise<'omit' | 'same-origin'> {
  asked ??= askOnce(root);
  await asked;
  return knownAccess.get()?.tokensEnabled ? 'omit' : 'same-origin';
}

/** Never rejects: what cannot be known here is told by the request that follows. */
async function askOnce(root: URL): Promise<void> {
  try {
    const answer = await fetch(new URL('svc/api/v1/auth/me', root), {
      headers: sessionHeaders(),
      credentials: 'omit',
    });
    if (answer.ok) {
      const { data } = (await answer.json()) as Me;
      knownAccess.set({
        tokensEnabled: data.tokens_enabled,
        authEnabled: data.auth_enabled,
        scopes: data.scopes,
        tenants: data.tenants,
      });
    } else {
      const tokensEnabled = /realm="logboom"/.test(answer.headers.get('www-authenticate') ?? '');
      knownAccess.set({ ...SEVERAL_TENANTS, tokensEnabled });
    }
  } catch {
    // A proxy that answers with its own page, or no answer at all.
    knownAccess.set(SEVERAL_TENANTS);
  }
}
