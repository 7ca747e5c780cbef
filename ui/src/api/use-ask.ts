/** Something that a component asks the API for: loading, then a value or an error; asked again when its keys change. */
import { useCallback, useEffect, useRef, useState } from 'preact/hooks';
import { type ApiError, isAbort } from './errors.ts';

export interface Asked<T> {
  readonly loading: boolean;
  /** The last value stays while the next one is loading. */
  readonly value: T | undefined;
  readonly error: ApiError | undefined;
  reload(): void;
  /** Ends what is loading. */
  cancel(): void;
}

/** `load` is called anew for each change of `keys`; it gets a signal that ends with the component or the next call. */
export function useAsk<T>(load: (signal: AbortSignal) => Promise<T>, keys: readonly unknown[]): Asked<T> {
  const [state, setState] = useState<Omit<Asked<T>, 'reload' | 'cancel'>>({
    loading: true,
    value: undefined,
    error: undefined,
  });
  const [round, setRound] = useState(0);
  const running = useRef<AbortController>();
  // The caller's keys say when to ask again.
  useEffect(() => {
    const controller = new AbortController();
    running.current = controller;
    setState(({ value }) => ({ loading: true, value, error: undefined }));
    load(controller.signal).then(
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
