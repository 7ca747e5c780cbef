/** Reporter of `node --test`: writes each result as a line of JSON, which test-browser.mjs reads. */
export default async function* results(events) {
  for await (const { type, data } of events) {
    if (type === 'test:pass') yield lineOf({ name: data.name });
    // A file that ends with an error outside of its tests is reported like a test.
    else if (type === 'test:fail') yield lineOf({ name: data.name, error: textOf(data.details?.error) });
  }
}

function lineOf(result) {
  return `${JSON.stringify(result)}\n`;
}

/** The runner wraps the error that a test throws. */
function textOf(error) {
  const real = error?.cause ?? error;
  return String(real?.stack ?? real);
}
