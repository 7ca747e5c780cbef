/**
 * Values of split lines whose template shows every field. Only values are joined, no lines: constant text stays zero bytes.
 */
import { type Labels, labelValue } from '../../base/model/labels.ts';
import type { LineTemplate, LineValues, PageRows } from '../../base/model/page.ts';
import { formOfTemplate, type LineForm, plainLine, type TemplateForm } from './line-form.ts';

export class FormedLines {
  readonly #page: PageRows;
  readonly #rows: Uint32Array;
  /** Null if the lines are not split, or are cached. */
  #values: LineValues | null | undefined;
  /** Form of each template; null if its lines must be parsed. */
  #forms: (TemplateForm | null)[] = [];
  #form: TemplateForm | undefined;
  /** Index of the latest row. */
  #at = 0;
  #stream: Labels | undefined;
  /** Forms without a name that is a label of the stream. */
  readonly #clear = new Set<TemplateForm>();

  /** @param rows Ascending rows of the page that may be requested */
  constructor(page: PageRows, rows: Uint32Array) {
    this.#page = page;
    this.#rows = rows;
  }

  /** Form of the line that `get` returned last. */
  get form(): LineForm | undefined {
    return this.#form;
  }

  /**
   * Returns the line of a row with a zero byte for each byte of constant text, or undefined if it must be parsed. Throws
   * CorruptionError.
   * @param row Not lower than that of the call before
   * @param stream Labels of the row's stream
   */
  get(row: number, stream: Labels): string | undefined {
    this.#values ??= this.#page.values?.(this.#rows, this.#rows.length) ?? null;
    if (this.#values === null) return undefined;
    const { bytes, offsets, templateOf, templates } = this.#values;
    const template = templateOf[row];
    if (template === 0) return undefined;
    const form = (this.#forms[template] ??= knownForm(templates[template - 1]) ?? null);
    if (form === null || !this.#isClear(form, stream)) return undefined;
    while (this.#rows[this.#at] < row) this.#at++;
    this.#form = form;
    return plainLine(form, bytes, offsets[this.#at], offsets[this.#at + 1]);
  }

  /** Whether no field has the name of a label of the stream. The parser would suffix it. */
  #isClear(form: TemplateForm, stream: Labels): boolean {
    if (stream !== this.#stream) {
      this.#stream = stream;
      this.#clear.clear();
    }
    if (this.#clear.has(form)) return true;
    if (form.fields.some(({ name }) => labelValue(stream, name) !== undefined)) return false;
    this.#clear.add(form);
    return true;
  }
}

/** Forms by the template's text and the offsets of its values: most pages have templates of other pages. */
const FORMS = new Map<string, TemplateForm | undefined>();
const MAX_FORMS = 256;
/** Templates of longer keys are not remembered. */
const MAX_KEY_CHARACTERS = 8192;

function knownForm(template: LineTemplate): TemplateForm | undefined {
  const { text, values } = template;
  const key = `${values.join()} ${text}`;
  if (key.length > MAX_KEY_CHARACTERS) return formOfTemplate(template);
  if (!FORMS.has(key)) {
    if (FORMS.size === MAX_FORMS) FORMS.clear();
    FORMS.set(key, formOfTemplate(template));
  }
  return FORMS.get(key);
}
