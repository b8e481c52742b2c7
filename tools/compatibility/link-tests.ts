/** Links from `docs/` to test files, by their short names. */
export function linkTests(files: readonly string[]): string {
  return files.map((file) => `[${file.split('/').at(-1)?.replace('.test.ts', '')}](../${file})`).join(', ')
}
