/**
 * Host side of assembly/row-classes.ts: groups the rows of a split page by what pattern mining sees of their messages.
 *
 *     "msg":"job 1 done"    "msg":"job 2 done"    "msg":"job 3 failed"        two classes; a word of the first one varies
 */
import { type Constant, type KernelInstance, memoryWords } from './kernels.ts';

export interface ClassKernel {
  readonly CLASS_LEVELS: Constant;
  readonly CLASS_RULES: Constant;
  readonly ROW_CLASSES: Constant;
  readonly WORD_CLASSES: Constant;
  classRows(rows: number): number;
}

/** Literals of a template. */
export interface SplitTemplate {
  /** Bytes as latin1, with the digit 0 for each value. */
  readonly text: string;
  /** Offsets of the values in the text. */
  readonly values: readonly number[];
}

/** The message of a template's lines. */
export interface MessagePart {
  /** Number of the value that is the message. */
  readonly value: number;
  /** Words of the literals before it. */
  readonly words: number;
}

interface ClassOptions {
  /** Message of each template, without template 0. Rows of those without one have no class. */
  readonly messages: readonly (MessagePart | undefined)[];
  /** Level of each row. */
  readonly levels: Uint8Array;
  /** Kind of each byte: 0 separates words, bit 1 is set for digits. */
  readonly kinds: Uint8Array;
}

/** Classes of all rows, valid until the next page is split. */
interface ClassedRows {
  /** Number of classes. */
  readonly count: number;
  /** Class of each row, from 1 on; 0 for none. CLASS_IS_READ is added if the row must be read. */
  readonly classOf: Uint32Array;
}

/** Marks rows without a class, the first row of each class, and rows in which a word varies that did not vary before. */
export const CLASS_IS_READ = 0x8000_0000;

/** Sizes of the frame's head and of the numbers behind it (docs/dev/format.md#47-split-lines). */
const HEAD_BYTES = 24;
/** Value of a template without a message. */
const NONE = 0xffff_ffff;

export class RowClasses {
  readonly #kernel: KernelInstance<ClassKernel>;
  readonly #frame: Buffer;

  /** @param frame Frame of the page that the kernel has split */
  constructor(kernel: KernelInstance<ClassKernel>, frame: Buffer) {
    this.#kernel = kernel;
    this.#frame = frame;
  }

  /** Number of templates, without template 0. */
  get templateCount(): number {
    return this.#frame.readUInt32LE(0);
  }

  /** Returns all templates without template 0. */
  templates(): SplitTemplate[] {
    const frame = this.#frame;
    const pieces = frame.readUInt32LE(4);
    const lengthsAt = HEAD_BYTES + 2 * this.templateCount;
    const textAt = lengthsAt + 4 * pieces;
    const all = frame.latin1Slice(textAt, textAt + frame.readUInt32LE(8));
    let piece = lengthsAt;
    let at = 0;
    return Array.from({ length: this.templateCount }, (_, template) => {
      let text = '';
      const values: number[] = [];
      for (let left = frame.readUInt16LE(HEAD_BYTES + 2 * template); left > 0; left--, piece += 2) {
        const end = at + frame.readUInt16LE(piece);
        text += all.slice(at, end);
        at = end;
        if (left === 1) continue;
        values.push(text.length);
        text += '0';
      }
      return { text, values };
    });
  }

  /** Groups the rows. */
  classRows({ messages, levels, kinds }: ClassOptions): ClassedRows {
    const { run, bytes, words } = this.#kernel;
    // Template 0 has no rule.
    let rule = (run.CLASS_RULES.value >>> 2) + 2;
    for (const message of messages) {
      words[rule++] = message?.value ?? NONE;
      words[rule++] = message?.words ?? 0;
    }
    bytes.set(levels, run.CLASS_LEVELS.value);
    bytes.set(kinds, run.WORD_CLASSES.value);
    const count = run.classRows(levels.length);
    return { count, classOf: memoryWords(this.#kernel, run.ROW_CLASSES, levels.length) };
  }
}
