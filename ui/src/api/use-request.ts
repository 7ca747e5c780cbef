/** API data of a component: loading, then a value or an error. Reloads when its keys change. */
import { useCallback, useEffect, useRef, useState } from 'preact/hooks';
import { type ApiError, isAbort } from './errors.ts';

export interface RequestState<T> {
  readonly loading: boolean;
  /** Current value; stays while the next one loads. */
  readonly value: T | undefined;
  readonly error: ApiError | undefined;
  reload(): void;
  /** Aborts the request. */
  cancel(): void;
}

/**
 * Calls `load` after each change of `keys`, with a signal that aborts on unmount or on the next call. `load`
 * can show values before the last one with `show`.
 */
export function useRequest<T>(
  load: (signal: AbortSignal, show: (value: T) => void) => Promise<T>,
  keys: readonly unknown[],
): RequestState<T> {
  const [state, setState] = useState<Omit<RequestState<T>, 'reload' | 'cancel'>>({
    loading: true,
    value: undefined,
    error: undefined,
  });
  const [round, setRound] = useState(0);
  const running = useRef<AbortController>();
  // The caller's keys decide when to reload.
  useEffect(() => {
    const controller = new AbortController();
    running.current = controller;
    setState(({ value }) => ({ loading: true, value, error: undefined }));
    const show = (value: T) => {
      if (!controller.signal.aborted) setState({ loading: true, value, error: undefined });
    };
    load(controller.signal, show).then(
      value => {
        if (!controller.signal.aborted) setState({ loading: false, value, error: undefined });
      },
      (error: ApiError) => {
        if (!isAbort(error) && !controller.signal.aborted)
          setState({ loading: false, value: undefined, error });
      },
    );
    return () => controller.abort();
  }, [...keys, round]);
  const reload = useCallback(() => setRound(count => count + 1), []);
  const cancel = useCallback(() => {
    running.current?.abort();
    setState(before => ({ ...before, loading: false }));
  }, []);
  return { ...state, reload, cancel };
}
