/** Maximum line size of `query --stdin`; longer lines end the input. */
export const MAX_STDIN_LINE_BYTES = 64 * 1024 * 1024;
