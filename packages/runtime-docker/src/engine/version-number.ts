/** Major, minor, patch and the number of the release candidate; a release has `Infinity` there. */
export type VersionNumber = readonly [number, number, number, number]

/** Reads `1.1.5`, `1.0.0-rc93`, `1.4.0-rc.2`, `1.1.5+ds1`, `1.0.0~rc93+ds1`. Undefined for texts of another form. */
export function parseVersion(text: string): VersionNumber | undefined {
  const [, major, minor, patch, candidate] = /^v?(\d+)\.(\d+)(?:\.(\d+))?(?:[-~]rc\.?(\d+))?/.exec(text) ?? []
  if (major === undefined || minor === undefined) return undefined
  return [Number(major), Number(minor), Number(patch ?? 0), candidate === undefined ? Infinity : Number(candidate)]
}

/** Negative, zero or positive, as a comparison for sorting. */
export function compareVersions(left: VersionNumber, right: VersionNumber): number {
  for (const [at, number] of left.entries()) {
    const other = right[at] ?? 0
    if (number !== other) return number < other ? -1 : 1
  }
  return 0
}
