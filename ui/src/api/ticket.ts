/** Tickets for connections without headers, if tokens are enabled. */
import { fetchJson } from './client.ts';

/** Ticket for one live tail of the current tenant, valid for one minute. */
export async function fetchTicket(signal?: AbortSignal): Promise<string> {
  const path = '/svc/api/v1/auth/ticket';
  return (await fetchJson<{ data: { ticket: string } }>(path, { method: 'POST', signal })).data.ticket;
}
