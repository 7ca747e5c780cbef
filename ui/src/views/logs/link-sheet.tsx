/** Link template for the values of a field: a trace ID to its trace, a user to an account. */
import { useState } from 'preact/hooks';
import { Button } from '../../components/button.tsx';
import { Dialog } from '../../components/dialog.tsx';
import { linkOf, templateProblem, VALUE_MARK, withLink } from '../../lines/field-links.ts';
import { changeSettings, settings } from '../../state/settings.ts';

interface LinkSheetProps {
  readonly name: string;
  /** Example value. */
  readonly value: string;
  readonly onClose: () => void;
}

export function LinkSheet({ name, value, onClose }: LinkSheetProps) {
  const known = settings.get().links[name] ?? '';
  const [template, setTemplate] = useState(known);
  const problem = template === '' ? undefined : templateProblem(template);
  const save = (text: string) => {
    changeSettings({ links: withLink(settings.get().links, name, text) });
    onClose();
  };
  return (
    <Dialog title={`Link for ${name}`} onClose={onClose}>
      <form
        class="form"
        onSubmit={event => {
          event.preventDefault();
          if (problem === undefined) save(template);
        }}
      >
        <label class="field">
          <span>URL</span>
          <input
            class="input"
            type="text"
            inputMode="url"
            autofocus
            value={template}
            placeholder={`https://traces.example.com/trace/${VALUE_MARK}`}
            autocomplete="off"
            spellcheck={false}
            onInput={event => setTemplate(event.currentTarget.value.trim())}
          />
          <small>
            {problem ??
              `Use ${VALUE_MARK} for the value. This browser remembers the link for every field named ${name}.`}
          </small>
        </label>
        {problem === undefined && template !== '' && (
          <p class="link-example">
            <code>{linkOf(template, value)}</code>
          </p>
        )}
        <div class="form-actions">
          {known !== '' && (
            <Button kind="quiet" onClick={() => save('')}>
              Remove link
            </Button>
          )}
          <Button kind="primary" submits disabled={template === '' || problem !== undefined}>
            Save link
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
