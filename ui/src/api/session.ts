/**
 * Identity of the session: the tenant, from the URL or remembered by this browser, and the credentials of
 * this tab. Credentials are only in session storage: closing the tab signs out.
 */
import { route } from '../state/navigation.ts';
import { settings } from '../state/settings.ts';
import { createStore } from '../state/store.ts';

interface BasicCredentials {
  /** User of HTTP Basic authentication; with a token, its tenant or name. */
  readonly user: string;
  readonly password: string;
}

const KEY = 'logboom.credentials';

export const credentials = createStore<BasicCredentials | undefined>(read());

export function signIn(given: BasicCredentials): void {
  try {
    window.sessionStorage.setItem(KEY, JSON.stringify(given));
  } catch {
    // Without storage, they apply until the page is reloaded.
  }
  credentials.set(given);
}

export function signOut(): void {
  try {
    window.sessionStorage.removeItem(KEY);
  } catch {
    // Same as above.
  }
  credentials.set(undefined);
}

/** Chosen tenant; empty if none is chosen, which suffices for a store with one tenant. */
export function currentTenant(): string {
  return route.get().params.tenant ?? settings.get().tenant;
}

export function sessionHeaders(): Record<string, string> {
  const headers: Record<string, string> = {};
  const tenant = currentTenant();
  if (tenant !== '') headers['X-Scope-OrgID'] = tenant;
  const known = credentials.get();
  if (known !== undefined) headers.Authorization = `Basic ${base64(`${known.user}:${known.password}`)}`;
  return headers;
}

function base64(text: string): string {
  return btoa(String.fromCharCode(...new TextEncoder().encode(text)));
}

function read(): BasicCredentials | undefined {
  try {
    const text = window.sessionStorage.getItem(KEY);
    return text === null ? undefined : (JSON.parse(text) as BasicCredentials);
  } catch {
    return undefined;
  }
}
