/** Form for name, time, refresh and variables of a board. */
import { useState } from 'preact/hooks';
import { type Board, type BoardVariable, MAX_BOARD_VARIABLES } from '../../../../shared/base/model/board.ts';
import { readBoard } from '../../../../shared/base/model/read-board.ts';
import { messageOf } from '../../api/errors.ts';
import { Button, IconButton } from '../../components/button.tsx';
import { Dialog } from '../../components/dialog.tsx';
import { RefreshSelect } from '../../components/refresh-select.tsx';
import { QUICK_RANGES } from '../../time/time-range.ts';

interface BoardFormProps {
  readonly board: Board;
  readonly onClose: () => void;
  readonly onBoard: (board: Board) => void;
}

const NEW_VARIABLE: BoardVariable = {
  ...{ name: 'service', label: 'service_name', selector: '', values: [], chosen: [], several: true },
};

export function BoardForm({ board, onClose, onBoard }: BoardFormProps) {
  const [draft, setDraft] = useState(board);
  const [fault, setFault] = useState<string>();
  const change = (changes: Partial<Board>) => setDraft(before => ({ ...before, ...changes }));
  const { name, description, from, to, refreshSeconds, variables } = draft;
  const setVariable = (at: number, changes: Partial<BoardVariable>) =>
    change({ variables: variables.map((one, i) => (i === at ? { ...one, ...changes } : one)) });
  const ranges = QUICK_RANGES.some(quick => quick.from === from && to === 'now')
    ? QUICK_RANGES
    : [...QUICK_RANGES, { from, title: `${from} → ${to}` }];
  return (
    <Dialog title="Board settings" onClose={onClose}>
      <form
        class="form"
        onSubmit={event => {
          event.preventDefault();
          try {
            onBoard(readBoard(draft));
          } catch (error) {
            setFault(messageOf(error));
          }
        }}
      >
        <label class="field">
          <span>Name</span>
          <input
            class="input"
            value={name}
            maxLength={80}
            required
            autofocus
            onInput={event => change({ name: event.currentTarget.value })}
          />
        </label>
        <label class="field">
          <span>Description</span>
          <input
            class="input"
            value={description}
            maxLength={1000}
            onInput={event => change({ description: event.currentTarget.value })}
          />
        </label>
        <div class="form-columns">
          <label class="field">
            <span>Time range</span>
            <select
              class="input"
              value={from}
              onChange={event =>
                change({
                  from: event.currentTarget.value,
                  to: event.currentTarget.value === board.from ? board.to : 'now',
                })
              }
            >
              {ranges.map(quick => (
                <option key={quick.from} value={quick.from}>
                  {quick.title}
                </option>
              ))}
            </select>
          </label>
          <div class="field">
            <span>Refresh</span>
            <RefreshSelect
              seconds={refreshSeconds}
              onSeconds={seconds => change({ refreshSeconds: seconds })}
            />
          </div>
        </div>
        {variables.map((variable, i) => (
          <fieldset key={i} class="panel-query">
            <legend>Variable {variable.name === '' ? '' : `$${variable.name}`}</legend>
            <div class="form-columns">
              <Text name="Name" value={variable.name} onText={text => setVariable(i, { name: text })} />
              <Text
                name="Values of label"
                value={variable.label}
                onText={text => setVariable(i, { label: text })}
              />
            </div>
            {variable.label === '' ? (
              <Text
                name="Values, separated by commas"
                value={variable.values.join(', ')}
                onText={text =>
                  setVariable(i, {
                    values: text
                      .split(',')
                      .map(one => one.trim())
                      .filter(one => one !== ''),
                  })
                }
              />
            ) : (
              <Text
                name="Streams (selector)"
                value={variable.selector}
                onText={text => setVariable(i, { selector: text })}
              />
            )}
            <label class="variable-several">
              <input
                type="checkbox"
                checked={variable.several}
                onChange={event => setVariable(i, { several: event.currentTarget.checked, chosen: [] })}
              />{' '}
              Several values, or all (write <code>=~</code>)
            </label>
            <IconButton
              icon="close"
              name={`Remove variable ${variable.name}`}
              onClick={() => change({ variables: variables.filter((_, at) => at !== i) })}
            />
          </fieldset>
        ))}
        {variables.length < MAX_BOARD_VARIABLES && (
          <Button
            kind="quiet"
            icon="plus"
            class="small"
            onClick={() => change({ variables: [...variables, NEW_VARIABLE] })}
          >
            Add variable
          </Button>
        )}
        {fault !== undefined && (
          <p class="form-problem" role="alert">
            {fault}
          </p>
        )}
        <div class="form-actions">
          <Button onClick={onClose}>Cancel</Button>
          <Button kind="primary" submits>
            Apply
          </Button>
        </div>
      </form>
    </Dialog>
  );
}

function Text({
  name,
  value,
  onText,
}: {
  readonly name: string;
  readonly value: string;
  readonly onText: (text: string) => void;
}) {
  return (
    <label class="field">
      <span>{name}</span>
      <input
        class="input mono"
        value={value}
        spellcheck={false}
        autocomplete="off"
        onChange={event => onText(event.currentTarget.value)}
      />
    </label>
  );
}
