/**
 * Receivers by name, so that another thread finds them: those whose decoding depends on the body and its context alone. Receivers of one
 * request keep what became of each document for its answer, and have no name.
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
