/**
 * TCP relay between one client and the store. It counts responses by status, so that a run can prove that a client met 429.
 *
 *     opened   the relay listens
 *     closed   the port refuses connections and open ones break, like the port of a store that is killed
 */
import { connect, createServer } from 'node:net';
import { freePort, until } from '../processes.mjs';

const HOST = '127.0.0.1';
const START_TIMEOUT_MS = 60_000;
const STATUS_LINE = /HTTP\/1\.[01] (\d{3})/g;
/** A status line can arrive in two parts. One character less than its length, so that no line counts twice. */
const KEPT = 'HTTP/1.1 204'.length - 1;

/** Returns a function that takes the parts of a connection and counts their status lines. */
export function statusCounter(counts) {
  let rest = '';
  return part => {
    const text = rest + part.toString('latin1');
    for (const [, status] of text.matchAll(STATUS_LINE)) counts.set(status, (counts.get(status) ?? 0) + 1);
    rest = text.slice(-KEPT);
  };
}

function accepts(port) {
  return new Promise(resolve => {
    const socket = connect(port, HOST).once('error', () => resolve(false));
    socket.once('connect', () => {
      socket.destroy();
      resolve(true);
    });
  });
}

export async function createRelay(storePort) {
  const port = await freePort();
  const counts = new Map();
  const sockets = new Set();
  let server;

  function relay(client) {
    const upstream = connect(storePort, HOST);
    upstream.on('data', statusCounter(counts));
    client.pipe(upstream).pipe(client);
    for (const [one, other] of [
      [client, upstream],
      [upstream, client],
    ]) {
      sockets.add(one);
      one.once('error', () => other.destroy());
      one.once('close', () => {
        sockets.delete(one);
        other.destroy();
      });
    }
  }

  const open = () =>
    new Promise((resolve, reject) => {
      server = createServer(relay).once('error', reject).listen(port, HOST, resolve);
    });

  return {
    url: `http://${HOST}:${port}`,
    /** Responses with this status so far. */
    count: status => counts.get(`${status}`) ?? 0,
    open,
    /** Opens the relay as soon as the port of a starting store accepts connections. */
    openWithStore: store => until(START_TIMEOUT_MS, store, () => accepts(storePort)).then(open),
    close() {
      server?.close();
      for (const socket of sockets) socket.destroy();
    },
  };
}
