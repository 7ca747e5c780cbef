/**
 * Compiles pipelines, commands and operands to closures, once per template. A command receives the value of
 * the previous stage as its last argument; `NONE` means that there is none, which differs from an invalid
 * value.
 */
import { checkValue, constantFor, idealConstant } from './arguments.ts';
import { CallError } from './error.ts';
import type { ParameterType, TemplateFunction } from './function-types.ts';
import {
  type AnyNode,
  type CommandNode,
  type IdentifierNode,
  nodeText,
  type PipeNode,
  type TemplateOperand,
} from './nodes.ts';
import { descend, fail, type State, spend, spendValue } from './state.ts';
import { GoTime } from './time.ts';
import { methodOf } from './time-methods.ts';
import { isTrue, LabelMap, typeName, type Value } from './values.ts';

const NONE = Symbol('no value from the stage before');
/** Weight of a time method, equal to that of `date`: Format processes a layout. */
const TIME_METHOD_WEIGHT = 16;

type PipedValue = Value | typeof NONE;

export type Evaluate = (state: State, dot: Value) => Value;
type Command = (state: State, dot: Value, final: PipedValue) => Value;

/** Value of a variable that was never set at run time, such as one that first appears in `{{$x = 1}}`. */
export const UNSET = new LabelMap({ get: () => undefined, entries: () => [] });

/** Maps names to slots during compilation: inner names hide outer ones of the same name. */
export interface VariableScope {
  readonly functions: ReadonlyMap<string, TemplateFunction>;
  readonly names: Array<{ name: string; slot: number }>;
  /** Number of slots so far, which one call of the template needs. */
  slots: number;
}

function slotOf(scope: VariableScope, name: string): number {
  for (let i = scope.names.length - 1; i >= 0; i--) {
    if (scope.names[i].name === name) return scope.names[i].slot;
  }
  return -1;
}

function declare(scope: VariableScope, name: string): number {
  const slot = scope.slots++;
  scope.names.push({ name, slot });
  return slot;
}

/** Compiles a pipeline. It sets the pipeline's variables unless `range` does so. */
export function compilePipe(pipe: PipeNode, scope: VariableScope, setsVariables = true): Evaluate {
  const commands = pipe.commands.map(command => compileCommand(command, scope));
  const assign = setsVariables ? compileAssignment(pipe, scope) : undefined;
  if (commands.length === 1 && assign === undefined) {
    const only = commands[0];
    return (state, dot) => {
      state.node = pipe;
      spend(state, 1);
      return only(state, dot, NONE) ?? undefined;
    };
  }
  return (state, dot) => {
    state.node = pipe;
    spend(state, commands.length);
    let value: PipedValue = NONE;
    for (const command of commands) value = command(state, dot, value) ?? undefined;
    if (assign !== undefined) assign(state, value as Value);
    return value as Value;
  };
}

/** Compiles the assignment of a pipeline's value to its variables. */
function compileAssignment(
  pipe: PipeNode,
  scope: VariableScope,
): ((state: State, value: Value) => void) | undefined {
  const slots = compileTargets(pipe, scope);
  if (slots.length === 0) return undefined;
  return (state, value) => {
    for (const slot of slots) setVariable(state, slot, value);
  };
}

export type AssignmentTarget = number | string;

/** Returns the slots that `:=` creates or `=` finds; a name represents a variable that does not exist. */
export function compileTargets(pipe: PipeNode, scope: VariableScope): AssignmentTarget[] {
  return pipe.declarations.map(({ names: [name] }) => {
    if (!pipe.isAssign) return declare(scope, name);
    const slot = slotOf(scope, name);
    return slot < 0 ? name : slot;
  });
}

export function setVariable(state: State, target: AssignmentTarget, value: Value): void {
  if (typeof target === 'string') fail(state, `undefined variable: ${target}`);
  state.variables[target] = value;
}

function compileCommand(command: CommandNode, scope: VariableScope): Command {
  const first = command.args[0];
  switch (first.type) {
    case 'identifier':
      return compileCall(first, command, command.args.slice(1), scope);
    case 'field':
      return compileFields((_state, dot) => dot, first.names, first, command.args.slice(1), scope);
    case 'chain':
      return compileChain(first, command.args.slice(1), scope);
    case 'variable': {
      const read = compileVariable(first, scope);
      if (first.names.length > 1) {
        return compileFields(read, first.names.slice(1), first, command.args.slice(1), scope);
      }
      return refuseArguments(command, read, first);
    }
    case 'pipe': {
      const inner = compileParenthesis(first, scope);
      return refuseArguments(command, inner, undefined);
    }
    case 'dot':
      return refuseArguments(command, (_state, dot) => dot, first);
    case 'nil':
      return refuseArguments(command, state => fail(state, 'nil is not a command'), first);
    default: {
      const constant = idealConstant(first);
      if ('complaint' in constant)
        return refuseArguments(command, state => fail(state, constant.complaint), first);
      return refuseArguments(command, () => constant.value, first);
    }
  }
}

/**
 * Compiles a command that is not a function: any argument is an error. `at` is the position that Go reports.
 */
function refuseArguments(command: CommandNode, evaluate: Evaluate, at: AnyNode | undefined): Command {
  const hasArguments = command.args.length > 1;
  return (state, dot, final) => {
    if (at !== undefined) state.node = at;
    if (hasArguments || final !== NONE) {
      fail(state, `can't give argument to non-function ${nodeText(command.args[0])}`);
    }
    return evaluate(state, dot);
  };
}

function compileParenthesis(pipe: PipeNode, scope: VariableScope): Evaluate {
  const inner = compilePipe(pipe, scope);
  return (state, dot) => {
    descend(state);
    const value = inner(state, dot);
    state.depth--;
    return value;
  };
}

function compileVariable(node: TemplateOperand & { type: 'variable' }, scope: VariableScope): Evaluate {
  const slot = slotOf(scope, node.names[0]);
  return state => {
    state.node = node;
    const value = slot < 0 ? UNSET : state.variables[slot];
    if (value === UNSET) fail(state, `undefined variable: ${node.names[0]}`);
    return value;
  };
}

function compileChain(
  node: TemplateOperand & { type: 'chain' },
  args: readonly TemplateOperand[],
  scope: VariableScope,
): Command {
  if (node.base.type === 'nil') {
    return state => {
      state.node = node;
      return fail(state, `indirection through explicit nil in ${nodeText(node)}`);
    };
  }
  const base = compileOperand(node.base, undefined, scope);
  return compileFields(
    (state, dot) => {
      state.node = node;
      return base(state, dot);
    },
    node.names,
    undefined,
    args,
    scope,
  );
}

/** Compiles `.a.b` of a value. Only the last name may be a method, or have arguments. */
function compileFields(
  base: Evaluate,
  names: readonly string[],
  at: AnyNode | undefined,
  args: readonly TemplateOperand[],
  scope: VariableScope,
): Command {
  const last = names[names.length - 1];
  const invoke = compileMethodCall(last, at, args, scope);
  return (state, dot, final) => {
    if (at !== undefined) state.node = at;
    let value = base(state, dot);
    if (at !== undefined) state.node = at;
    let holder: Value;
    for (let i = 0; i < names.length - 1; i++) {
      const next: Value =
        value instanceof GoTime
          ? invokePlain(state, value, names[i])
          : fieldOf(state, value, names[i], holder);
      holder = value;
      value = next;
    }
    if (value instanceof GoTime) return invoke(state, dot, value, final);
    if ((args.length > 0 || final !== NONE) && (value instanceof LabelMap || value instanceof Map)) {
      fail(state, `${last} is not a method but has arguments`);
    }
    return fieldOf(state, value, last, holder);
  };
}

function invokePlain(state: State, time: GoTime, name: string): Value {
  const method = methodOf(time, name);
  if (method === undefined) fail(state, `can't evaluate field ${name} in type time.Time`);
  if (method.parameters.length > 0) {
    fail(state, `wrong number of args for ${name}: want ${method.parameters.length} got 0`);
  }
  return method.call([], state.data);
}

/** Compiles a method call on a time; the method is only known when the value is. */
function compileMethodCall(
  name: string,
  at: AnyNode | undefined,
  args: readonly TemplateOperand[],
  scope: VariableScope,
) {
  const readers = args.map(arg => compileRead(arg, scope));
  return (state: State, dot: Value, time: GoTime, final: PipedValue): Value => {
    const method = methodOf(time, name);
    if (method === undefined) return fail(state, `can't evaluate field ${name} in type time.Time`);
    const count = args.length + (final === NONE ? 0 : 1);
    const wanted = method.parameters.length;
    if (count !== wanted) fail(state, `wrong number of args for ${name}: want ${wanted} got ${count}`);
    const values = args.map((arg, i) => readArgument(state, dot, arg, readers[i], method.parameters[i]));
    if (final !== NONE) values.push(checkValue(state, final, method.parameters[count - 1]));
    if (at !== undefined) state.node = at;
    const result = method.call(values, state.data);
    spend(state, TIME_METHOD_WEIGHT);
    spendValue(state, result, TIME_METHOD_WEIGHT);
    return result;
  };
}

/** @param holder Value to which the field belongs: in a JSON object, all fields have one type */
function fieldOf(state: State, value: Value, name: string, holder: Value): Value {
  if (value instanceof LabelMap) return value.source.get(name) ?? '';
  if (value instanceof Map) return value.get(name) ?? null;
  if (value === undefined) return undefined;
  if (value === null) return fail(state, `nil pointer evaluating interface {}.${name}`);
  const type = holder instanceof Map ? 'interface {}' : typeName(value);
  return fail(state, `can't evaluate field ${name} in type ${type}`);
}

/** Compiles an argument; without a type, it is the base of a chain. */
function compileOperand(
  node: TemplateOperand,
  type: ParameterType | undefined,
  scope: VariableScope,
): Evaluate {
  const read = compileRead(node, scope);
  if (read === undefined) {
    const constant = constantFor(node, type ?? 'any');
    return state => {
      state.node = node;
      return 'complaint' in constant ? fail(state, constant.complaint) : constant.value;
    };
  }
  if (type !== undefined) return (state, dot) => readArgument(state, dot, node, read, type);
  return (state, dot) => {
    state.node = node;
    return read(state, dot);
  };
}

function readArgument(
  state: State,
  dot: Value,
  node: TemplateOperand,
  read: Evaluate | undefined,
  type: ParameterType,
): Value {
  state.node = node;
  if (read !== undefined) return checkValue(state, read(state, dot), type);
  const constant = constantFor(node, type);
  return 'complaint' in constant ? fail(state, constant.complaint) : constant.value;
}

/** Compiles the reader of an operand that is not a constant. */
function compileRead(node: TemplateOperand, scope: VariableScope): Evaluate | undefined {
  const alone =
    (command: Command): Evaluate =>
    (state, dot) =>
      command(state, dot, NONE);
  switch (node.type) {
    case 'dot':
      return (_state, dot) => dot;
    case 'field':
      return alone(compileFields((_state, dot) => dot, node.names, node, [], scope));
    case 'variable': {
      const read = compileVariable(node, scope);
      return node.names.length === 1
        ? read
        : alone(compileFields(read, node.names.slice(1), node, [], scope));
    }
    case 'pipe':
      return compileParenthesis(node, scope);
    case 'identifier':
      return alone(compileCall(node, node, [], scope));
    case 'chain':
      return alone(compileChain(node, [], scope));
    default:
      return undefined;
  }
}

/** Compiles a function with its arguments. Errors of the function show `whole`. */
function compileCall(
  node: IdentifierNode,
  whole: AnyNode,
  args: readonly TemplateOperand[],
  scope: VariableScope,
): Command {
  const { name } = node;
  const callee = scope.functions.get(name)!;
  const { parameters, rest } = callee;
  const operands = args.map((arg, i) => compileOperand(arg, parameters[i] ?? rest ?? 'any', scope));
  if (callee.shortCircuit !== undefined) {
    return compileLogic(node, callee.shortCircuit, operands, wrongCount(callee, name, args.length));
  }
  return (state, dot, final) => {
    state.node = node;
    const count = operands.length + (final === NONE ? 0 : 1);
    if (rest === undefined ? count !== parameters.length : count < parameters.length) {
      fail(state, wrongCount(callee, name, rest === undefined ? count : operands.length));
    }
    const values: Value[] = new Array(count);
    for (let i = 0; i < operands.length; i++) values[i] = operands[i](state, dot);
    if (final !== NONE) values[count - 1] = checkValue(state, final, parameters[count - 1] ?? rest!);
    return callFunction(state, name, callee, whole, values);
  };
}

function wrongCount(callee: TemplateFunction, name: string, count: number): string {
  const least = callee.rest === undefined ? '' : 'at least ';
  return `wrong number of args for ${name}: want ${least}${callee.parameters.length} got ${count}`;
}

function callFunction(
  state: State,
  name: string,
  callee: TemplateFunction,
  whole: AnyNode,
  values: Value[],
): Value {
  const weight = callee.weight ?? 1;
  spend(state, weight);
  for (const value of values) spendValue(state, value, weight);
  let result: Value;
  try {
    result = callee.call(values, state.data);
  } catch (error) {
    if (!(error instanceof CallError)) throw error;
    state.node = whole;
    return fail(state, `error calling ${name}: ${error.message}`);
  }
  spendValue(state, result, weight);
  return result;
}

/**
 * Compiles `and`, which stops at the first false value, or `or`, which stops at the first true one. Otherwise
 * the result is the last value.
 */
function compileLogic(
  node: IdentifierNode,
  stopsAt: boolean,
  operands: readonly Evaluate[],
  complaint: string,
): Command {
  return (state, dot, final) => {
    state.node = node;
    if (operands.length === 0 && final === NONE) fail(state, complaint);
    let value: Value;
    for (const operand of operands) {
      value = operand(state, dot);
      if (isTrue(value) === stopsAt) return value;
    }
    return final === NONE ? value : final;
  };
}
