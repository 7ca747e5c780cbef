/**
 * All kernels, as one module. The host can call the exports of this file (shared/base/kernels/kernels.ts).
 */

export * from './byte-search';
export {
  CAPTURE_TABLE_BYTES,
  CAPTURE_TEXTS,
  captureStarts,
  clearCaptures,
  MAX_CAPTURE_NUMBERS,
  numberCaptures,
} from './capture-numbers';
export { packCodes } from './cell-codes';
export { cellValueCount } from './cell-values';
export { classWords } from './class-table';
export * from './columns';
export * from './field-cells';
export {
  CELL_BYTES,
  CELL_CODES,
  CELL_NUMBERS,
  CELL_PARSERS,
  CELL_SHAPES,
  CELL_STARTS,
  CELL_TEXT,
  FIELD_LINES,
  FIELD_OFFSETS,
  FIELD_PARSERS,
  JSON_KEYS,
  JSON_MEMBERS,
  KEY_WORDS,
  LOGFMT_KEYS,
  LOGFMT_MEMBERS,
  MAX_CELL_TEXT,
  MAX_FIELD_LINE,
  MAX_FIELD_ROWS,
  MEMBER_ENDS,
  MEMBER_ENTRIES,
  MEMBER_FIRST,
  MEMBER_KINDS,
  MEMBER_ORDER,
  MEMBER_ROWS,
  MEMBER_STARTS,
  OTHER_ENDS,
  OTHER_TEXTS,
  PACKED_CODES,
  SHAPE_RECORD,
  USED_CODES,
  VALUE_TERMS,
} from './field-layout';
export { addFieldKey, clearFieldKeys, clearMembers, readFields, sortFields } from './field-members';
export * from './field-values';
export * from './file-rows';
export { joinLines, packLines } from './join-lines';
export { detectLevels, LEVEL_FIELDS, LINE_LEVELS, LINE_SPANS, MAX_LEVEL_ROWS } from './line-levels';
export * from './line-split';
export { readLineWords } from './line-words';
export { forgetClasses } from './mined-classes';
export * from './multi-search';
export { shapeCount } from './number-shapes';
export { classRows } from './row-classes';
export * from './row-hash';
export * from './set-search';
export * from './snappy';
export { MAX_SOUGHT, SOUGHT_BYTES, SOUGHT_OTHERS, seek } from './sought-text';
export {
  CLASS_LEVELS,
  CLASS_RULES,
  CLASS_WORDS,
  COLUMN_ENDS,
  MAX_SPLIT_BYTES,
  MAX_SPLIT_ROWS,
  MINED_CLASSES,
  ROW_CLASSES,
  SORTED_SPANS,
  SPLIT_LINES,
  SPLIT_OFFSETS,
  SPLIT_OUT,
  SPLIT_OUT_BYTES,
  SPLIT_TIMES,
} from './split-layout';
export { splitFrame, splitPageLines } from './split-lines';
export { DIGITS_BYTES, laySplit, openSplit } from './split-read';
export { markRows, searchBytes } from './split-search';
export { scanSplitTerms } from './split-terms';
export { MAX_TERM_BYTES, MAX_TERM_ROWS, TERM_BYTES, TERM_LINES, TERM_OFFSETS } from './term-layout';
export { addTerms, MAX_TERMS_TO_ADD, TERM_LIST, TERMS_TO_ADD, termCount, termThinning } from './term-set';
export * from './text-columns';
export * from './text-terms';
export * from './unquote';
export { makeValueTerms } from './value-terms';
export { hashLineOfWords } from './word-hashes';
export {
  MAX_LIST_WORDS,
  MAX_WORD_BYTES,
  MAX_WORD_ROWS,
  WORD_ENDS,
  WORD_FIRST,
  WORD_HASHES,
  WORD_KINDS,
  WORD_LINES,
  WORD_OFFSETS,
  WORD_REPEATED,
  WORD_SHAPES,
  WORD_SKELETONS,
  WORD_STARTS,
  WORD_VARIED,
} from './word-layout';
