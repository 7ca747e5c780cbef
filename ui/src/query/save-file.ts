/** Saves a text as a file on this machine. */
const REVOKED_AFTER_MS = 10_000;

export function saveFile(name: string, text: string, type: string): void {
  const url = URL.createObjectURL(new Blob([text], { type }));
  const link = document.createElement('a');
  link.href = url;
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(url), REVOKED_AFTER_MS);
}
