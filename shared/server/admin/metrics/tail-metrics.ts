/** Connections of live tails that count the sent frames. */
import type { Connections } from '../../../base/ports/connections.ts';
import type { MetricsRegistry } from './registry.ts';

export function observeConnections(connections: Connections, registry: MetricsRegistry): Connections {
  const messages = registry.counter<'outcome'>({
    name: 'logboom_tail_messages_total',
    help: 'Frames sent to live tails, by result: ok, gone (connection closed), too_large, or failed.',
    labels: ['outcome'],
  });
  const bytes = registry.counter({
    name: 'logboom_tail_bytes_total',
    help: 'Bytes of frames that were sent successfully.',
  });
  return {
    async post(connectionId, message) {
      let outcome = 'failed';
      try {
        const posted = await connections.post(connectionId, message);
        outcome = posted.replace(' ', '_');
        if (posted === 'ok') bytes.inc(message.length);
        return posted;
      } finally {
        messages.inc({ outcome });
      }
    },
    get: connectionId => connections.get(connectionId),
    close: (connectionId, options) => connections.close(connectionId, options),
  };
}

/** @param count number of tails whose connections this process holds */
export function addOpenTails(registry: MetricsRegistry, count: () => number): void {
  registry.gauge({
    name: 'logboom_tails_open',
    help: 'Open live tails of this process.',
    read: () => [{ labels: {}, value: count() }],
  });
}
