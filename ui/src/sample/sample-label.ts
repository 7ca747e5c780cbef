/** Names that mark sample data. A separate file, because the page loads the lines only on demand. */
export const SAMPLE_LABEL = 'sample_data';
export const SAMPLE_SELECTOR = `{${SAMPLE_LABEL}=~".+"}`;
/** Start of the name of each service. */
export const SAMPLE_PREFIX = 'sample-';
