/**
 * Host side of assembly/field-values.ts: values of one field after the other in the lines of a page, and their dictionaries. The page is
 * the last one of a scanner whose lines were read in one call.
 *
 *     const values = page.gather(jsonRange, logfmtRange);
 *     page.types(values); page.number(values, dictionary)
 */
import type { Constant, KernelInstance } from './kernels.ts';

interface ValueKernel {
  readonly BOOLEANS: Constant;
  readonly DECIMALS: Constant;
  readonly DICTIONARIES: Constant;
  readonly DICTIONARY_BYTES: Constant;
  readonly DICTIONARY_TEXTS: Constant;
  readonly EMPTY_TEXTS: Constant;
  readonly INTEGERS: Constant;
  readonly OTHER_NUMBERS: Constant;
  readonly TEXTS: Constant;
  readonly VALUE_ENDS: Constant;
  readonly VALUE_INDEXES: Constant;
  readonly VALUE_KINDS: Constant;
  readonly VALUE_NUMBERS: Constant;
  readonly VALUE_ROWS: Constant;
  readonly VALUE_STARTS: Constant;
  arePlainValues(): number;
  dictionaryBytes(): number;
  dictionarySize(): number;
  fieldRows(): number;
  gatherValues(
    jsonFrom: number,
    jsonTo: number,
    logfmtFrom: number,
    logfmtTo: number,
    firstByte: number,
    length: number,
  ): number;
  numberValues(
    dictionary: number,
    size: number,
    bytes: number,
    seen: number,
    count: number,
    firstByte: number,
  ): number;
  typeValues(count: number, firstByte: number): number;
}

/** Members of a key, as positions in the order of all members of a parser. */
export interface MemberRange {
  readonly from: number;
  readonly to: number;
}

export const NO_MEMBERS: MemberRange = { from: 0, to: 0 };

interface GatheredValues {
  readonly count: number;
  /** Rows with the field, also if it has no value. */
  readonly rows: number;
  /** Whether the bytes of each value are its text. */
  readonly arePlain: boolean;
}

/** Types of the values of a page. */
interface ValueTypes {
  readonly integers: boolean;
  readonly decimals: boolean;
  readonly booleans: boolean;
  readonly texts: boolean;
  readonly empty: boolean;
  /** Numbers with an exponent, or with many digits: the caller reads them. */
  readonly others: boolean;
}

/** Dictionary of the texts of some rows. Others have the same memory later. */
export interface TextDictionary {
  readonly slot: number;
  size: number;
  bytes: number;
  /** Values that have a number. */
  seen: number;
}

/** Dictionaries at the same time. Other fields have none. */
const MAX_DICTIONARIES = 48;

/** Pitfall: results are valid until the next call, or the next page of the scanner. */
export class FieldValues {
  readonly #instance: KernelInstance<unknown>;
  readonly #run: ValueKernel;
  #freeSlots: number[] = [];
  #firstByte = 0;
  #bytes = 0;
  #count = 0;

  constructor(instance: KernelInstance<unknown>) {
    this.#instance = instance;
    this.#run = instance.run as ValueKernel;
    instance.reserve(this.memoryBytes);
    this.reset();
  }

  /** End of the memory that the kernel uses. The system allocates what is written. */
  get memoryBytes(): number {
    const { DICTIONARIES, DICTIONARY_BYTES } = this.#run;
    return DICTIONARIES.value + MAX_DICTIONARIES * DICTIONARY_BYTES.value;
  }

  /** Begins a page whose lines are at these bytes of their table. */
  begin(firstByte: number, endByte: number): void {
    this.#firstByte = firstByte;
    this.#bytes = endByte - firstByte;
  }

  /** Gathers the values of a field in the lines of both parsers. */
  gather(json: MemberRange, logfmt: MemberRange): GatheredValues {
    const run = this.#run;
    const at = this.#firstByte;
    this.#count = run.gatherValues(json.from, json.to, logfmt.from, logfmt.to, at, this.#bytes);
    return { count: this.#count, rows: run.fieldRows(), arePlain: run.arePlainValues() !== 0 };
  }

  get rows(): Uint32Array {
    return this.#words(this.#run.VALUE_ROWS);
  }

  get starts(): Uint32Array {
    return this.#words(this.#run.VALUE_STARTS);
  }

  get ends(): Uint32Array {
    return this.#words(this.#run.VALUE_ENDS);
  }

  get kinds(): Uint8Array {
    const { value } = this.#run.VALUE_KINDS;
    return this.#instance.bytes.subarray(value, value + this.#count);
  }

  /** Numbers of the values, after `types`. */
  get numbers(): Float64Array {
    return new Float64Array(this.#instance.bytes.buffer, this.#run.VALUE_NUMBERS.value, this.#count);
  }

  /** Numbers in the dictionary, after `number`. */
  get indexes(): Uint32Array {
    return this.#words(this.#run.VALUE_INDEXES);
  }

  types(): ValueTypes {
    const { INTEGERS, DECIMALS, BOOLEANS, TEXTS, EMPTY_TEXTS, OTHER_NUMBERS } = this.#run;
    const flags = this.#run.typeValues(this.#count, this.#firstByte);
    return {
      integers: (flags & INTEGERS.value) !== 0,
      decimals: (flags & DECIMALS.value) !== 0,
      booleans: (flags & BOOLEANS.value) !== 0,
      texts: (flags & TEXTS.value) !== 0,
      empty: (flags & EMPTY_TEXTS.value) !== 0,
      others: (flags & OTHER_NUMBERS.value) !== 0,
    };
  }

  /** Returns undefined if there are too many dictionaries. */
  openDictionary(): TextDictionary | undefined {
    const slot = this.#freeSlots.pop();
    return slot === undefined ? undefined : { slot, size: 0, bytes: 0, seen: 0 };
  }

  /** Closes all dictionaries, also those of a table that failed. */
  reset(): void {
    this.#freeSlots = Array.from({ length: MAX_DICTIONARIES }, (_, slot) => slot);
  }

  closeDictionary({ slot }: TextDictionary): void {
    this.#freeSlots.push(slot);
  }

  /** Returns false if the texts hardly repeat. The dictionary then has to be closed. */
  number(dictionary: TextDictionary): boolean {
    const { size, bytes, seen } = dictionary;
    const run = this.#run;
    if (!run.numberValues(this.#addressOf(dictionary), size, bytes, seen, this.#count, this.#firstByte))
      return false;
    dictionary.size = run.dictionarySize();
    dictionary.bytes = run.dictionaryBytes();
    dictionary.seen += this.#count;
    return true;
  }

  /** Copies the texts of a dictionary, each after its length in four bytes. */
  textsOf(dictionary: TextDictionary): Uint8Array {
    const at = this.#addressOf(dictionary) + this.#run.DICTIONARY_TEXTS.value;
    return Uint8Array.from(this.#instance.bytes.subarray(at, at + dictionary.bytes));
  }

  #addressOf({ slot }: TextDictionary): number {
    return this.#run.DICTIONARIES.value + slot * this.#run.DICTIONARY_BYTES.value;
  }

  #words({ value }: Constant): Uint32Array {
    return this.#instance.words.subarray(value >>> 2, (value >>> 2) + this.#count);
  }
}
