/**
 * Keys of JSON and logfmt lines by their bytes and the object that they stand in: each distinct key is decoded and
 * sanitised once. Two keys with different bytes may give the same label name (`a.b` and `a_b`, ` a` and `a`), which is
 * why a key and a name are kept apart here: a column belongs to one key, and a line in which another key of the same
 * name occurs is left to the parser.
 */
import { type KeyList, LEFT_TO_PARSER, UNWANTED } from '../../base/kernels/field-scanner.ts';
import { textOfBytes } from '../../base/model/byte-text.ts';
import { sanitizeName } from '../../base/text/text.ts';
import { KEPT_KEYS } from './bounds.ts';
import { isReservedName } from './reserved-names.ts';

export class FieldTable implements KeyList {
  readonly texts: Buffer[] = [];
  readonly parents: number[] = [];
  /** Lines are left to the parser if they set a label that errors are reported by. */
  readonly flags: number[] = [];
  /** Sanitised label name of each entry, joined with those of the objects around it; '' where it is ignored. */
  readonly names: string[] = [];
  /** Keys from the top down to the entry, as text. */
  readonly paths: (readonly string[])[] = [];
  readonly #wanted: ReadonlySet<string> | undefined;

  /** @param wanted labels whose members are kept; all without it */
  constructor(wanted?: ReadonlySet<string>) {
    this.#wanted = wanted;
  }

  /** Distinct keys so far; entries are numbered from 0. */
  get count(): number {
    return this.texts.length;
  }

  /** Called before each page: begins anew where there are too many keys. */
  prepare(): void {
    if (this.count <= KEPT_KEYS) return;
    for (const column of [this.texts, this.parents, this.flags, this.names, this.paths]) column.length = 0;
  }

  add(text: Buffer, parent: number): void {
    const key = textOfBytes(text, 0, text.length).toWellFormed();
    const path = parent === 0 ? '' : this.names[parent - 1];
    const isBlankAtTop = parent === 0 && sanitizeName('', key) === '';
    const name = isBlankAtTop ? '' : sanitizeName(path, key);
    this.texts.push(Buffer.from(text));
    this.parents.push(parent);
    this.names.push(name);
    this.paths.push(parent === 0 ? [key] : [...this.paths[parent - 1], key]);
    const isUnwanted = this.#wanted !== undefined && !this.#wanted.has(name);
    this.flags.push((isReservedName(name) ? LEFT_TO_PARSER : 0) + (isUnwanted ? UNWANTED : 0));
  }
}
