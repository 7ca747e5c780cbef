/** Dot in the color of a label's value, the same in each view. */
import { colorOfValue } from '../lines/columns.ts';

export function ValueDot({ value }: { readonly value: string }) {
  const { hue, isDeep } = colorOfValue(value);
  return <i class={`value-dot ${isDeep ? 'deep' : ''}`} style={{ '--hue': String(hue) }} />;
}
