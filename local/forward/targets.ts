/** Where a process forwards requests to. Only its settings decide that, and never a request. */
import { ConfigError } from '../../shared/server/admin/config-error.ts';
import type { Config } from '../../shared/server/admin/config-fields.ts';

interface ForwardTargets {
  /** Origin for HTTP requests. */
  readonly requests: URL;
  readonly tails: TailTarget;
}

export interface TailTarget {
  /** Origin for live tails. */
  readonly origin: URL;
  /** Path of all tails; undefined keeps the path of the request. */
  readonly path: string | undefined;
}

/** Targets of the program that accept pushes. */
const WRITERS: readonly string[] = ['all', 'write', 'distributor'];

/** Undefined if nothing is forwarded. Throws ConfigError for an address or a target that cannot be used. */
export function forwardTargetsOf({ auth, logboom }: Config): ForwardTargets | undefined {
  const { forwardTo, forwardTailsTo } = logboom;
  if (forwardTo === '') {
    if (forwardTailsTo === '') return undefined;
    throw new ConfigError(
      'logboom.forward_tails_to needs logboom.forward_to, the address for other requests',
    );
  }
  if (!WRITERS.includes(auth.target))
    throw new ConfigError(
      `logboom.forward_to is for processes that accept pushes (${WRITERS.join(', ')}), not for the target ${auth.target}`,
    );
  const requests = addressIn('forward_to', forwardTo);
  if (requests.pathname !== '/') throw new ConfigError('logboom.forward_to must have no path');
  if (forwardTailsTo === '') return { requests, tails: { origin: requests, path: undefined } };
  const origin = addressIn('forward_tails_to', forwardTailsTo);
  return { requests, tails: { origin, path: origin.pathname === '/' ? undefined : origin.pathname } };
}

function addressIn(name: string, written: string): URL {
  const url = URL.parse(written);
  const isPlain =
    url !== null && url.username === '' && url.password === '' && url.search === '' && url.hash === '';
  if (isPlain && /^https?:$/.test(url.protocol)) return url;
  throw new ConfigError(
    `logboom.${name} must be an address such as https://logs.example.com, without a login`,
  );
}
