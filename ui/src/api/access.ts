/** What the store asks of those who call it, and tickets for what takes no header. */
import { askJson } from './client.ts';

export interface Access {
  readonly tokensEnabled: boolean;
  /** Several tenants, told apart by a header. */
  readonly authEnabled: boolean;
}

interface Me {
  readonly tokens_enabled: boolean;
  readonly auth_enabled: boolean;
}

export async function askAccess(signal?: AbortSignal): Promise<Access> {
  const { data } = await askJson<{ data: Me }>('/svc/api/v1/auth/me', { signal });
  return { tokensEnabled: data.tokens_enabled, authEnabled: data.auth_enabled };
}

/** Good for one live tail of the current tenant, within a minute. */
export async function askTicket(signal?: AbortSignal): Promise<string> {
  const path = '/svc/api/v1/auth/ticket';
  return (await askJson<{ data: { ticket: string } }>(path, { method: 'POST', signal })).data.ticket;
}
