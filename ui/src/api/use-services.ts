/** Services with logs in a range, largest first. */
import { fetchVolume, type MsRange } from './queries.ts';
import { type RequestState, useRequest } from './use-request.ts';

export interface LogService {
  readonly name: string;
  readonly bytes: number;
}

/** Label that the store adds to each stream without it (discover_service_name). */
export const SERVICE_LABEL = 'service_name';
const MAX_SERVICES = 60;

/** @param range undefined while the list is hidden */
export function useServices(range: MsRange | undefined): RequestState<readonly LogService[] | undefined> {
  return useRequest(
    async signal => {
      if (range === undefined) return undefined;
      const asked = { selector: `{${SERVICE_LABEL}=~".+"}`, by: [SERVICE_LABEL], limit: MAX_SERVICES };
      const volumes = await fetchVolume({ ...asked, ...range }, signal);
      return volumes.map(({ labels, bytes }) => ({ name: labels[SERVICE_LABEL] ?? '', bytes }));
    },
    [range],
  );
}
