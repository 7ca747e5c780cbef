/**
 * Host side of assembly/row-classes.ts: groups the rows of a split page by what pattern mining sees of their messages.
 *
 *     "msg":"job 1 done"    "msg":"job 2 done"    "msg":"job 3 failed"        two classes; a word of the first one varies
 */
import type { LineTemplate } from '../model/page.ts';
import { type Constant, type KernelInstance, memoryWords } from './kernels.ts';

export interface ClassKernel {
  readonly CLASS_LEVELS: Constant;
  readonly CLASS_RULES: Constant;
  readonly ROW_CLASSES: Constant;
  readonly WORD_CLASSES: Constant;
  classRows(rows: number): number;
}

/** The message of a template's lines. */
export interface MessagePart {
  /** Number of the value that is the message. */
  readonly value: number;
  /** Maximum words before it, if each value before it is one. */
  readonly words: number;
}

export interface ClassOptions {
  /** Message of each template, without template 0. Rows of those without one have no class. */
  readonly messages: readonly (MessagePart | undefined)[];
  /** Level of each row. */
  readonly levels: Uint8Array;
  /** Kind of each byte: 0 separates words, bit 1 is set for digits. */
  readonly kinds: Uint8Array;
}

/** Classes of all rows, valid until the next page is split. */
export interface ClassedRows {
  /** Number of classes. */
  readonly count: number;
  /** Class of each row, from 1 on; 0 for none. CLASS_IS_READ is added if the row must be read. */
  readonly classOf: Uint32Array;
}

/** Marks rows without a class, the first row of each class, and rows in which a word varies that did not vary before. */
export const CLASS_IS_READ = 0x8000_0000;

/** Size of the frame's head (docs/dev/format.md#47-split-lines). */
const HEAD_BYTES = 24;
/** Value of a template without a message. */
const NONE = 0xffff_ffff;

/** Returns the number of templates of split lines, without template 0. */
export function templateCount(frame: Buffer): number {
  return frame.readUInt32LE(0);
}

/**
 * Returns what a function makes of each template of split lines, without template 0.
 * @param isWanted receives the first literal; other templates become `undefined`
 */
export function mapTemplates<T>(
  frame: Buffer,
  isWanted: (literal: string) => boolean,
  map: (template: LineTemplate) => T | undefined,
): (T | undefined)[] {
  const templates = templateCount(frame);
  const lengthsAt = HEAD_BYTES + 2 * templates;
  const textAt = lengthsAt + 4 * frame.readUInt32LE(4);
  const all = frame.latin1Slice(textAt, textAt + frame.readUInt32LE(8));
  const mapped: (T | undefined)[] = [];
  let piece = lengthsAt;
  let at = 0;
  for (let template = 0; template < templates; template++) {
    const start = at;
    const end = piece + 2 * number16(frame, HEAD_BYTES + 2 * template);
    const values: number[] = [];
    at += number16(frame, piece);
    const wanted = isWanted(all.slice(start, at));
    for (piece += 2; piece < end; piece += 2) {
      if (wanted) values.push(at - start);
      at += number16(frame, piece);
    }
    mapped.push(wanted ? map({ text: all.slice(start, at), values }) : undefined);
  }
  return mapped;
}

function number16(bytes: Buffer, at: number): number {
  return bytes[at] | (bytes[at + 1] << 8);
}

/** Groups the rows of the page that the kernel has split. */
export function classRows(
  kernel: KernelInstance<ClassKernel>,
  { messages, levels, kinds }: ClassOptions,
): ClassedRows {
  const { run, bytes, words } = kernel;
  // Template 0 has no rule.
  let rule = (run.CLASS_RULES.value >>> 2) + 2;
  for (const message of messages) {
    words[rule++] = message === undefined ? NONE : message.value;
    words[rule++] = message === undefined ? 0 : message.words;
  }
  bytes.set(levels, run.CLASS_LEVELS.value);
  bytes.set(kinds, run.WORD_CLASSES.value);
  const count = run.classRows(levels.length);
  return { count, classOf: memoryWords(kernel, run.ROW_CLASSES, levels.length) };
}
