/**
 * Access of this session: if the store requires tokens, and what this session's token may do. Requested once,
 * before the first request, because it decides how requests are sent.
 *
 * A store with tokens challenges a wrong one, and a browser would open a dialog for the challenge. So
 * requests then omit the browser's credentials. Without tokens they include them, for a proxy that identifies
 * users by a cookie.
 */
import { createStore } from '../state/store.ts';
import { sessionHeaders } from './session.ts';

interface KnownAccess {
  readonly tokensEnabled: boolean;
  /** True if the store has several tenants. */
  readonly authEnabled: boolean;
  /** Scopes of the token; all scopes if tokens are disabled. */
  readonly scopes: readonly string[];
  /** Tenants of the token; `*` means all. */
  readonly tenants: readonly string[];
}

interface AccessResponse {
  readonly data: {
    readonly tokens_enabled: boolean;
    readonly auth_enabled: boolean;
    readonly scopes: readonly string[];
    readonly tenants: readonly string[];
  };
}

/**
 * Undefined until the store responds. A store that does not report its access is treated as one with several
 * tenants.
 */
export const knownAccess = createStore<KnownAccess | undefined>(undefined);

const SEVERAL_TENANTS: KnownAccess = { tokensEnabled: false, authEnabled: true, scopes: [], tenants: [] };

let asked: Promise<void> | undefined;

/** Credentials mode of requests. `root` is the API root. */
export async function credentialsMode(root: URL): Promise<'omit' | 'same-origin'> {
  asked ??= fetchOnce(root);
  await asked;
  return knownAccess.get()?.tokensEnabled ? 'omit' : 'same-origin';
}

/** Never rejects: the next request reports the failure. */
async function fetchOnce(root: URL): Promise<void> {
  try {
    const answer = await fetch(new URL('svc/api/v1/auth/me', root), {
      headers: sessionHeaders(),
      credentials: 'omit',
    });
    if (answer.ok) {
      const { data } = (await answer.json()) as AccessResponse;
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
    // A proxy responded with its own page, or there was no response.
    knownAccess.set(SEVERAL_TENANTS);
  }
}
