/** Declares style sheets, which esbuild bundles, as modules without exports. */
declare module '*.css';
