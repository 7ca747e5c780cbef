interface Page {
  readonly text: string;
  readonly link: string;
}

declare const config: {
  readonly themeConfig: {
    readonly sidebar: readonly { readonly text: string; readonly items: readonly Page[] }[];
  };
};
export default config;
