/**
 * Labels of `| json` and `| logfmt` without expressions that RunScan finds, if the query needs only some.
 *
 *     const scanned = ScannedFields.for(stage, labels, early);
 *     rowStages.push(scanned.standIn(parse));
 *
 * For a metric query, the values are sufficient. A log query shows all labels of the rows that pass. Its
 * values only drop rows by the following filters, and the parser reads the remaining rows.
 */
import type { ParserName } from '../../base/model/page-fields.ts';
import { FieldTable } from '../../storage/columns/field-table.ts';
import { isReservedName, isSuffixedName } from '../../storage/columns/reserved-names.ts';
import type { EarlyTests } from './early-tests.ts';
import { DROPPED, SET, setParsedValue } from './parsed-value.ts';
import type { Row, RowStage } from './row.ts';
import type { RowLabels } from './row-labels.ts';
import { MAX_SCANNED, NO_VALUE, RunScan } from './run-scan.ts';

interface ScannedStage {
  readonly kind: ParserName;
  /** Whether an empty value sets a label. */
  readonly keepsEmpty: boolean;
}

export class ScannedFields {
  readonly #labels: RowLabels;
  readonly #early: EarlyTests;
  readonly #ids: readonly number[];
  readonly scan: RunScan;

  /** Returns `undefined` if the parser must extract no labels, or too many. */
  static for(stage: ScannedStage, labels: RowLabels, early: EarlyTests): ScannedFields | undefined {
    // Names that may drop the row come first.
    const needed = new Set(early.ids.map(id => labels.names.texts[id]));
    for (const name of labels.wantedNames ?? []) needed.add(name);
    const names = [...needed].filter(name => !isReservedName(name));
    if (names.length === 0 || names.length > MAX_SCANNED || names.some(isSuffixedName)) return undefined;
    return new ScannedFields(stage, labels, early, names);
  }

  private constructor(
    { kind, keepsEmpty }: ScannedStage,
    labels: RowLabels,
    early: EarlyTests,
    names: readonly string[],
  ) {
    this.#labels = labels;
    this.#early = early;
    this.#ids = names.map(name => labels.intern(name));
    const tables = { json: new FieldTable(names), logfmt: new FieldTable(names) };
    this.scan = new RunScan({ parser: kind, tables, values: names.length, keepsEmpty, keepsAll: false });
  }

  standIn(parse: RowStage): RowStage {
    return row => {
      const labels = this.#labels;
      if (labels.allFound) return true;
      if (row.changed || !this.scan.has(labels.row)) return parse(row);
      const mark = labels.valueCount;
      const outcome = this.#setValues(row);
      if (outcome === DROPPED || labels.restricted) this.scan.count();
      if (outcome === DROPPED) return false;
      if (labels.restricted) return true;
      labels.rollback(mark);
      return parse(row);
    };
  }

  #setValues(row: Row): number {
    const labels = this.#labels;
    const { kinds, starts, ends } = this.scan;
    let outcome = SET;
    for (let i = 0; i < this.#ids.length && outcome === SET; i++) {
      const id = this.#ids[i];
      const at = this.scan.at(i, labels.row);
      const kind = kinds[at];
      // If the row already has the name, the value gets another name, which is not needed.
      if (kind === NO_VALUE || labels.collides(id)) continue;
      outcome = setParsedValue(labels, this.#early, id, kind, row.source, starts[at], ends[at]);
    }
    return outcome;
  }
}
