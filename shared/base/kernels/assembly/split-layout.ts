/**
 * Memory layout of the kernel that splits a page into templates and columns: line-variables.ts,
 * line-templates.ts, column-pack.ts, split-lines.ts.
 */
import { SLACK } from './layout';
import { TERM_BYTES } from './term-layout';

/**
 * Maximum bytes of all lines of a page, and of one line with variables. Longer lines are values of column 0.
 */
export const MAX_SPLIT_BYTES: usize = 2 * 1024 * 1024;
export const MAX_VARIED_LINE: usize = 32 * 1024;
export const MAX_SPLIT_ROWS: usize = 65536;
/** Maximum variables of one line. */
export const MAX_VARIABLES: usize = 512;
/** Maximum variables of all lines. A typical page of 1 MiB has about 60,000. */
export const MAX_SPANS: usize = 256 * 1024;
/** Maximum templates, including template 0, which consists of one variable. */
export const MAX_TEMPLATES: usize = 4096;
/** Maximum columns, including column 0, which contains whole lines. */
export const MAX_COLUMNS: usize = 2048;
/** Maximum variables of all templates, plus one final literal per template. */
export const MAX_PIECES: usize = 65536;
export const MAX_TEMPLATE_BYTES: usize = 256 * 1024;
/** Maximum entries of a dictionary, because an index is one byte. */
export const MAX_ENTRIES: usize = 256;
export const MAX_ENTRY_BYTES: usize = 1024;
/** Maximum affixes of texts with a number, because an index is one byte and one index is for other texts. */
export const MAX_AFFIXES: u32 = 255;
/** Maximum bytes of a value with a pattern. */
export const MAX_PATTERN: usize = 64;
/** Maximum classes of the rows of a page, values of all classes, and values of a row that has a class. */
export const MAX_CLASSES: u32 = 8192;
export const MAX_CLASS_VALUES: usize = 24 * 1024;
export const MAX_ROW_VALUES: usize = 48;
/** Maximum forms of the values of a page, and number of values whose form is remembered. A power of two. */
export const MAX_FORMS: usize = 4096;
export const KNOWN_VALUES_COUNT: usize = 8192;
/** Maximum words of a value, of which mining reads 2 KiB, and of the first values of all forms. */
export const MAX_VALUE_WORDS: usize = 1024;
export const MAX_FORM_WORDS: usize = 32 * 1024;

/**
 * Size of a column's record: type, three bytes by type, number of values, size in bytes, a number by type,
 * and a base of 8 bytes.
 */
export const COLUMN_RECORD: usize = 24;
/** Size of the header of a frame: six numbers of 4 bytes. */
export const FRAME_HEAD: usize = 24;

const MAP_BYTES: usize = MAX_SPLIT_BYTES / 8 + SLACK;
export const TEMPLATE_SLOTS_COUNT: usize = 2 * MAX_TEMPLATES;
export const COLUMN_SLOTS_COUNT: usize = 2 * MAX_COLUMNS;
export const ENTRY_SLOTS_COUNT: usize = 4 * MAX_ENTRIES;
/** Size of a template's record: hash, text, bytes, first piece, variables. */
export const TEMPLATE_RECORD: usize = 20;
export const TEMPLATE_TEXT_OF: usize = 4;
export const TEMPLATE_BYTES_OF: usize = 8;
export const FIRST_PIECE_OF: usize = 12;
export const VARIABLES_OF: usize = 16;

/** Behind the memory of terms: what surrounds the values of each column, texts that occurred, and affixes (split-terms.ts). */
export const CONTEXT_RECORD: usize = 16;
export const CONTEXTS: usize = (TERM_BYTES + 63) & ~63;
export const SEEN_TEXTS_COUNT: usize = 4096;
export const SEEN_TEXTS: usize = CONTEXTS + CONTEXT_RECORD * MAX_COLUMNS;
export const SEEN_BORDERS_BITS: u64 = 10;
export const SEEN_BORDERS_COUNT: usize = 1 << 10;
export const SEEN_BORDERS: usize = SEEN_TEXTS + 8 * SEEN_TEXTS_COUNT;
export const AFFIX_RULE: usize = 8;
export const AFFIX_RULES: usize = SEEN_BORDERS + 8 * SEEN_BORDERS_COUNT;
/** Literals of the current line and their lengths. For each variable, the end of its key, or 0. */
export const LITERALS: usize = AFFIX_RULES + AFFIX_RULE * MAX_ENTRIES;
export const LITERAL_LENGTHS: usize = LITERALS + MAX_VARIED_LINE + SLACK;
export const VARIABLE_KEYS: usize = LITERAL_LENGTHS + 2 * (MAX_VARIABLES + 4) + SLACK;
export const TEMPLATE_SLOTS: usize = VARIABLE_KEYS + 4 * MAX_VARIABLES;
export const TEMPLATES: usize = TEMPLATE_SLOTS + 2 * TEMPLATE_SLOTS_COUNT;
export const PIECE_LENGTHS: usize = TEMPLATES + MAX_TEMPLATES * TEMPLATE_RECORD;
export const PIECE_COLUMNS: usize = PIECE_LENGTHS + 2 * MAX_PIECES + SLACK;
export const TEMPLATE_TEXT: usize = PIECE_COLUMNS + 2 * MAX_PIECES + SLACK;
export const COLUMN_SLOTS: usize = TEMPLATE_TEXT + MAX_TEMPLATE_BYTES + SLACK;
/** Number of values of each column, then the end of its spans. */
export const COLUMN_ENDS: usize = COLUMN_SLOTS + 8 * COLUMN_SLOTS_COUNT;
export const COLUMN_RECORDS: usize = COLUMN_ENDS + 4 * (MAX_COLUMNS + 2);
export const ENTRY_SLOTS: usize = COLUMN_RECORDS + COLUMN_RECORD * MAX_COLUMNS;
export const ENTRIES: usize = ENTRY_SLOTS + 2 * ENTRY_SLOTS_COUNT;
/** Template of each row. */
export const ROW_TEMPLATES: usize = ENTRIES + 8 * MAX_ENTRIES;
/** Spans in line order: start and size, 4 bytes each. Then their columns, and the same spans by column. */
export const SPANS: usize = ROW_TEMPLATES + 2 * MAX_SPLIT_ROWS;
export const SPAN_COLUMNS: usize = SPANS + 8 * MAX_SPANS;
export const SORTED_SPANS: usize = SPAN_COLUMNS + 2 * MAX_SPANS;
/** Numbers of the current column, and memory for their bytes. */
export const NUMBERS: usize = SORTED_SPANS + 8 * MAX_SPANS;
/** Affixes of the current column, 32 bytes each, and the index of each value. */
export const AFFIXES: usize = NUMBERS + 8 * MAX_SPANS;
export const AFFIX_INDEXES: usize = AFFIXES + 32 * usize(MAX_AFFIXES) + SLACK;
/**
 * Memory of row-classes.ts and value-forms.ts, which run when the columns are packed and no longer need their numbers: a rule of 16
 * bytes for each template, the level and then the class of each row, classes by hash, classes, and the values of their first rows.
 */
export const CLASS_RULE: usize = 16;
export const CLASS_RECORD: usize = 48;
export const CLASS_SLOTS_COUNT: usize = 2 * usize(MAX_CLASSES);
export const CLASS_RULES: usize = NUMBERS;
export const CLASS_LEVELS: usize = CLASS_RULES + MAX_TEMPLATES * CLASS_RULE;
export const ROW_CLASSES: usize = CLASS_LEVELS + MAX_SPLIT_ROWS;
export const CLASS_SLOTS: usize = ROW_CLASSES + 4 * MAX_SPLIT_ROWS;
export const CLASSES: usize = CLASS_SLOTS + 2 * CLASS_SLOTS_COUNT;
/** Values that mining sees: 24 bytes for each of the current row, and for each of the first row of each class. */
export const CLASS_VALUE: usize = 24;
export const ROW_VALUES: usize = CLASSES + CLASS_RECORD * (usize(MAX_CLASSES) + 1);
export const CLASS_VALUES: usize = ROW_VALUES + CLASS_VALUE * MAX_ROW_VALUES;
/** Offsets of the words of a class that vary. */
export const CLASS_WORDS: usize = CLASS_VALUES + CLASS_VALUE * MAX_CLASS_VALUES;
/** Forms by hash, forms, and the latest values by hash. */
export const FORM_RECORD: usize = 32;
export const FORM_SLOTS_COUNT: usize = 2 * MAX_FORMS;
export const FORM_SLOTS: usize = CLASS_WORDS + 4 * 64;
export const FORMS: usize = FORM_SLOTS + 2 * FORM_SLOTS_COUNT;
export const KNOWN_VALUE: usize = 32;
export const KNOWN_SLOTS: usize = FORMS + FORM_RECORD * (MAX_FORMS + 1);
export const KNOWN_VALUES: usize = KNOWN_SLOTS + 2 * KNOWN_VALUES_COUNT;
/** What is known of all values of a column. */
export const COLUMN_FORMS: usize = KNOWN_VALUES + KNOWN_VALUE * (KNOWN_VALUES_COUNT + 1);
/** Words of two values, and of the first value of each form: start and end, 4 bytes each. */
export const VALUE_WORDS: usize = COLUMN_FORMS + MAX_COLUMNS;
export const OTHER_WORDS: usize = VALUE_WORDS + 8 * MAX_VALUE_WORDS;
export const FORM_WORDS: usize = OTHER_WORDS + 8 * MAX_VALUE_WORDS;
/** Numbers of mined-texts.ts: of each template, and of each class of the page. */
export const TEMPLATE_TEXTS: usize = FORM_WORDS + 8 * MAX_FORM_WORDS;
export const MINED_CLASSES: usize = TEMPLATE_TEXTS + 4 * MAX_TEMPLATES;
/**
 * Memory of column-forms.ts and line-plans.ts, in that of SPAN_COLUMNS, which nothing reads when the columns are packed: what is known
 * of each column, a record of 32 bytes for each entry or affix, indexes of a byte that are packed in fewer bits, the plan of each
 * template, plans, the form and the record of each value of the current row, records of values without an index, the record of each value
 * at CLASS_VALUES, and the output and the signs of each column.
 */
export const MAX_CODE_RECORDS: usize = 4096;
export const MAX_CODE_BYTES: usize = 96 * 1024;
export const MAX_PLAN_BYTES: usize = 120 * 1024;
export const COLUMN_STATE: usize = 16;
export const CODE_RECORD: usize = 32;
export const COLUMN_STATES: usize = SPAN_COLUMNS;
export const CODE_RECORDS: usize = COLUMN_STATES + COLUMN_STATE * MAX_COLUMNS;
export const CODE_BYTES: usize = CODE_RECORDS + CODE_RECORD * MAX_CODE_RECORDS;
export const PLAN_OF: usize = CODE_BYTES + MAX_CODE_BYTES;
export const PLANS: usize = PLAN_OF + 4 * MAX_TEMPLATES;
export const ROW_CODES: usize = PLANS + MAX_PLAN_BYTES;
export const ROW_FORMS: usize = ROW_CODES + 4 * MAX_ROW_VALUES;
export const VALUE_RECORDS: usize = ROW_FORMS + 4 * MAX_ROW_VALUES;
export const CLASS_CODES: usize = VALUE_RECORDS + CODE_RECORD * MAX_ROW_VALUES;
export const COLUMN_OUTPUTS: usize = CLASS_CODES + 4 * MAX_CLASS_VALUES;
export const COLUMN_SIGNS: usize = COLUMN_OUTPUTS + 4 * MAX_COLUMNS;
if (COLUMN_SIGNS + MAX_COLUMNS > SORTED_SPANS)
  ERROR('the memory of column-forms.ts does not fit in that of SPAN_COLUMNS');
/**
 * Bitmaps of words; of bytes that may begin a variable; of quotes and backslashes; of bytes that end a bare
 * value.
 */
export const WORD_MAP: usize = AFFIX_INDEXES + MAX_SPANS + SLACK;
export const TRIGGER_MAP: usize = WORD_MAP + MAP_BYTES;
export const QUOTE_MAP: usize = TRIGGER_MAP + MAP_BYTES;
export const END_MAP: usize = QUOTE_MAP + MAP_BYTES;
/** Class of a combination of forms (line-classes.ts): the latest one of each hash. */
export const COMBINED_RECORD: usize = 16;
export const COMBINED_SHIFT: u64 = 52;
export const COMBINED_COUNT: usize = 1 << 12;
export const COMBINED: usize = MINED_CLASSES + 4 * (usize(MAX_CLASSES) + 1);
if (COMBINED + COMBINED_RECORD * COMBINED_COUNT > WORD_MAP)
  ERROR('the memory of row-classes.ts does not fit in that of numbers and affixes');
/**
 * What mining knows of earlier pages (mined-texts.ts): texts by hash, a record of 16 bytes for each, the texts, and memory for another one.
 */
export const MAX_MINED_TEXTS: usize = 8192;
export const MINED_TEXT: usize = 16;
export const MINED_SLOTS_COUNT: usize = 2 * MAX_MINED_TEXTS;
export const MINED_BYTES_SIZE: usize = 512 * 1024;
export const MAX_MINED_TEXT_BYTES: usize = 64 * 1024;
export const MINED_SLOTS: usize = END_MAP + MAP_BYTES;
export const MINED_TEXTS: usize = MINED_SLOTS + 2 * MINED_SLOTS_COUNT;
export const MINED_BYTES: usize = MINED_TEXTS + MINED_TEXT * (MAX_MINED_TEXTS + 1);
/** Times of the rows, 8 bytes each. */
export const SPLIT_TIMES: usize = MINED_BYTES + MINED_BYTES_SIZE + MAX_MINED_TEXT_BYTES + SLACK;
export const SPLIT_OFFSETS: usize = SPLIT_TIMES + 8 * MAX_SPLIT_ROWS;
export const SPLIT_LINES: usize = SPLIT_OFFSETS + 4 * (MAX_SPLIT_ROWS + 1) + SLACK;
/** Output: all columns, then the frame. */
export const SPLIT_OUT: usize = SPLIT_LINES + MAX_SPLIT_BYTES + SLACK;
/**
 * Maximum output. Columns: their bytes, lengths or numbers, and their encoding details. Frame: all its parts.
 */
export const SPLIT_OUT_BYTES: usize =
  MAX_SPLIT_BYTES +
  8 * MAX_SPANS +
  MAX_COLUMNS * (2 * MAX_PATTERN + COLUMN_RECORD) +
  8 * usize(MAX_AFFIXES) +
  MAX_TEMPLATE_BYTES +
  4 * MAX_PIECES +
  2 * MAX_TEMPLATES +
  2 * MAX_SPLIT_ROWS +
  FRAME_HEAD +
  SLACK;

// @inline
export function lineByte(at: usize): u32 {
  return load<u8>(SPLIT_LINES + at);
}

/** Copies, and may write up to 15 bytes more. */
// @inline
export function copyOver(to: usize, from: usize, bytes: usize): void {
  let i: usize = 0;
  do {
    v128.store(to + i, v128.load(from + i));
    i += 16;
  } while (i < bytes);
}
