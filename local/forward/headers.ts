/**
 * Headers of forwarded messages (RFC 9110, 7.6). Headers about one connection are not forwarded. The target learns the
 * client's address and the host that the client used.
 */
import type { IncomingMessage, OutgoingHttpHeaders } from 'node:http';
import { ClientError } from '../../shared/base/model/errors.ts';

/** Marks a request that a process forwarded. A process does not forward it again, so that no request goes in circles. */
const FORWARDED_HEADER = 'x-logboom-forwarded';

/** `Expect` is answered by the process that forwards. */
const OF_CONNECTION = [
  'connection',
  'expect',
  'keep-alive',
  'proxy-authenticate',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
];
const IPV4_IN_IPV6 = /^::ffff:(?=\d+\.)/;

type Headers = Record<string, string[]>;

/** Headers that go beyond the connection, in lower case, each with all its values. */
export function endToEndHeaders({ rawHeaders }: Pick<IncomingMessage, 'rawHeaders'>): Headers {
  const headers: Headers = Object.create(null);
  for (let i = 0; i < rawHeaders.length; i += 2)
    (headers[rawHeaders[i].toLowerCase()] ??= []).push(rawHeaders[i + 1]);
  const named = (headers.connection ?? [])
    .flatMap(value => value.split(','))
    .map(name => name.trim().toLowerCase());
  for (const name of [...OF_CONNECTION, ...named]) delete headers[name];
  return headers;
}

/** Headers for the target, without those that frame the body. Throws ClientError 508 if the request was forwarded before. */
export function forwardedHeaders(incoming: IncomingMessage, target: URL): OutgoingHttpHeaders {
  if (incoming.headers[FORWARDED_HEADER] !== undefined)
    throw new ClientError(
      508,
      'forward_to leads to a process that forwards requests; set it to one that answers them',
    );
  const headers = endToEndHeaders(incoming);
  delete headers['content-length'];
  const client = (incoming.socket.remoteAddress ?? 'unknown').replace(IPV4_IN_IPV6, '');
  const { host } = incoming.headers;
  return {
    ...headers,
    host: target.host,
    [FORWARDED_HEADER]: '1',
    'x-forwarded-for': [...(headers['x-forwarded-for'] ?? []), client].join(', '),
    'x-forwarded-proto': headers['x-forwarded-proto'] ?? 'http',
    ...(host !== undefined && headers['x-forwarded-host'] === undefined ? { 'x-forwarded-host': host } : {}),
  };
}
