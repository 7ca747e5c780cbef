/**
 * Inlets by name, so that another thread finds them: those whose decoding depends on the body and its context alone. Inlets of one
 * request keep what became of each document for its answer, and have no name.
 */
import type { Inlet } from './inlet.ts';
import { LOKI_INLETS } from './loki-inlet.ts';
import { OTLP_INLETS } from './otlp/otlp-inlet.ts';

const INLETS = { ...LOKI_INLETS, ...OTLP_INLETS };
export type InletName = keyof typeof INLETS;
const NAMES = new Map<Inlet, InletName>(
  Object.entries(INLETS).map(([name, inlet]) => [inlet, name as InletName]),
);

export function nameOfInlet(inlet: Inlet): InletName | undefined {
  return NAMES.get(inlet);
}

export function inletNamed(name: InletName): Inlet {
  return INLETS[name];
}
