/** The part of terminal-kit that `logboom view` uses; the package has no types. */
declare module 'terminal-kit' {
  import type { ReadStream, WriteStream } from 'node:tty';

  /** Returns escape sequences, and text between them, as a string. */
  interface EscapeText {
    moveTo(column: number, row: number): string;
    eraseLineAfter(): string;
    hideCursor(isHidden?: boolean): string;
    noFormat(text: string): string;
    readonly bold: EscapeText;
    readonly dim: EscapeText;
    readonly inverse: EscapeText;
  }

  interface Terminal {
    readonly width: number;
    readonly height: number;
    readonly str: EscapeText;
    fullscreen(isOn: boolean): void;
    hideCursor(isHidden?: boolean): void;
    grabInput(options: false | object): void;
    on(event: 'key', listener: (name: string, matches: unknown, data: KeyData) => void): void;
    on(event: 'resize', listener: () => void): void;
  }

  export interface KeyData {
    /** False for a key with a name, such as UP. */
    readonly isCharacter: boolean;
  }

  interface TerminalGuess {
    readonly appId: string;
    readonly generic: string;
    readonly safe: boolean;
    readonly isSSH: boolean;
  }

  interface TerminalOptions {
    readonly stdin: ReadStream;
    readonly stdout: WriteStream;
    readonly stderr: WriteStream;
    readonly generic: string;
    readonly appId: string | undefined;
    readonly isTTY: boolean;
    readonly isSSH: boolean;
  }

  const terminalKit: {
    guessTerminal(): TerminalGuess;
    createTerminal(options: TerminalOptions): Terminal;
  };
  export default terminalKit;
}
