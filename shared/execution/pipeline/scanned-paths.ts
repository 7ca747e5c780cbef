/**
 * Labels of `| json a="user.name"` that RunScan finds. In a valid line, the parser (json-expressions.ts) reads the
 * same values: keys of arrays count for neither.
 */
import type { KeyList } from '../../base/kernels/field-scanner.ts';
import { UNWANTED } from '../../base/kernels/field-scanner.ts';
import { bytesOfText, textOfBytes } from '../../base/model/byte-text.ts';
import type { Extraction } from '../../language/logql/ast.ts';
import { KEPT_KEYS } from '../../storage/columns/bounds.ts';
import { isSuffixedName } from '../../storage/columns/reserved-names.ts';
import type { EarlyTests } from './early-tests.ts';
import { parseJsonPath } from './json-path.ts';
import type { RowStage } from './row.ts';
import type { RowLabels } from './row-labels.ts';
import { MAX_SCANNED, NO_VALUE, RunScan, type ScannedKeys } from './run-scan.ts';

export class ScannedPaths {
  readonly #labels: RowLabels;
  readonly #early: EarlyTests;
  readonly #ids: readonly number[];
  readonly scan: RunScan;

  /** Returns `undefined` if a path has an index, or if the order of the values in the line may matter. */
  static for(
    extractions: readonly Extraction[],
    labels: RowLabels,
    early: EarlyTests,
  ): ScannedPaths | undefined {
    const paths = extractions.map(({ expression }) => parseJsonPath(expression));
    const keys = new Set(paths.map(path => path.reduce(pathOf, '')));
    const names = new Set(extractions.map(({ name }) => name));
    const { length } = extractions;
    if (paths.flat().some(part => typeof part === 'number') || [...names].some(isSuffixedName))
      return undefined;
    if (length > MAX_SCANNED || keys.size < length || names.size < length) return undefined;
    return new ScannedPaths([...keys], [...names], labels, early);
  }

  private constructor(
    keys: readonly string[],
    names: readonly string[],
    labels: RowLabels,
    early: EarlyTests,
  ) {
    this.#labels = labels;
    this.#early = early;
    this.#ids = names.map(name => labels.intern(name));
    for (const id of this.#ids) labels.suffixed(id);
    const tables = { json: new PathTable(keys), logfmt: new PathTable([]) };
    this.scan = new RunScan({
      parser: 'json',
      tables,
      values: keys.length,
      keepsEmpty: true,
      keepsAll: true,
    });
  }

  standIn(parse: RowStage): RowStage {
    const { scan } = this;
    const ids = this.#ids;
    const early = this.#early;
    return row => {
      const labels = this.#labels;
      if (labels.allFound) return true;
      if (row.changed || !scan.has(labels.row)) return parse(row);
      scan.count();
      let isMissing = false;
      for (let i = 0; i < ids.length; i++) {
        const at = scan.at(i, labels.row);
        const kind = scan.kinds[at];
        if (kind === NO_VALUE) {
          isMissing = true;
          continue;
        }
        const id = labels.collides(ids[i]) ? labels.suffixed(ids[i]) : ids[i];
        labels.setBytes(id, kind, row.source, scan.starts[at], scan.ends[at]);
        if (!early.isEmpty && early.rejects(id, labels)) return false;
      }
      if (isMissing) for (const id of ids) if (labels.get(id) === undefined) labels.setText(id, '');
      return true;
    };
  }
}

/** Adds a key to a path, as one text. Any key has another text, because its length precedes it. */
function pathOf(parent: string, key: string | number): string {
  const bytes = bytesOfText(String(key));
  return `${parent}${bytes.length}:${textOfBytes(bytes)}`;
}

/** Keys of lines by their path. */
class PathTable implements KeyList, ScannedKeys {
  readonly texts: Buffer[] = [];
  readonly parents: number[] = [];
  readonly flags: number[] = [];
  readonly wantedIndexes: number[] = [];
  readonly #paths: string[] = [];
  readonly #wanted: readonly string[];

  constructor(wanted: readonly string[]) {
    this.#wanted = wanted;
  }

  prepare(): void {
    if (this.texts.length <= KEPT_KEYS) return;
    for (const column of [this.texts, this.parents, this.flags, this.wantedIndexes, this.#paths])
      column.length = 0;
  }

  add(text: Buffer, parent: number): void {
    const path = pathOf(parent === 0 ? '' : this.#paths[parent - 1], textOfBytes(text));
    const index = this.#wanted.indexOf(path);
    this.texts.push(Buffer.from(text));
    this.parents.push(parent);
    this.#paths.push(path);
    this.wantedIndexes.push(index);
    this.flags.push(index < 0 ? UNWANTED : 0);
  }
}
