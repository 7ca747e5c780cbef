/**
 * Compiles statements to closures: text, actions, if, with, range, template calls. Each returns how it ended,
 * so that `break` and `continue` need no exceptions. Variables are slots of one array per template call. A
 * name that a block declares hides an outer one only until the block's end.
 */

import { quote } from '../../../base/model/quote.ts';
import { CallError } from './error.ts';
import {
  type AssignmentTarget,
  compilePipe,
  compileTargets,
  type Evaluate,
  setVariable,
  UNSET,
  type VariableScope,
} from './expressions.ts';
import { plainField } from './field-use.ts';
import type { TemplateFunction } from './function-types.ts';
import type { ActionNode, BranchNode, ListNode, PipeNode, Statement } from './nodes.ts';
import { printed, valueText } from './print.ts';
import { descend, fail, type State, spend, write } from './state.ts';
import { GoInt, isTrue, LabelMap, sortedEntries, type Value } from './values.ts';

type StatementEnd = 'done' | 'break' | 'continue';
type RunStatement = (state: State, dot: Value) => StatementEnd;

export interface CompiledTemplate {
  readonly run: RunStatement;
  readonly slots: number;
}

export interface Library {
  readonly functions: ReadonlyMap<string, TemplateFunction>;
  /** Filled during compilation: a template may call a later one. */
  readonly templates: Map<string, CompiledTemplate>;
}

export function compileTemplateBody(list: ListNode, library: Library): CompiledTemplate {
  const scope: VariableScope = { functions: library.functions, names: [{ name: '$', slot: 0 }], slots: 1 };
  const run = compileList(list, scope, library);
  return { run, slots: scope.slots };
}

/** Returns the variables of one call; `$` is its data. */
export function newVariables(template: CompiledTemplate, dot: Value): Value[] {
  const variables: Value[] = template.slots === 1 ? [dot] : new Array(template.slots).fill(UNSET);
  variables[0] = dot;
  return variables;
}

function compileList(list: ListNode, scope: VariableScope, library: Library): RunStatement {
  const steps = list.nodes.map(node => compileStatement(node, scope, library));
  if (steps.length === 1) return steps[0];
  return (state, dot) => {
    for (const step of steps) {
      const end = step(state, dot);
      if (end !== 'done') return end;
    }
    return 'done';
  };
}

function compileStatement(node: Statement, scope: VariableScope, library: Library): RunStatement {
  switch (node.type) {
    case 'text':
      return state => {
        state.node = node;
        write(state, node.text);
        return 'done';
      };
    case 'action':
      return compileAction(node, scope);
    case 'break':
    case 'continue': {
      const end = node.type;
      return () => end;
    }
    case 'template':
      return compileTemplateCall(node.name, node.pipe, node, scope, library);
    case 'if':
    case 'with':
      return compileBranch(node, scope, library);
    case 'range':
      return compileRange(node, scope, library);
  }
}

function compileAction(node: ActionNode, scope: VariableScope): RunStatement {
  const evaluate = compilePipe(node.pipe, scope);
  if (node.pipe.declarations.length > 0) {
    return (state, dot) => {
      evaluate(state, dot);
      return 'done';
    };
  }
  const field = plainField(node);
  return (state, dot) => {
    if (field !== undefined && dot instanceof LabelMap) {
      state.node = node;
      write(state, dot.source.get(field) ?? '');
      return 'done';
    }
    const value = evaluate(state, dot);
    state.node = node;
    write(state, typeof value === 'string' ? value : guarded(state, () => printed(value)));
    return 'done';
  };
}

function guarded(state: State, print: () => string): string {
  try {
    return print();
  } catch (error) {
    if (error instanceof CallError) return fail(state, error.message);
    throw error;
  }
}

/** Compiles code whose declared names end with it. */
function scoped<T>(scope: VariableScope, compile: () => T): T {
  const visible = scope.names.length;
  const result = compile();
  scope.names.length = visible;
  return result;
}

function compileBranch(node: BranchNode, scope: VariableScope, library: Library): RunStatement {
  return scoped(scope, () => {
    const condition = compilePipe(node.pipe, scope);
    const body = scoped(scope, () => compileList(node.list, scope, library));
    const { elseList } = node;
    const otherwise = elseList && scoped(scope, () => compileList(elseList, scope, library));
    const changesDot = node.type === 'with';
    return (state, dot) => {
      descend(state);
      const value = condition(state, dot);
      let end: StatementEnd = 'done';
      if (isTrue(value)) end = body(state, changesDot ? value : dot);
      else if (otherwise !== undefined) end = otherwise(state, dot);
      state.depth--;
      return end;
    };
  });
}

function compileTemplateCall(
  name: string,
  pipe: PipeNode | undefined,
  node: Statement,
  scope: VariableScope,
  library: Library,
): RunStatement {
  const argument: Evaluate = pipe === undefined ? () => undefined : compilePipe(pipe, scope);
  return (state, dot) => {
    state.node = node;
    const called = library.templates.get(name);
    if (called === undefined) return fail(state, `template ${quote(name)} not defined`);
    descend(state);
    const given = argument(state, dot);
    const { variables, templateName } = state;
    state.variables = newVariables(called, given);
    state.templateName = name;
    called.run(state, given);
    state.variables = variables;
    state.templateName = templateName;
    state.depth--;
    return 'done';
  };
}

type Iterate = (state: State, index: Value, element: Value) => StatementEnd;

function compileRange(node: BranchNode, scope: VariableScope, library: Library): RunStatement {
  return scoped(scope, () => {
    const { pipe, elseList } = node;
    const list = compilePipe(pipe, scope, false);
    const targets = compileTargets(pipe, scope);
    const body = scoped(scope, () => compileList(node.list, scope, library));
    const otherwise = elseList && scoped(scope, () => compileList(elseList, scope, library));
    const iterate: Iterate = (state, index, element) => {
      spend(state, 1);
      setLoopVariables(state, targets, index, element);
      return body(state, element);
    };
    return (state, dot) => {
      descend(state);
      const value = list(state, dot);
      // Even an empty list sets the variables, because `else` may read them.
      if (!pipe.isAssign) for (const target of targets) setVariable(state, target, value);
      const ran = rangeOver(state, value, targets.length, iterate);
      const end = !ran && otherwise !== undefined ? otherwise(state, dot) : 'done';
      state.depth--;
      return end;
    };
  });
}

/** Sets the loop variables: one variable is the element; of two, the first is the index. */
function setLoopVariables(
  state: State,
  targets: readonly AssignmentTarget[],
  index: Value,
  element: Value,
): void {
  if (targets.length === 0) return;
  if (targets.length === 1) {
    setVariable(state, targets[0], element);
    return;
  }
  setVariable(state, targets[0], index);
  setVariable(state, targets[1], element);
}

/** Returns false if there was nothing to iterate over. */
function rangeOver(state: State, value: Value, variableCount: number, iterate: Iterate): boolean {
  if (value === undefined || value === null) return false;
  if (Array.isArray(value)) {
    for (let i = 0; i < value.length; i++) {
      if (iterate(state, GoInt.of(i), value[i]) === 'break') break;
    }
    return value.length > 0;
  }
  if (value instanceof Map || value instanceof LabelMap) {
    const entries = sortedEntries(value);
    for (const [key, element] of entries) if (iterate(state, key, element) === 'break') break;
    return entries.length > 0;
  }
  if (value instanceof GoInt) {
    if (variableCount > 1)
      fail(state, `can't use ${valueText(value)} to iterate over more than one variable`);
    // The budget ends a loop that counts too far, because every iteration is charged.
    for (let i = 0n; i < value.value; i++) {
      if (iterate(state, undefined, new GoInt(i, value.type)) === 'break') break;
    }
    return value.value > 0n;
  }
  return fail(state, `range can't iterate over ${guarded(state, () => valueText(value))}`);
}
