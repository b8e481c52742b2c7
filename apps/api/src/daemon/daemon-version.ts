/** The version that the daemon in sandboxes reports; clients select features by it (design.md 3a). */
export const ENVD_VERSION = '0.6.13'

/** Compares versions such as `0.5.14` by their numbers. */
export function isOlderThan(version: string, other: string): boolean {
  const [own, wanted] = [version, other].map((text) =>
    text
      .replace(/^v/, '')
      .split('.')
      .map((part) => Number.parseInt(part, 10) || 0),
  )
  const differing = wanted?.findIndex((part, at) => part !== (own?.[at] ?? 0)) ?? -1
  return differing !== -1 && (own?.[differing] ?? 0) < (wanted?.[differing] ?? 0)
}
