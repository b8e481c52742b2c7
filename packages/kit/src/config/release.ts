import { readFileSync } from 'node:fs'
import { join } from 'node:path'

const MANIFEST = join(import.meta.dirname, '../../package.json')

/** The version of this release: `major.minor.patch`, with a suffix before its publication. */
export const RELEASE: string = (JSON.parse(readFileSync(MANIFEST, 'utf8')) as { readonly version: string }).version

/** Whether one release is older than another. A suffix does not count. */
export function isOlderRelease(release: string, than: string): boolean {
  const [one, other] = [numbersOf(release), numbersOf(than)]
  const at = one.findIndex((number, index) => number !== other[index])
  return at !== -1 && (one[at] ?? 0) < (other[at] ?? 0)
}

function numbersOf(release: string): number[] {
  const [version = ''] = release.split(/[-+]/)
  return version.split('.').map(Number)
}
