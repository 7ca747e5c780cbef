/** Variables of a board: values of a label in the time of the board, fixed values, or a text. */
import { useEffect } from 'preact/hooks';
import { type BoardVariable, MAX_VARIABLE_VALUES } from '../../../../shared/base/model/board.ts';
import { fetchLabelValues } from '../../api/queries.ts';
import { useRequest } from '../../api/use-request.ts';
import { type Chosen, fillBoardVariables, PARAM_PREFIX } from '../../boards/board-variables.ts';
import { changeParams } from '../../state/navigation.ts';
import type { ResolvedRange } from '../../time/time-range.ts';

interface VariableBarProps {
  readonly variables: readonly BoardVariable[];
  readonly chosen: Chosen;
  readonly range: ResolvedRange;
}

export function VariableBar({ variables, chosen, range }: VariableBarProps) {
  return (
    <fieldset class="variable-bar">
      <legend class="hidden">Variables</legend>
      {variables.map(variable => (
        <Variable
          key={variable.name}
          variable={variable}
          values={chosen[variable.name] ?? []}
          selector={fillBoardVariables(variable.selector, variables, chosen)}
          range={range}
        />
      ))}
    </fieldset>
  );
}

interface VariableProps {
  readonly variable: BoardVariable;
  readonly values: readonly string[];
  readonly selector: string;
  readonly range: ResolvedRange;
}

function Variable({ variable, values, selector, range }: VariableProps) {
  const { name, label, several } = variable;
  const asked = useRequest(
    async signal =>
      label === ''
        ? []
        : (await fetchLabelValues(label, range, selector, signal)).slice(0, MAX_VARIABLE_VALUES),
    [label, selector, range],
  );
  const offered = label === '' ? variable.values : (asked.value ?? []);
  const options = [...new Set([...values, ...offered])];
  const choose = (next: readonly string[]) =>
    changeParams({ [PARAM_PREFIX + name]: next.length === 0 ? '\n' : next.join('\n') }, { replace: true });
  const [first] = offered;
  // A query without a value for a variable would find nothing.
  useEffect(() => {
    if (!several && values.length === 0 && first !== undefined) choose([first]);
  }, [several, values.length, first]);
  if (label === '' && variable.values.length === 0) {
    return (
      <label class="variable">
        <span>{name}</span>
        <input
          class="input mono"
          value={values[0] ?? ''}
          spellcheck={false}
          onChange={event => choose([event.currentTarget.value])}
        />
      </label>
    );
  }
  if (!several) {
    return (
      <label class="variable">
        <span>{name}</span>
        <select class="input" value={values[0] ?? ''} onChange={event => choose([event.currentTarget.value])}>
          {options.map(value => (
            <option key={value}>{value}</option>
          ))}
        </select>
      </label>
    );
  }
  return (
    <details class="variable several">
      <summary>
        <span>{name}</span>{' '}
        {values.length === 0 ? 'all' : values.length === 1 ? values[0] : `${values.length} values`}
      </summary>
      <div class="variable-values">
        <label>
          <input type="checkbox" checked={values.length === 0} onChange={() => choose([])} /> all
        </label>
        {options.map(value => (
          <label key={value}>
            <input
              type="checkbox"
              checked={values.includes(value)}
              onChange={event =>
                choose(
                  event.currentTarget.checked
                    ? [...values, value].slice(0, MAX_VARIABLE_VALUES)
                    : values.filter(known => known !== value),
                )
              }
            />{' '}
            {value}
          </label>
        ))}
      </div>
    </details>
  );
}
