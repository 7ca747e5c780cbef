/**
 * Checks an argument against a parameter's type, with Go's error messages. Constants are checked when the
 * template is compiled, because they have no type before that. Other arguments are checked when their value
 * is known.
 */
import { PARAMETER_NAMES, type ParameterType } from './function-types.ts';
import { nodeText, type TemplateOperand } from './nodes.ts';
import { fail, type State } from './state.ts';
import { GoTime } from './time.ts';
import { GoInt, typeName, type Value } from './values.ts';

/** Returns the value as the parameter's type; fails at the state's node. */
export function checkValue(state: State, value: Value, type: ParameterType): Value {
  switch (type) {
    case 'any':
    case 'value':
      return value ?? undefined;
    case 'string':
      if (typeof value === 'string') return value;
      break;
    case 'int':
      if (value instanceof GoInt && value.type === 'int') return value;
      break;
    case 'float64':
      if (typeof value === 'number') return value;
      break;
    case 'time':
      if (value instanceof GoTime) return value;
      break;
    case 'duration':
    case 'month':
      if (value instanceof GoInt && value.type === `time.${type === 'month' ? 'Month' : 'Duration'}`)
        return value;
      break;
  }
  if (value === undefined) fail(state, `invalid value; expected ${PARAMETER_NAMES[type]}`);
  return fail(state, `wrong type for value; expected ${PARAMETER_NAMES[type]}; got ${typeName(value)}`);
}

/** Returns a constant's value as a type, or the error message. */
export function constantFor(
  node: TemplateOperand,
  type: ParameterType,
): { value: Value } | { complaint: string } {
  if (node.type === 'nil') {
    // Only types that can be nil in Go accept nil.
    return type === 'any' || type === 'value'
      ? { value: undefined }
      : { complaint: `cannot assign nil to ${PARAMETER_NAMES[type]}` };
  }
  switch (type) {
    case 'any':
    case 'value':
      return idealConstant(node);
    case 'string':
      return node.type === 'string' ? { value: node.value } : mismatch('string', node);
    case 'float64':
      return node.type === 'number' ? { value: node.float } : mismatch('float', node);
    case 'int':
    case 'duration':
    case 'month':
      if (node.type !== 'number' || node.int === undefined) return mismatch('integer', node);
      if (type === 'int') return { value: GoInt.of(node.int) };
      return { value: new GoInt(node.int, type === 'month' ? 'time.Month' : 'time.Duration') };
    case 'time':
      return { complaint: `can't handle ${nodeText(node)} for arg of type time.Time` };
  }
}

function mismatch(wanted: string, node: TemplateOperand): { complaint: string } {
  return { complaint: `expected ${wanted}; found ${nodeText(node)}` };
}

/** Returns a constant's value if no type is expected. */
export function idealConstant(node: TemplateOperand): { value: Value } | { complaint: string } {
  if (node.type === 'bool' || node.type === 'string') return { value: node.value };
  if (node.type === 'number' && node.ideal !== undefined) return { value: node.ideal };
  return { complaint: `${nodeText(node)} overflows int` };
}
