/**
 * Detects labels that are worth showing: all except those whose values are only IDs
 * (docs/dev/wire-format.md#labels-and-series). A label takes a few kilobytes, however many values it has.
 * Results of days can be merged, and are cached by day.
 */
import { compareUtf8 } from '../../base/model/bytes.ts';
import { parseGoFloat } from '../../base/model/number.ts';
import type { Stream } from '../../base/model/page.ts';
import { hashOfText } from '../../base/model/text-hash.ts';
import { TENANT_LABEL } from '../query/tenant-view.ts';
import { Distinct } from './distinct.ts';

export interface DetectedLabel {
  readonly label: string;
  /** Number of distinct values: exact up to a thousand, estimated above. */
  readonly cardinality: number;
}

/** Labels that are shown whatever their values are. */
const ALWAYS_SHOWN = new Set(['cluster', 'namespace', 'instance', 'pod']);
const HEX = '[0-9a-fA-F]';
const DASHED = `${HEX}{8}-${HEX}{4}-${HEX}{4}-${HEX}{4}-${HEX}{12}`;
/** Matches a UUID with and without dashes, in braces, and as a URN. */
const UUID = new RegExp(`^(?:(?:urn:uuid:)?${DASHED}|\\{${DASHED}\\}|${HEX}{32})$`, 'i');

/** Map entry with its objects. */
const LABEL_BYTES = 200;

interface DistinctValues {
  readonly distinct: Distinct;
  areIds: boolean;
  areBits: boolean;
}

export class DetectedLabels {
  readonly #byName = new Map<string, DistinctValues>();

  readonly add = ({ labels }: Stream): void => {
    for (const { name, value } of labels) {
      let values = this.#byName.get(name);
      if (values === undefined) {
        values = { distinct: new Distinct(), areIds: true, areBits: true };
        this.#byName.set(name, values);
      }
      values.distinct.add(hashOfText(value));
      if (values.areIds) values.areIds = isId(value);
      if (values.areBits) values.areBits = value === '0' || value === '1';
    }
  };

  /** Adds the labels of other streams. */
  merge(other: DetectedLabels): void {
    for (const [name, { distinct, areIds, areBits }] of other.#byName) {
      let values = this.#byName.get(name);
      if (values === undefined) {
        values = { distinct: new Distinct(), areIds: true, areBits: true };
        this.#byName.set(name, values);
      }
      values.distinct.merge(distinct);
      values.areIds &&= areIds;
      values.areBits &&= areBits;
    }
  }

  get weightBytes(): number {
    let weight = 0;
    for (const [name, { distinct }] of this.#byName)
      weight += LABEL_BYTES + 2 * name.length + distinct.weightBytes;
    return weight;
  }

  /** Ascending by name. */
  list(): DetectedLabel[] {
    const shown: DetectedLabel[] = [];
    for (const [label, { distinct, areIds, areBits }] of this.#byName) {
      if (label === TENANT_LABEL) continue;
      if (areIds && !areBits && !ALWAYS_SHOWN.has(label)) continue;
      shown.push({ label, cardinality: distinct.count() });
    }
    return shown.sort((a, b) => compareUtf8(a.label, b.label));
  }
}

function isId(value: string): boolean {
  return parseGoFloat(value) !== undefined || UUID.test(value);
}
