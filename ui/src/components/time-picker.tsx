/** Time range picker: quick ranges, two typed times, and buttons for earlier, later and wider ranges. */
import { useCallback, useState } from 'preact/hooks';
import { changeSettings, type DisplayZone, settings } from '../state/settings.ts';
import { useStore } from '../state/use-store.ts';
import {
  describeRange,
  formatTime,
  isRelative,
  parseTime,
  QUICK_RANGES,
  type RangeText,
  type ResolvedRange,
  resolveRange,
  shiftRange,
  widenRange,
} from '../time/time-range.ts';
import { IconButton } from './button.tsx';
import { Choice } from './choice.tsx';
import { Icon } from './icon.tsx';
import { Popover } from './popover.tsx';
import { TimeField } from './time-field.tsx';

interface TimePickerProps {
  readonly range: RangeText;
  readonly resolved: ResolvedRange | undefined;
  readonly onChange: (range: RangeText) => void;
  readonly open: boolean;
  readonly onOpen: (open: boolean) => void;
}

export function absoluteRange({ fromMs, toMs }: ResolvedRange): RangeText {
  return { from: String(fromMs), to: String(toMs) };
}

export function TimePicker({ range, resolved, onChange, open, onOpen }: TimePickerProps) {
  const { zone } = useStore(settings);
  const close = useCallback(() => onOpen(false), [onOpen]);
  const choose = (next: RangeText) => {
    onChange(next);
    close();
  };
  const move = (change: (range: ResolvedRange) => ResolvedRange) => {
    if (resolved !== undefined) onChange(absoluteRange(change(resolved)));
  };
  return (
    <div class="time-picker">
      <IconButton icon="left" name="Earlier" onClick={() => move(known => shiftRange(known, -1))} />
      <Popover
        open={open}
        onClose={close}
        name="Time range"
        button={
          <button type="button" class="time-button" aria-expanded={open} onClick={() => onOpen(!open)}>
            <Icon name="clock" size={14} />
            <span class="numeric">{describeRange(range, zone === 'utc')}</span>
            <Icon name="down" size={12} />
          </button>
        }
      >
        <div class="time-panel">
          <ul class="quick-ranges">
            {QUICK_RANGES.map(({ from, title }) => (
              <li key={from}>
                <button
                  type="button"
                  aria-pressed={range.from === from && range.to === 'now'}
                  onClick={() => choose({ from, to: 'now' })}
                >
                  {title}
                </button>
              </li>
            ))}
          </ul>
          <TypedRange range={range} zone={zone} onChange={choose} />
        </div>
      </Popover>
      <IconButton icon="chevron" name="Later" onClick={() => move(known => shiftRange(known, 1))} />
      <IconButton icon="zoomOut" name="Wider" onClick={() => move(known => widenRange(known, Date.now()))} />
    </div>
  );
}

interface TypedRangeProps {
  readonly range: RangeText;
  readonly zone: DisplayZone;
  readonly onChange: (range: RangeText) => void;
}

function TypedRange({ range, zone, onChange }: TypedRangeProps) {
  const utc = zone === 'utc';
  const shown = (text: string) => (isRelative(text) ? text : formatTime(Number(text), utc));
  const [from, setFrom] = useState(() => shown(range.from));
  const [to, setTo] = useState(() => shown(range.to));
  const at = { nowMs: Date.now(), utc };
  const whole = resolveRange({ from, to }, at);
  // A typed time means another time in another zone.
  const kept = (text: string) => (isRelative(text) ? text.trim() : String(parseTime(text, at)));
  const problem =
    parseTime(from, at) === undefined || parseTime(to, at) === undefined
      ? 'Enter a time such as 2026-11-21 14:05:00 or now-6h.'
      : 'The end time must be after the start time.';
  const changeZone = (next: DisplayZone) => {
    const moved = (text: string) => {
      const ms = parseTime(text, at);
      return isRelative(text) || ms === undefined ? text : formatTime(ms, next === 'utc');
    };
    setFrom(moved(from));
    setTo(moved(to));
    changeSettings({ zone: next });
  };
  return (
    <form
      class="typed-range"
      onSubmit={event => {
        event.preventDefault();
        if (whole !== undefined) onChange({ from: kept(from), to: kept(to) });
      }}
    >
      <TimeField name="From" value={from} wrong={parseTime(from, at) === undefined} onChange={setFrom} />
      <TimeField name="To" value={to} wrong={parseTime(to, at) === undefined} onChange={setTo} />
      {whole === undefined && (
        <p class="form-problem" role="alert">
          {problem}
        </p>
      )}
      <button type="submit" class="button primary" disabled={whole === undefined}>
        Apply range
      </button>
      <Choice
        name="Time zone"
        value={zone}
        onChange={changeZone}
        options={[
          { value: 'local', label: 'Local time' },
          { value: 'utc', label: 'UTC' },
        ]}
      />
    </form>
  );
}
