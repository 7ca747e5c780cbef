/** Tickets for what takes no header, where tokens are on. */
import { askJson } from './client.ts';

/** Good for one live tail of the current tenant, within a minute. */
export async function askTicket(signal?: AbortSignal): Promise<string> {
  const path = '/svc/api/v1/auth/ticket';
  return (await askJson<{ data: { ticket: string } }>(path, { method: 'POST', signal })).data.ticket;
}
