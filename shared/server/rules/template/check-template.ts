/**
 * Checks whether the text of a rule's label or annotation is a valid Go template with the functions of alert
 * templates.
 */
import { messageOf } from '../../../base/model/errors.ts';
import { parseTemplate } from '../../../execution/pipeline/template/parser.ts';
import { RULE_FUNCTIONS } from './functions.ts';

/** Variables that every template can use, as in the reference. */
export const PRELUDE =
  '{{$labels := .Labels}}{{$externalLabels := .ExternalLabels}}{{$externalURL := .ExternalURL}}{{$value := .Value}}';

/** Description of the error; `undefined` if the template is valid. */
export function checkTemplate(text: string): string | undefined {
  try {
    parseTemplate(PRELUDE + text, 'template', name => RULE_FUNCTIONS.has(name));
    return undefined;
  } catch (error) {
    return messageOf(error);
  }
}
