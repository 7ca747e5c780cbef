/** Access logs of nginx and Apache: common, combined, and with the virtual host in front. */
import type { InputFields } from '../line-format.ts';

const QUOTED = '"((?:[^"\\\\]|\\\\.)*)"';
const ACCESS = new RegExp(
  `^(?:(\\S{1,300}:\\d{1,5}) )?(\\S{1,300}) (\\S{1,300}) ([^"[]{1,300}) \\[([^\\]]{1,64})\\] ${QUOTED} (\\d{3}) (\\d{1,20}|-)(?: ${QUOTED} ${QUOTED})?(?: |$)`,
);
const REQUEST = /^([A-Z]{1,20}) (\S+) (HTTP\/[\d.]{1,5})$/;

/** Fields by nginx's names; undefined if the line is not an access log line. */
export function parseAccessLine(line: string): InputFields | undefined {
  const match = ACCESS.exec(line);
  if (match === null) return undefined;
  const [, host, address, identity, user, time, request, status, bytes, referer, agent] = match;
  const [, method, path, protocol] = REQUEST.exec(request) ?? [];
  const fields = {
    host,
    remote_addr: address,
    identity,
    remote_user: user,
    time_local: time,
    request,
    method,
    path,
    protocol,
    status,
    body_bytes_sent: bytes,
    http_referer: referer,
    http_user_agent: agent,
  };
  return Object.fromEntries(
    Object.entries(fields).filter(([, value]) => value !== undefined && value !== '-'),
  );
}
