/**
 * Receivers by name, for use on another thread: those whose decoding depends only on the body and its
 * context. Receivers of one request store results per document for the response, and have no name.
 */

import { LOKI_INLETS } from './loki-receiver.ts';
import { OTLP_INLETS } from './otlp/otlp-receiver.ts';
import type { Receiver } from './receiver.ts';

const INLETS = { ...LOKI_INLETS, ...OTLP_INLETS };
export type ReceiverName = keyof typeof INLETS;
const NAMES = new Map<Receiver, ReceiverName>(
  Object.entries(INLETS).map(([name, receiver]) => [receiver, name as ReceiverName]),
);

export function nameOfReceiver(receiver: Receiver): ReceiverName | undefined {
  return NAMES.get(receiver);
}

export function receiverNamed(name: ReceiverName): Receiver {
  return INLETS[name];
}
