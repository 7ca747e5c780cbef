/**
 * `| line_format "..."` (docs/dev/logql-semantics.md#line_format). A template that fails does not change the line and sets the
 * error. A template that consists of a single field is a plain lookup, which does not see `__error__`.
 */
import { messageOf } from '../../base/model/errors.ts';
import type { Clock } from '../../base/ports/clock.ts';
import type { Row, RowStage } from './row.ts';
import { compileTemplate } from './template/template.ts';
import { failTemplate, RowTemplateData } from './templates.ts';

/** Throws an Error with the reference's text for an invalid template. */
export function compileLineFormat(text: string, row: Row, clock: Clock): RowStage {
  const template = compileTemplateNamed(text, 'invalid line template: ', 'line');
  if (template.field !== undefined) {
    const id = row.labels.intern(template.field);
    return current => {
      current.setLine(current.labels.get(id) ?? '');
      return true;
    };
  }
  for (const field of template.fields) row.labels.intern(field);
  const data = new RowTemplateData(row, clock);
  return current => {
    try {
      current.setLine(template.render(data));
    } catch (error) {
      failTemplate(current, messageOf(error));
    }
    return true;
  };
}

/** Compiles a template; an error's text gets a prefix. */
export function compileTemplateNamed(text: string, prefix: string, name: 'line' | 'label') {
  try {
    return compileTemplate(text, name);
  } catch (error) {
    throw new Error(prefix + messageOf(error), { cause: error });
  }
}
