/**
 * Table of JSON and logfmt keys by their bytes and surrounding object. Each distinct key is decoded and
 * sanitized once. Two keys with different bytes may have the same label name (`a.b` and `a_b`, ` a` and `a`),
 * so keys and names are separate. A column belongs to one key, and a line with another key of the same name
 * is left to the parser.
 */
import { type KeyList, LEFT_TO_PARSER, UNWANTED } from '../../base/kernels/field-scanner.ts';
import { textOfBytes } from '../../base/model/byte-text.ts';
import { sanitizeName } from '../../base/text/text.ts';
import { KEPT_KEYS } from './bounds.ts';
import { isReservedName } from './reserved-names.ts';

export class FieldTable implements KeyList {
  readonly texts: Buffer[] = [];
  readonly parents: number[] = [];
  /** Flags of each entry. LEFT_TO_PARSER is set for keys that set a label for errors. */
  readonly flags: number[] = [];
  /**
   * Sanitized label name of each entry, joined with those of the surrounding objects; '' if the key is
   * ignored.
   */
  readonly names: string[] = [];
  /** Keys from the top down to each entry, as text. */
  readonly paths: (readonly string[])[] = [];
  /** Index of each entry's name in the wanted labels, or -1. */
  readonly wantedIndexes: number[] = [];
  readonly #wanted: readonly string[] | undefined;

  /** @param wanted Labels whose members are needed; by default all */
  constructor(wanted?: readonly string[]) {
    this.#wanted = wanted;
  }

  /** Number of distinct keys so far; entries are numbered from 0. */
  get count(): number {
    return this.texts.length;
  }

  /** Clears the table if it has too many keys; called before each page. */
  prepare(): void {
    if (this.count <= KEPT_KEYS) return;
    for (const column of [this.texts, this.parents, this.flags, this.names, this.paths, this.wantedIndexes])
      column.length = 0;
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
    const index = this.#wanted?.indexOf(name) ?? -1;
    this.wantedIndexes.push(index);
    const isUnwanted = this.#wanted !== undefined && index < 0;
    this.flags.push((isReservedName(name) ? LEFT_TO_PARSER : 0) + (isUnwanted ? UNWANTED : 0));
  }
}
