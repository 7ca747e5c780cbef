/**
 * Host side of assembly/row-classes.ts: groups the rows of a split page by what pattern mining sees of their lines.
 *
 *     job 1 done    job 2 done    job 3 failed        two classes; a word of the first one varies
 */
import type { LineTemplate } from '../model/page.ts';
import { type Constant, type KernelInstance, memoryWords } from './kernels.ts';

export interface ClassKernel {
  readonly CLASS_LEVELS: Constant;
  readonly CLASS_RULES: Constant;
  readonly CLASS_WORDS: Constant;
  readonly MINED_CLASSES: Constant;
  readonly ROW_CLASSES: Constant;
  classRows(rows: number): number;
  classWords(number: number): number;
  forgetClasses(): void;
}

/** The message of a template's lines. */
export interface MessagePart {
  /** Number of the value that is the message. */
  readonly value: number;
  /** Maximum words before it, if each value before it is one. */
  readonly words: number;
}

export interface ClassOptions {
  /** Message of each template, without template 0. Rows of those without one have classes by their whole lines. */
  readonly messages: readonly (MessagePart | undefined)[];
  /** Level of each row. */
  readonly levels: Uint8Array;
  /** Identifies what mining knows. Classes of earlier pages are remembered if it is the same object as for the page before. */
  readonly known: object;
}

/** Classes of all rows, valid until the next page is split. */
export interface ClassedRows {
  /** Number of classes. */
  readonly count: number;
  /** Class of each row, from 1 on; 0 for none. CLASS_IS_READ is added if the row must be read. */
  readonly classOf: Uint32Array;
  /**
   * A number for each class, which it has in all pages while it is remembered, or 0. CLASS_IS_READ is added if the class is new, or if words
   * of it vary that did not vary before.
   */
  readonly knownAs: Uint32Array;
  /**
   * Writes where words begin that are not the same in all rows of a class: offsets in the lines, of its first row, ascending. Returns
   * their number.
   */
  variedIn(number: number): number;
  /** Offsets that `variedIn` has written. */
  readonly varied: Uint32Array;
}

/** Marks rows without a class, and the first row of each class. */
export const CLASS_IS_READ = 0x8000_0000;

/** Maximum words of a class that vary: those with digits. */
const MAX_VARIED = 63;

/** Size of the numbers at the start of a frame of split lines (docs/dev/format.md#47-split-lines). */
export const HEAD_BYTES = 24;
/** Size of a template's rule, of which the host writes two numbers. */
const RULE_WORDS = 4;
/** Value of a template without a message. */
const NONE = 0xffff_ffff;

/** Returns the number of templates of split lines, without template 0. */
export function templateCount(frame: Buffer): number {
  return frame.readUInt32LE(0);
}

/**
 * Returns what a function makes of each template of split lines, without template 0.
 * @param isWanted receives the bytes of the first literal; other templates become `undefined`
 */
export function mapTemplates<T>(
  frame: Buffer,
  isWanted: (bytes: Uint8Array, from: number, end: number) => boolean,
  map: (template: LineTemplate) => T | undefined,
): (T | undefined)[] {
  const templates = templateCount(frame);
  const lengthsAt = HEAD_BYTES + 2 * templates;
  const textAt = lengthsAt + 4 * frame.readUInt32LE(4);
  const mapped: (T | undefined)[] = [];
  let piece = lengthsAt;
  let at = textAt;
  for (let template = 0; template < templates; template++) {
    const start = at;
    const end = piece + 2 * number16(frame, HEAD_BYTES + 2 * template);
    const values: number[] = [];
    at += number16(frame, piece);
    const wanted = isWanted(frame, start, at);
    for (piece += 2; piece < end; piece += 2) {
      if (wanted) values.push(at - start);
      at += number16(frame, piece);
    }
    mapped.push(wanted ? map({ text: frame.latin1Slice(start, at), values }) : undefined);
  }
  return mapped;
}

function number16(bytes: Buffer, at: number): number {
  return bytes[at] | (bytes[at + 1] << 8);
}

/** What the classes that the kernel remembers belong to. */
let remembered: WeakRef<object> | undefined;

/** Groups the rows of the page that the kernel has split. */
export function classRows(
  kernel: KernelInstance<ClassKernel>,
  { messages, levels, known }: ClassOptions,
): ClassedRows {
  const { run, bytes, words } = kernel;
  if (remembered?.deref() !== known) {
    run.forgetClasses();
    remembered = new WeakRef(known);
  }
  // Template 0 has no rule.
  let rule = (run.CLASS_RULES.value >>> 2) + RULE_WORDS;
  for (const message of messages) {
    words[rule] = message === undefined ? NONE : message.value;
    words[rule + 1] = message === undefined ? 0 : message.words;
    rule += RULE_WORDS;
  }
  bytes.set(levels, run.CLASS_LEVELS.value);
  const count = run.classRows(levels.length);
  const classOf = memoryWords(kernel, run.ROW_CLASSES, levels.length);
  const varied = memoryWords(kernel, run.CLASS_WORDS, MAX_VARIED);
  const knownAs = memoryWords(kernel, run.MINED_CLASSES, count + 1);
  return { count, classOf, knownAs, variedIn: number => run.classWords(number), varied };
}
