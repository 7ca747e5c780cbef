/**
 * Receivers by name, for use on another thread: those whose decoding depends only on the body and its
 * context. Receivers of one request store results per document for the response, and have no name.
 */

import { LOKI_RECEIVERS } from './loki-receiver.ts';
import { OTLP_RECEIVERS } from './otlp/otlp-receiver.ts';
import type { Receiver } from './receiver.ts';

const NAMED_RECEIVERS = { ...LOKI_RECEIVERS, ...OTLP_RECEIVERS };
export type ReceiverName = keyof typeof NAMED_RECEIVERS;
const NAMES = new Map<Receiver, ReceiverName>(
  Object.entries(NAMED_RECEIVERS).map(([name, receiver]) => [receiver, name as ReceiverName]),
);

export function nameOfReceiver(receiver: Receiver): ReceiverName | undefined {
  return NAMES.get(receiver);
}

export function receiverNamed(name: ReceiverName): Receiver {
  return NAMED_RECEIVERS[name];
}
