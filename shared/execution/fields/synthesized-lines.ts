/**
 * Lines of a page whose columns know every field of every line, put together again of columns and rests: what a line says by
 * itself, in another order perhaps, and without all that is no field. What a parser makes of the one it makes of the other.
 *
 * What a reader would get wrong: the order of the fields is lost. Whoever takes the first fields only must read lines.
 */
import {
  FALLBACK_ID,
  type FieldColumn,
  type KnownFields,
  type ParserName,
} from '../../base/model/page-fields.ts';
import {
  formOfRest,
  lineOfMembers,
  type MemberForm,
  memberForm,
  membersOfRest,
  memberText,
  parserOfRest,
  type RestForm,
  separatorOf,
  textOfRest,
} from './residual-text.ts';

export class KnownLines {
  readonly #fields: KnownFields;
  readonly #json: readonly MemberTexts[];
  readonly #logfmt: readonly MemberTexts[];
  /** By id, as they are first met. */
  readonly #rests: ReadRest[] = [];

  constructor(fields: KnownFields) {
    this.#fields = fields;
    const ofParser = (parser: ParserName) =>
      fields.columns.filter(({ field }) => field.parser === parser).map(column => new MemberTexts(column));
    this.#json = ofParser('json');
    this.#logfmt = ofParser('logfmt');
  }

  /** False where the row's line must be read. */
  knows(row: number): boolean {
    return this.#fields.rests.ids[row] !== FALLBACK_ID;
  }

  /** Only of a row that is known. @param timeNs of the row, since the start of the day */
  lineOf(row: number, timeNs: number): string {
    const rest = this.#restOf(this.#fields.rests.ids[row]);
    const parser = rest?.parser ?? this.#parserOf(row);
    if (parser === undefined) return '';
    const separator = separatorOf(parser);
    let members = rest === undefined ? '' : textOfRest(rest.members, timeNs);
    for (const column of parser === 'json' ? this.#json : this.#logfmt) {
      const text = column.textOf(row);
      if (text !== undefined) members = members === '' ? text : members + separator + text;
    }
    return lineOfMembers(parser, members);
  }

  #restOf(id: number): ReadRest | undefined {
    if (id === 0) return undefined;
    const known = this.#rests[id];
    if (known !== undefined) return known;
    const text = this.#fields.rests.valueAt(id - 1);
    const rest = { parser: parserOfRest(text), members: formOfRest(membersOfRest(text)) };
    this.#rests[id] = rest;
    return rest;
  }

  /** The parser whose columns know the row: of the other's they know none. Undefined where the line has no field. */
  #parserOf(row: number): ParserName | undefined {
    if (this.#json.some(column => column.knows(row))) return 'json';
    return this.#logfmt.some(column => column.knows(row)) ? 'logfmt' : undefined;
  }
}

interface ReadRest {
  /** Undefined where it has no members. */
  readonly parser: ParserName | undefined;
  readonly members: RestForm;
}

/** The values of a column as members of a line, each put into words once. */
class MemberTexts {
  readonly #column: FieldColumn;
  readonly #form: MemberForm;
  readonly #texts: string[] = [];

  constructor(column: FieldColumn) {
    this.#column = column;
    this.#form = memberForm(column.field.parser, column.field.path);
  }

  knows(row: number): boolean {
    return this.#column.column.ids[row] !== FALLBACK_ID;
  }

  /** Undefined where the line lacks the field, or its rest has it. */
  textOf(row: number): string | undefined {
    const { column } = this.#column;
    const id = column.ids[row];
    if (id === 0 || id === FALLBACK_ID) return undefined;
    return (this.#texts[id] ??= memberText(this.#form, column.valueAt(id - 1)));
  }
}
