/**
 * Synthesized lines: lines rebuilt from columns and residual fields, for pages that store every field of
 * every line. A synthesized line contains the fields of the original, perhaps in another order, and no other
 * text. Parsers derive the same fields from both.
 *
 * Pitfall: the order of the fields is lost. A query that uses only the first fields must read the lines.
 */
import {
  FALLBACK_ID,
  type FieldColumn,
  type KnownFields,
  type ParserName,
} from '../../base/model/page-fields.ts';
import {
  formOfResidual,
  lineOfMembers,
  type MemberForm,
  memberForm,
  membersOfResidual,
  memberText,
  parserOfResidual,
  type ResidualForm,
  separatorOf,
  textOfResidual,
} from './residual-text.ts';

export class KnownLines {
  readonly #fields: KnownFields;
  readonly #json: readonly MemberTexts[];
  readonly #logfmt: readonly MemberTexts[];
  /** Residual texts by ID, in order of first use. */
  readonly #residuals: ReadResidual[] = [];

  constructor(fields: KnownFields) {
    this.#fields = fields;
    const ofParser = (parser: ParserName) =>
      fields.columns.filter(({ field }) => field.parser === parser).map(column => new MemberTexts(column));
    this.#json = ofParser('json');
    this.#logfmt = ofParser('logfmt');
  }

  /** Returns false if the row's line must be read. */
  covers(row: number): boolean {
    return this.#fields.residuals.ids[row] !== FALLBACK_ID;
  }

  /**
   * Builds the line of a row for which `covers` is true.
   * @param timeNs Time of the row, since the start of the day
   */
  lineOf(row: number, timeNs: number): string {
    const residual = this.#residualOf(this.#fields.residuals.ids[row]);
    const parser = residual?.parser ?? this.#parserOf(row);
    if (parser === undefined) return '';
    const separator = separatorOf(parser);
    let members = residual === undefined ? '' : textOfResidual(residual.members, timeNs);
    for (const column of parser === 'json' ? this.#json : this.#logfmt) {
      const text = column.textOf(row);
      if (text !== undefined) members = members === '' ? text : members + separator + text;
    }
    return lineOfMembers(parser, members);
  }

  #residualOf(id: number): ReadResidual | undefined {
    if (id === 0) return undefined;
    const known = this.#residuals[id];
    if (known !== undefined) return known;
    const text = this.#fields.residuals.valueAt(id - 1);
    const residual = { parser: parserOfResidual(text), members: formOfResidual(membersOfResidual(text)) };
    this.#residuals[id] = residual;
    return residual;
  }

  /**
   * Returns the parser whose columns store the row; columns of the other parser have no value for it.
   * Undefined if the line has no field.
   */
  #parserOf(row: number): ParserName | undefined {
    if (this.#json.some(column => column.covers(row))) return 'json';
    return this.#logfmt.some(column => column.covers(row)) ? 'logfmt' : undefined;
  }
}

interface ReadResidual {
  /** Parser, or undefined if the text has no members. */
  readonly parser: ParserName | undefined;
  readonly members: ResidualForm;
}

/** Values of a column as members of a line, each formatted once. */
class MemberTexts {
  readonly #column: FieldColumn;
  readonly #form: MemberForm;
  readonly #texts: string[] = [];

  constructor(column: FieldColumn) {
    this.#column = column;
    this.#form = memberForm(column.field.parser, column.field.path);
  }

  covers(row: number): boolean {
    return this.#column.column.ids[row] !== FALLBACK_ID;
  }

  /** Returns the member, or undefined if the line lacks the field or its residual text contains it. */
  textOf(row: number): string | undefined {
    const { column } = this.#column;
    const id = column.ids[row];
    if (id === 0 || id === FALLBACK_ID) return undefined;
    return (this.#texts[id] ??= memberText(this.#form, column.valueAt(id - 1)));
  }
}
