/** Whether the text of a rule's label or annotation is a template: Go's, with the functions of alert templates. */
import { messageOf } from '../../../base/model/errors.ts';
import { parseTemplate } from '../../../execution/pipeline/template/parser.ts';
import { RULE_FUNCTIONS } from './functions.ts';

/** Variables that every template begins with, as in the reference. */
export const PRELUDE =
  '{{$labels := .Labels}}{{$externalLabels := .ExternalLabels}}{{$externalURL := .ExternalURL}}{{$value := .Value}}';

/** What is wrong with it; undefined where nothing is. */
export function checkTemplate(text: string): string | undefined {
  try {
    parseTemplate(PRELUDE + text, 'template', name => RULE_FUNCTIONS.has(name));
    return undefined;
  } catch (error) {
    return messageOf(error);
  }
}
