/** The version that the daemon in sandboxes reports; clients select features by it (design.md 3a). */
export const ENVD_VERSION = '0.6.13'

/** Compares the numbers of two versions, such as `0.6.13`. */
export function isOlderVersion(version: string, first: string): boolean {
  const [given, wanted] = [numbersOf(version), numbersOf(first)]
  const at = wanted.findIndex((part, index) => (given[index] ?? 0) !== part)
  return at !== -1 && (given[at] ?? 0) < (wanted[at] ?? 0)
}

function numbersOf(version: string): number[] {
  return version
    .replace(/^v/, '')
    .split('.')
    .map((part) => Number.parseInt(part, 10) || 0)
}
